"""Table rows as sentences: "Instrument: Leica SP8; Room: B-12; Hourly rate: 1,500 PKR".

What the rows say of themselves decides how a table is read, not its words. The kinds of values are the evidence: a row
of words over columns of numbers holds headings; two columns whose values are of many kinds are names and values. A
table that the file marks (bold, <th>, merged cells) is read as it is marked.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from graph.knowledge.loaders.table_groups import Groups, grouping_columns
from graph.knowledge.loaders.table_kinds import (
    ALIKE,
    COLUMNS,
    LOOKED_AT,
    NUMBER,
    VALUES,
    contrast,
    kind,
    kinds_of,
    share,
    tidy,
)

_YEAR = re.compile(r"(?:[A-Za-z]{1,3}\d?\s)?(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?")
_STATEMENT = re.compile(r"\S+(?:\s+\S+){4,}[.!;]", re.DOTALL)
_SHORTENED = re.compile(r"(?:^|[\s(])[^\W\d_]{1,4}\.$")  # "No.", "Document no."
_NO_VALUE = re.compile(r"n/?a|[$€£]?\s?[-–—]|#\w+[!/?]*", re.IGNORECASE)
HEADING_LENGTH = 150
LONGEST_HEADING = 400  # of a question of a form, over its answers
LABEL_WORDS = 8  # of a name with its value beside it
UNIT_LENGTH = 12
MOST_TITLES = 6  # lines above the headings
_NO_UNIT = re.compile(r"[\d.,\s<>≤≥~+–/-]+")  # of an amount
FEWEST_BELOW = 3  # rows from which one that is marked as headings may turn out to be no heading
MOST_HEADS = 3  # rows of headings, one over the other
DIFFERENT = 0.6  # of the names in a column of names: they hardly repeat


@dataclass(frozen=True)
class _Reading:
    """How the rows of a table are put into words."""

    titles: list[str] = field(default_factory=list)
    pairs: bool = False

    def in_words(self, row: Sequence[str]) -> str:
        if self.pairs:
            return paired(row)
        return sentence(self.titles, row) if self.titles else _joined(row)


def names(header: Sequence[str]) -> list[str]:
    """What each column is called; "" for one whose heading is blank."""
    return [tidy(cell)[:HEADING_LENGTH].rstrip(" :") for cell in header]


def sentence(titles: Sequence[str], cells: Sequence[str]) -> str:
    """Empty for a row without text. A row of one cell in a wider table goes across it and belongs to no column. A value
    without a heading stands alone."""
    if len(cells) == 1 and len(titles) > 1:
        return tidy(cells[0])
    named = [(titles[at] if at < len(titles) else "", tidy(cell)) for at, cell in enumerate(cells)]
    return "; ".join(f"{title}: {text}" if title else text for title, text in named if text)


def paired(row: Sequence[str]) -> str:
    """ "Version: 3.2"; two pairs in a row are two such statements."""
    cells = [tidy(cell) for cell in row]
    pairs = zip(cells[::2], [*cells[1::2], ""], strict=False)
    named = ((name.rstrip(" :"), value) for name, value in pairs)
    return "; ".join(f"{name}: {value}" if name and value else name or value for name, value in named if name or value)


def looks_like_header(row: Sequence[str]) -> bool:
    """Words, no numbers or dates, no whole sentences, and no two alike."""
    cells = [tidy(cell) for cell in row if cell.strip()]
    return len({*cells}) == len(cells) and _words(cells)


def _words(cells: Sequence[str]) -> bool:
    """Whether cells may be headings by themselves: no numbers, no whole sentences."""
    return bool(cells) and not any(
        kind(cell) in ("number", "amount", "date") or len(cell) > HEADING_LENGTH or _STATEMENT.fullmatch(cell)
        for cell in cells
    )


def sentences(
    rows: Iterable[Sequence[str]], *, header: bool | None = None, heads: int = 0
) -> Iterator[tuple[int, str]]:
    """Number, from 1, and sentence of each row with text; headings give none unless they are all there is.

    `header` says whether the first row holds the headings, and `heads` how many rows do; 0 where the rows tell.
    None: the rows decide, and there may be titles above them. Without headings a row is a name and its value, or
    stands as it is. What stands below a blank row goes on with the table, or is another. The rows of a part of a table
    (`in_parts`) end with its name.
    """
    source = Blocks(enumerate(rows, 1))
    above: _Reading | None = None
    groups = Groups(0)
    while first := source.first():
        body = [row for _, row in first]
        taken: list[tuple[int, Sequence[str]]] = []
        if above is None or not above.titles or another(body, above.titles):
            count = titles_above(body) if header is None or above is not None else 0
            yield from ((number, title(row)) for number, row in first[:count])
            first = first[count:]
            marked = header if above is None else None
            if marked and first and first[0][0] > max(1, heads):
                marked = False  # the row for headings is blank
            above, count = _reading_of([row for _, row in first], marked, heads if marked else 0)
            taken, first = first[:count], first[count:]
            if heads > 1 and len(above.titles) > 1:  # titles among the headings: one cell over all columns
                yield from ((number, _joined(row)) for number, row in taken if _filled(row) == 1)
            columns = grouping_columns([row for _, row in first]) if above.titles else 0
            groups = Groups(columns)
        parts, part = not above.pairs and in_parts([row for _, row in first]), ""
        written = False
        for number, row in source.on(first):
            if above.titles and _again(row, above.titles):
                above = _Reading(names(row))
                continue
            text = above.in_words(groups.named(row))
            if parts and _filled(row) == 1:
                part = next(tidy(cell) for cell in row if cell.strip())
            elif part and text:
                text = f"{text}; {part}"
            written = written or bool(text)
            yield number, text
        if not written:
            yield from ((number, _joined(row)) for number, row in taken)


def in_parts(rows: Sequence[Sequence[str]]) -> bool:
    """Whether rows of one cell name the parts of a table, "High income" over "One day" and "Two days": each stands over
    rows of several cells, and every part has a row whose name stands in another part, too, so that no row says all
    without the name of its part."""
    named = [at for at, row in enumerate(rows) if _filled(row) == 1 and row[0].strip()]
    parts = [{tidy(row[0]) for row in rows[at + 1 : end]} for at, end in pairwise([*named, len(rows)])]
    if len(parts) < 2 or not all(_label(tidy(rows[at][0])) for at in named):
        return False
    if any(at + 1 == len(rows) or _filled(rows[at + 1]) == 1 for at in named):
        return False
    times = Counter(name for part in parts for name in part if name)
    return all(any(times[name] > 1 for name in part) for part in parts)


def another(rows: Sequence[Sequence[str]], titles: Sequence[str]) -> bool:
    """Whether rows below a blank one are a table of their own rather than more of the one with these headings."""
    body = rows[titles_above(rows) :]
    if len(body) < 2 or not _words([tidy(cell) for cell in body[0] if cell.strip()]):
        return False
    widths = {_filled(row) for row in body[:MOST_TITLES]}
    named = sum(map(bool, titles))
    wider = (len(widths) == 1 and widths != {named} and widths != {1}) or max(widths) == _filled(body[0]) > named
    return wider or contrast(kinds_of(body)) > 0 or _again(body[0], titles)


def names_and_values(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table has a name and its value in each row, up to three times side by side, and no headings: the values
    are of several kinds, or whole phrases, or the names end with a colon, or no row could hold headings."""
    width = max((len(row) for row in rows), default=0)
    if width not in (2, 4, 6) or len(rows) < 2 or sum(len(row) == 1 for row in rows) * 4 > len(rows):
        return False
    beside = [[tidy(row[at]) for row in rows if at < len(row) > 1 and row[at].strip()] for at in range(0, width, 2)]
    labels = [label for column in beside for label in column]
    if not labels or not all(map(_label, labels)):
        return False
    same = [len(column) == len(rows) > 1 and len({*column}) == 1 for column in beside]  # "Date" in each row
    varied = [label for column, alike in zip(beside, same, strict=True) if not alike for label in column]
    if same[0] or len({*varied}) < DIFFERENT * len(varied):
        return False
    if all(label.endswith(":") for label in labels) or (width == 2 and _abbreviations(rows)):
        return True
    grid = kinds_of(rows)
    columns = [[row[at] for row in grid if at < len(row) and row[at]] for at in range(1, width, 2)]
    if not any(columns) or _sequence(rows) or any(names(row) == names(rows[0]) for row in rows[1:LOOKED_AT]):
        return False
    top = [row_kind for row_kind in grid[0][1::2] if row_kind]
    stated = any(one in VALUES for one in top)
    if stated and any(same):
        return True
    if len(rows) == 2:  # two rows tell little: headings, unless what would be one is none
        return stated and (width == 2 or any(len({*kinds}) > 1 for kinds in columns))
    if contrast([row[1::2] for row in grid]) > 0:
        return False
    if width == 2 and stated:
        return True
    nameless = sum(1 for row in rows for at in range(1, len(row), 2) if row[at].strip() and not row[at - 1].strip())
    if nameless * 4 > len(labels) or (width > 2 and not stated and "text" not in top):
        return False
    mixed = [kinds for kinds in columns if len(kinds) > 1 and share(kinds)[1] < ALIKE]
    phrases = width == 2 and share(columns[0])[0] == "text" and grid[0][1] == "text"
    return bool(mixed) or phrases


def words_before_numbers(row: Sequence[str]) -> bool:
    """Whether a row begins with words and goes on with nothing but numbers, days or sizes."""
    kinds = [kind(tidy(cell)) for cell in row if cell.strip()]
    return kinds[0] in ("word", "text") and all(one in ("number", "amount", "date") for one in kinds[1:])


def is_value(cell: str) -> bool:
    """Whether it is a number, an amount or a day, or says that there is none."""
    return kind(tidy(cell)) in ("number", "amount", "date") or _NO_VALUE.fullmatch(tidy(cell)) is not None


def is_number(cell: str) -> bool:
    """Whether it is a number without a unit, or says that there is none."""
    return kind(tidy(cell)) == "number" or _NO_VALUE.fullmatch(tidy(cell)) is not None


def _abbreviations(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row and most others are an abbreviation and what it stands for: "CRF", "Case Report Form"."""
    spelled = [_stands_for(tidy(row[0]), tidy(row[1])) for row in rows[:LOOKED_AT] if len(row) > 1]
    return len(spelled) > 1 and spelled[0] and sum(spelled) * 2 > len(spelled)


def _stands_for(short: str, words: str) -> bool:
    initials = "".join(word[0] for word in re.split(r"[\s/-]+", words) if word)
    return 1 < len(short) < 7 and short.isupper() and short.casefold() == initials.casefold()


def _label(cell: str) -> bool:
    return (
        kind(cell) in ("word", "text")
        and len(cell.split()) <= LABEL_WORDS
        and (cell[-1] not in "?.!" or _SHORTENED.search(cell) is not None)
    )


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def titles_above(rows: Sequence[Sequence[str]]) -> int:
    """How many rows above a table are lines of text, or a name and its value, where the table has more columns."""
    usual = max(map(_filled, rows[:LOOKED_AT]), default=0)
    lone = count = 0
    while count < min(MOST_TITLES, len(rows) - 1):
        at = [index for index, cell in enumerate(rows[count]) if cell.strip()]
        below = _filled(rows[count + 1])
        if len(at) == 1 and usual > 1 and (at[0] == 0 or below * 2 > usual):
            lone += lone == count
        elif not (at == [0, 1] and usual > 2 and _label(tidy(rows[count][0]))):
            break
        count += 1
    pairs = count > lone + 1 and looks_like_header(rows[count])  # several names and values above words
    groups = any(_spanning(rows[at:]) and tidy(rows[at + 1][0]) in ("", tidy(rows[at][0])) for at in range(lone, count))
    if count > lone and (groups or _filled(rows[count]) < 3 or not (pairs or contrast(kinds_of(rows[count:])) > 0)):
        count = lone
    wider = count < len(rows) - 1 and all(_filled(row) > 1 for row in rows[count : count + 2])
    return count if wider else 0


def _leads(rows: Sequence[Sequence[str]], below: int) -> bool:
    """Whether rows with a blank one under them belong to the table there, whose first row has that many cells."""
    widest = max(map(_filled, rows), default=0)
    if len(rows) < 2 or widest == 1:
        return len(rows) <= MOST_TITLES
    stated = any(kind(tidy(row[1])) in VALUES for row in rows if len(row) > 1)
    return widest == 2 < below and stated and (len(rows) == 2 or (len(rows) <= MOST_TITLES and names_and_values(rows)))


def title(row: Sequence[str]) -> str:
    """A line above a table."""
    cells = [cell for cell in row if cell.strip()]
    return paired(cells) if len(cells) == 2 and _label(tidy(cells[0])) else _joined(cells)


def _reading_of(rows: Sequence[Sequence[str]], header: bool | None, heads: int) -> tuple[_Reading, int]:
    """How a table is read, and how many of its rows are headings."""
    header = False if header and _begins_with_data(rows) else header
    if not header and names_and_values(rows):
        return _Reading(pairs=True), 0
    if header is None:
        header = headed(rows)
    if not header or not rows:
        return _Reading(), 0
    count = min(heads, len(rows)) or heading_rows(rows)
    stacked = [row for row in rows[:count] if heads < 2 or _filled(row) > 1] or rows[:1]
    return _Reading(_stacked(stacked)), count


def _begins_with_data(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the row that is marked as headings is one of the others, as in Markdown, which has no table without: it
    has an amount ("1 year") where most below it have one of the same unit."""
    if len(rows) <= FEWEST_BELOW or numbers_as_headings(rows):
        return False
    for at, cell in enumerate(rows[0][:COLUMNS]):
        unit = _unit(cell)
        below = [_unit(row[at]) for row in rows[1:LOOKED_AT] if at < len(row) and row[at].strip()]
        if unit and len(below) >= FEWEST_BELOW and sum(one == unit for one in below) * 2 > len(below):
            return True
    return False


def _unit(cell: str) -> str:
    """The unit of an amount, in the singular; "" for anything else."""
    return _NO_UNIT.sub("", cell).rstrip("s").lower() if kind(tidy(cell)) == "amount" else ""


def headed(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds headings: by what stands below it, or by its words alone."""
    if not rows:
        return False
    if numbers_as_headings(rows):
        return True
    score = contrast(kinds_of(rows))
    if score > 0:
        return not any(
            NUMBER.fullmatch(cell.strip()) or len(cell) > LONGEST_HEADING for cell in rows[0] if cell.strip()
        )
    return score == 0 and looks_like_header(rows[0]) and not _longer(rows)


def _longer(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has a phrase over cells that are mostly shorter: then it is one of them, no heading."""
    for at, cell in enumerate(rows[0][:COLUMNS]):
        if len(cell.split()) > LABEL_WORDS:
            below = [len(row[at]) for row in rows[1:LOOKED_AT] if at < len(row) and row[at].strip()]
            if sum(length < len(cell) for length in below) * 2 > len(below):
                return True
    return False


def numbers_as_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds headings though it is not of words alone: years, days or sizes over other values, or
    groups of the columns that the second row names."""
    return _spanning(rows) or _sequence(rows)


def _sequence(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row counts on after its first cell (years, days, doses), and what is below does not."""
    top = [tidy(cell) for cell in rows[0][:COLUMNS]]
    cells = [cell for cell in top[1:] if cell]
    if len(cells) < 2 or len({*cells}) < len(cells) or kind(top[0]) in VALUES:
        return False
    below = [tidy(cell) for row in rows[1:LOOKED_AT] for cell in row[1:COLUMNS] if cell.strip()]
    kinds = Counter(map(kind, below))

    def rare(count: int) -> bool:
        return count * 2 < max(1, len(below))

    if all(map(_YEAR.fullmatch, cells)):
        return rare(sum(1 for cell in below if _YEAR.fullmatch(cell)))
    top_kinds = {kind(cell) for cell in cells}
    if top_kinds == {"date"}:
        return rare(kinds["date"])
    if top_kinds == {"amount"}:
        units = {_NO_UNIT.sub("", cell) for cell in cells}
        return len(units) == 1 and rare(kinds["amount"])
    counted = [int(cell) for cell in cells if cell.isdecimal() and len(cell) < 9]
    runs = len(counted) == len(cells) and counted == list(range(counted[0], counted[0] + len(cells)))
    return runs and len(cells) > 2 and rare(kinds["number"])


def _spanning(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names groups of the columns that the second one names: it has blanks, or the same once
    more, where the second has words, and values follow that are no words."""
    if len(rows) < 3:
        return False
    top, second = [tidy(cell) for cell in rows[0]], [tidy(cell) for cell in rows[1]]
    named = [at for at, cell in enumerate(top) if cell]
    open_ = [at for at in range(len(second)) if second[at] and (at >= len(top) or top[at] in ("", *top[:at][-1:]))]
    if sum(map(bool, second)) < 2 or not named or not [at for at in open_ if at > named[0]]:
        return False  # a line across the table, which names the rows below it
    groups = any(not cell for cell in second) and _spanning(rows[1:])  # which are divided once more
    if not groups and any(map(NUMBER.fullmatch, filter(None, second))):
        return False
    repeated = len({*filter(None, second)}) < sum(map(bool, second))
    below = [kind(tidy(cell)) for row in rows[2:6] for cell in row[1:] if cell.strip()]
    return groups or repeated or any(one in ("number", "amount", "date") for one in below)


def _units(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second row says in what the columns below the first are measured: short words over numbers in each
    column of numbers, and nothing over the others."""
    if len(rows) < 3 or any(len(cell.strip()) > UNIT_LENGTH for cell in rows[1]):
        return False
    grid = kinds_of(rows)
    columns = 0
    for at, cell in enumerate(grid[1]):
        below = [row[at] for row in grid[2:] if at < len(row) and row[at]]
        usual, part = share(below) if below else ("", 0.0)
        named = at < len(grid[0]) and grid[0][at]
        measured = part >= ALIKE and usual in ("number", "amount", "date")
        bracketed = rows[1][at].strip()[:1] in ("(", "[")
        if cell and not (measured or bracketed):
            return False
        if measured and not (named and (cell == "word" or bracketed)):
            return False
        columns += measured
    return columns > 1


def heading_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many rows of headings stand one over the other."""
    count = 1
    while count < MOST_HEADS and _spanning(rows[count - 1 :]):
        count += 1
    return count + (count < MOST_HEADS and _units(rows[count - 1 :]))


def _stacked(heads: Sequence[Sequence[str]]) -> list[str]:
    """Headings over one another as one: "2024 Visits", "Mass (mg)". One over several columns holds for each of them."""
    width = max(map(len, heads))
    above = [tidy(cell) for cell in heads[-2]] if len(heads) > 1 else []
    under = [at for at, cell in enumerate(heads[-1]) if cell.strip()]
    full = bool(above) and all(at < len(above) and above[at] for at in under)
    units = full and len({above[at] for at in under}) == len(under)
    parts: list[list[str]] = [[] for _ in range(width)]
    for index, row in enumerate(heads):
        last, spans = "", index < len(heads) - 1 - units
        for at in range(width):
            cell = tidy(row[at]) if at < len(row) else ""
            last = cell or (last if spans else "")
            if last and last not in parts[at]:
                plain = index < len(heads) - 1 or not units or last[0] in "(["
                parts[at].append(last if plain else f"({last})")
    return names([" ".join(part) for part in parts])


def _again(row: Sequence[str], titles: Sequence[str]) -> bool:
    """Whether a row is the header once more, or that of a further part of the table: all but its first cell alike."""
    cells = [tidy(cell).rstrip(" :").lower() for cell in row]
    same = [at for at, cell in enumerate(cells) if cell and at < len(titles) and cell == titles[at].lower()]
    return len(same) > 1 or (len(same) == 1 and sum(map(bool, cells)) == 2 and same != [0])


def _joined(row: Sequence[str]) -> str:
    return "; ".join(text for cell in row if (text := tidy(cell)))


class Blocks:
    """The rows of a table with their numbers, by blocks that blank rows divide. It holds LOOKED_AT rows at most."""

    def __init__(self, rows: Iterable[tuple[int, Sequence[str]]]) -> None:
        self._rows = iter(rows)
        self._next: list[tuple[int, Sequence[str]]] = []  # the row that was read and not yet given
        self._open = False  # whether the block goes on

    def first(self) -> list[tuple[int, Sequence[str]]]:
        """The first rows of the next block. Titles, names and values above a wider table, and a single row belong to
        the table below them, whatever stands between."""
        rows, blank = self._next, False
        self._next = []
        for number, row in self._rows:
            filled = _filled(row)
            if not filled:
                blank = bool(rows)
                continue
            if blank and not _leads([one for _, one in rows], filled):
                self._next, self._open = [(number, row)], False
                return rows
            blank = False
            rows.append((number, row))
            if len(rows) >= LOOKED_AT:
                self._open = True
                return rows
        self._open = False
        return rows

    def on(self, first: list[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, Sequence[str]]]:
        """These rows, and the others of the block."""
        yield from first
        if not self._open:
            return
        for number, row in self._rows:
            if not _filled(row):
                return
            yield number, row
