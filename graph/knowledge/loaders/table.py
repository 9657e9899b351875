"""Table rows as sentences: "Instrument: Leica SP8; Room: B-12; Hourly rate: 1,500 PKR".

What the rows say of themselves decides how a table is read, not its words: a row of words over columns of numbers holds
headings; two columns whose values are of many kinds are names and values.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

_NUMBER = re.compile(r"[-+(]?[\d.,\s%$€£()/:-]*\d[\d.,\s%$€£()/:-]*")
_AMOUNT = re.compile(r"(?:[A-Z]{2,3}|[$€£¥₨])?\s?[-+(]?\d[\d.,\s]*[)%]?\s?(?:[A-Z]{2,3}|[$€£¥₨%]|[^\W\d]{1,4})?")
_DATE = re.compile(
    r"(?=.*\d{4}|.*\d[./-]\d)\d{0,4}[\s./-]?(?:\d{1,2}|[^\W\d]{3,9})[\s./,-]+\d{1,4}(?:[\s./,-]+\d{1,4})?.{0,9}"
)
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])\S+")
_YEAR = re.compile(r"(?:[A-Za-z]{1,3}\d?\s)?(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?")
_STATEMENT = re.compile(r"\S+(?:\s+\S+){4,}[.!;]", re.DOTALL)
HEADING_LENGTH = 100
LABEL_WORDS = 5  # of a name with its value beside it
LOOKED_AT = 60  # rows from which the headings of a table are told
MOST_TITLES = 6  # lines above the headings
MOST_HEADS = 3  # rows of headings, one over the other
ALIKE = 0.75  # of the values of a column: then they are of one kind


def column(index: int) -> str:
    """The letters over a column of a spreadsheet: 0 is A, 26 is AA."""
    letters, index = "", index + 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def _tidy(cell: str) -> str:
    """On one line. What is invisible in it is left for the builder to report."""
    return " ".join(cell.split())


def names(header: Sequence[str]) -> list[str]:
    """What each column is called; "" for one whose heading is blank."""
    return [_tidy(cell).rstrip(" :")[:HEADING_LENGTH] for cell in header]


def sentence(titles: Sequence[str], cells: Sequence[str]) -> str:
    """Empty for a row without text. A row of one cell in a wider table goes across it and belongs to no column. A value
    without a heading stands alone."""
    if len(cells) == 1 and len(titles) > 1:
        return _tidy(cells[0])
    named = [(titles[at] if at < len(titles) else "", _tidy(cell)) for at, cell in enumerate(cells)]
    return "; ".join(f"{title}: {text}" if title else text for title, text in named if text)


def looks_like_header(row: Sequence[str]) -> bool:
    """Words, no numbers or dates, no whole sentences, and no two alike."""
    cells = [cell.strip() for cell in row if cell.strip()]
    if any(_NUMBER.fullmatch(cell) or len(cell) > HEADING_LENGTH or _STATEMENT.fullmatch(cell) for cell in cells):
        return False
    return bool(cells) and len(set(cells)) == len(cells)


def sentences(rows: Iterable[Sequence[str]], *, header: bool | None = None) -> Iterator[tuple[int, str]]:
    """Number, from 1, and sentence of each row with text; headings give none unless they are all there is.

    `header` says whether the first row holds the headings; None: its rows decide, and it may have none, or titles above
    them, or names and values.
    """
    numbered = enumerate(rows, 1)
    first = [(number, row) for number, row in islice(numbered, LOOKED_AT) if any(map(str.strip, row))]
    titles: list[str] = []
    heads: list[tuple[int, Sequence[str]]] = []
    pairs = False
    if header is None:
        above = _titles([row for _, row in first])
        yield from ((number, _joined(row)) for number, row in first[:above])
        first = first[above:]
        body = [row for _, row in first]
        pairs = names_and_values(body)
        header = not pairs and _headed(body)
    if header and first:
        count = _heads([row for _, row in first])
        heads, first = first[:count], first[count:]
        titles = _stacked([row for _, row in heads])
    written = False
    for number, row in chain(first, ((n, row) for n, row in numbered if any(map(str.strip, row)))):
        if heads and _again(row, titles):
            titles = names(row)
            continue
        text = _paired(row) if pairs else sentence(titles, row) if titles else _joined(row)
        written = written or bool(text)
        yield number, text
    if heads and not written:
        yield from ((number, _joined(row)) for number, row in heads)


def names_and_values(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table has a name and its value in each row, once or twice side by side, and no headings: the values are
    of several kinds, or whole phrases, or the names end with a colon."""
    width = max((len(row) for row in rows), default=0)
    if width not in (2, 4) or len(rows) < 2 or any(len(row) == 1 for row in rows):
        return False
    labels = [cell.strip() for row in rows for cell in row[::2] if cell.strip()]
    values = [_tidy(cell) for row in rows for cell in row[1::2] if cell.strip()]
    if not values or len({*labels}) < len(labels) or not all(map(_label, labels)):
        return False
    if all(label.endswith(":") for label in labels):
        return True
    kinds = Counter(map(_kind, values))
    if len(rows) == 2:  # two rows tell little: headings, unless what would be one is none
        return width == 2 and _kind(_tidy(rows[0][1])) != "word"
    if max(kinds.values()) >= ALIKE * len(values):
        return "text" in kinds and kinds["text"] == max(kinds.values()) and not _contrast(rows) and width == 2
    return not _contrast(rows)


def _label(cell: str) -> bool:
    return _kind(cell) in ("word", "text") and len(cell.split()) <= LABEL_WORDS and cell[-1] not in "?.!"


def _contrast(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row has words where the others have values of one kind."""
    for at in range(1, max(map(len, rows))):
        below = [_kind(_tidy(row[at])) for row in rows[1:] if at < len(row) and row[at].strip()]
        top = _kind(_tidy(rows[0][at])) if at < len(rows[0]) and rows[0][at].strip() else ""
        usual = max(set(below), key=below.count, default="")
        if top == "word" and usual in ("number", "date", "code") and below.count(usual) >= ALIKE * len(below):
            return True
    return False


def _kind(cell: str) -> str:
    """What a value is: number, date, code, word (a few of them), or text."""
    if _NUMBER.fullmatch(cell) or _AMOUNT.fullmatch(cell):
        return "number"
    if _DATE.fullmatch(cell):
        return "date"
    if _CODE.fullmatch(cell):
        return "code"
    return "word" if len(cell.split()) <= 3 else "text"


def _titles(rows: Sequence[Sequence[str]]) -> int:
    """How many rows above a table are lines of text: one cell each, where the table has more."""
    count = 0
    while count < min(MOST_TITLES, len(rows)) and sum(map(bool, map(str.strip, rows[count]))) == 1:
        count += 1
    wider = count < len(rows) - 1 and all(sum(map(bool, map(str.strip, row))) > 1 for row in rows[count : count + 2])
    return count if wider else 0


def _headed(rows: Sequence[Sequence[str]]) -> bool:
    return bool(rows) and (looks_like_header(rows[0]) or numbers_as_headings(rows))


def numbers_as_headings(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds headings though it is not of words alone: years over other numbers, or groups of the
    columns that the second row names."""
    if _spanning(rows):
        return True
    top = [_tidy(cell) for cell in rows[0]]
    years = [cell for cell in top[1:] if cell]
    if len(years) < 2 or not all(map(_YEAR.fullmatch, years)) or len({*years}) < len(years):
        return False
    below = [_tidy(cell) for row in rows[1:] for cell in row[1:] if cell.strip()]
    return not _NUMBER.fullmatch(top[0]) and sum(1 for cell in below if _YEAR.fullmatch(cell)) * 2 < max(1, len(below))


def _spanning(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names groups of the columns that the second one names: it has blanks where the second has
    words, and values follow that are no words."""
    if len(rows) < 3:
        return False
    top, second = [_tidy(cell) for cell in rows[0]], [_tidy(cell) for cell in rows[1]]
    named = [at for at, cell in enumerate(top) if cell]
    open_ = [at for at in range(len(second)) if second[at] and not (top[at] if at < len(top) else "")]
    if sum(map(bool, second)) < 2:
        return False  # a line across the table, which names the rows below it
    if not named or not [at for at in open_ if at > named[0]] or any(map(_NUMBER.fullmatch, filter(None, second))):
        return False
    repeated = len({*filter(None, second)}) < sum(map(bool, second))
    below = [_kind(_tidy(cell)) for row in rows[2:6] for cell in row[1:] if cell.strip()]
    return repeated or any(kind in ("number", "date") for kind in below)


def _heads(rows: Sequence[Sequence[str]]) -> int:
    """How many rows of headings stand one over the other."""
    count = 1
    while count < MOST_HEADS and _spanning(rows[count - 1 :]):
        count += 1
    return count


def _stacked(heads: Sequence[Sequence[str]]) -> list[str]:
    """Headings over one another as one: "2024 Visits". One over several columns holds for each of them."""
    width = max(map(len, heads))
    parts: list[list[str]] = [[] for _ in range(width)]
    for row in heads:
        last, spans = "", row is not heads[-1]
        for at in range(width):
            cell = _tidy(row[at]) if at < len(row) else ""
            last = cell or (last if spans else "")
            if last and last not in parts[at]:
                parts[at].append(last)
    return names([" ".join(part) for part in parts])


def _again(row: Sequence[str], titles: Sequence[str]) -> bool:
    """Whether a row is the header once more, or that of a further part of the table: all but its first cell alike."""
    cells = [_tidy(cell).rstrip(" :").lower() for cell in row]
    same = [at for at, cell in enumerate(cells) if cell and at < len(titles) and cell == titles[at].lower()]
    return len(same) > 1 or (len(same) == 1 and sum(map(bool, cells)) == 2 and same != [0])


def _joined(row: Sequence[str]) -> str:
    return "; ".join(text for cell in row if (text := _tidy(cell)))


def _paired(row: Sequence[str]) -> str:
    """ "Version: 3.2"; two pairs in a row are two such statements."""
    cells = [_tidy(cell) for cell in row]
    pairs = zip(cells[::2], [*cells[1::2], ""], strict=False)
    told = ((name.rstrip(" :"), value) for name, value in pairs)
    return "; ".join(f"{name}: {value}" if name and value else name or value for name, value in told if name or value)
