"""Tables of a PDF page whose cells are drawn: what stands inside the borders of a cell is the cell.

A row lies between two lines across, a cell between two uprights. A line that does not cross a cell leaves it one with
the cell below: its words stand in each of these rows. The uppermost and the lowest line of a table reach from its
first to its last upright. What is drawn otherwise, and a frame around running text, is left to the other readings.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

from graph.knowledge.loaders.pdf_layout import running_text
from graph.knowledge.loaders.pdf_lines import Line
from graph.knowledge.loaders.pdf_tables import Rule
from graph.knowledge.loaders.table import is_value
from graph.knowledge.loaders.text import BULLET

SAME = 3.0  # points: borders so near to each other are one
LONGEST = 120  # words of a cell; more is a page set in columns
MOST_BANDS = 400  # rows of one page
MOST_HEIGHTS = 2 * MOST_BANDS
MOST_UPRIGHTS = 60  # borders that cross one row

Upright = tuple[float, float, float]  # of a line from top to bottom: where it stands, its foot and its head


@dataclass(frozen=True, slots=True)
class _Band:
    """A drawn row: its heights, the places of its borders from left to right, which of its cells go on from the row
    above, and whether the lines above and below it reach from the first to the last border."""

    low: float
    high: float
    borders: tuple[float, ...]
    open: tuple[bool, ...]
    reached: tuple[bool, bool]
    bordered: bool  # whether something is drawn between its cells

    def spans(self) -> list[tuple[float, float]]:
        return list(pairwise(self.borders))


@dataclass(frozen=True, slots=True)
class _Across:
    """All that is drawn at one height."""

    height: float
    stretches: tuple[tuple[float, float], ...]

    def reaches(self, left: float, right: float) -> bool:
        return self.stretches[0][0] <= left + 2 * SAME and max(end for _, end in self.stretches) >= right - 2 * SAME

    def covers(self, left: float, right: float) -> bool:
        """Whether a stretch without a gap lies over a cell, from border to border."""
        return any(start <= left + SAME and end >= right - SAME for start, end in self.stretches)


def in_rows(
    lines: list[Line], rules: Sequence[Rule], uprights: Sequence[Upright], sides: Sequence[Upright] = ()
) -> list[Line]:
    """Lines with one line for each drawn row, where the first of its words stood, its cells by column. `sides` are
    those of shaded cells: borders where every other row of a table is shaded."""
    for own, borders in _beside(rules, uprights) if len(uprights) > 2 else ():
        for table in _tables(_bands(own, borders)):
            lines = _with_rows(lines, table)
    for own, borders in _beside(rules, sorted({*uprights, *sides})) if len(sides) > 2 else ():
        for table in _tables(_bands(own, borders, banded=True)):
            if 1 < sum(band.bordered for band in table) < len(table) - 1:
                lines = _with_rows(lines, table)
    return lines


def _beside(rules: Sequence[Rule], uprights: Sequence[Upright]) -> list[tuple[list[Rule], list[Upright]]]:
    """What is drawn, divided into what stands beside one another, as the tables of a page in two columns do. Lines
    across that meet no upright one are left out."""
    met = [rule for rule in rules if _meets(rule, uprights)]
    groups: list[tuple[float, float, list[Rule]]] = []  # left, right
    for rule in sorted(met, key=lambda rule: rule.left):
        if groups and rule.left <= groups[-1][1] + SAME:
            left, right, own = groups[-1]
            own.append(rule)
            groups[-1] = left, max(right, rule.right), own
        else:
            groups.append((rule.left, rule.right, [rule]))
    return [(own, [one for one in uprights if left - SAME <= one[0] <= right + SAME]) for left, right, own in groups]


def _meets(rule: Rule, uprights: Sequence[Upright]) -> bool:
    """Whether a line across begins or ends at an upright one."""
    for end in (rule.left, rule.right):
        at = bisect_left(uprights, end - SAME, key=itemgetter(0))
        while at < len(uprights) and uprights[at][0] <= end + SAME:
            if uprights[at][1] - SAME <= rule.height <= uprights[at][2] + SAME:
                return True
            at += 1
    return False


def _bands(rules: Sequence[Rule], uprights: Sequence[Upright], banded: bool = False) -> list[_Band]:
    """The drawn rows of a page, from its top, with two cells or more; `banded` where a row between whose cells nothing
    is drawn has those of the row beside it."""
    drawn: list[_Drawn] = []
    for above, below in pairwise(_across(rules, uprights)):
        middle = (above.height + below.height) / 2
        borders = _merged([x for x, foot, head in uprights if foot <= middle <= head][:MOST_UPRIGHTS])
        if above.height - below.height >= 2 * SAME:
            drawn.append((above, below, borders))
    bands: list[_Band] = []
    for at, (above, below, own) in enumerate(drawn):
        borders = _of_the_next(drawn, at) if banded and len(own) < 2 else own
        if len(borders) < 3:
            continue
        ends = borders[0], borders[-1]
        opened = tuple(not above.covers(left, right) for left, right in pairwise(borders))
        reached = above.reaches(*ends), below.reaches(*ends)
        bands.append(_Band(below.height, above.height, borders, opened, reached, len(own) > 1))
    return bands


_Drawn = tuple[_Across, _Across, tuple[float, ...]]  # what lies above and below a row, and its borders


def _of_the_next(drawn: Sequence[_Drawn], at: int) -> tuple[float, ...]:
    """The borders of the row right above or below one."""
    above, below, _ = drawn[at]
    near = [
        *(borders for _, foot, borders in drawn[max(0, at - 1) : at] if foot is above),
        *(borders for head, _, borders in drawn[at + 1 : at + 2] if head is below),
    ]
    return next((borders for borders in near if len(borders) > 2), ())


def _across(rules: Sequence[Rule], uprights: Sequence[Upright]) -> list[_Across]:
    """The heights, from the top, at which a line lies over a cell or more: no line under a word."""
    heights: list[tuple[float, list[tuple[float, float]]]] = []
    for rule in sorted(rules, key=lambda rule: -rule.height):
        if heights and heights[-1][0] - rule.height < SAME:
            heights[-1][1].append((rule.left, rule.right))
            heights[-1] = rule.height, heights[-1][1]
        elif len(heights) < MOST_HEIGHTS:
            heights.append((rule.height, [(rule.left, rule.right)]))
    lines = []
    for height, drawn in heights:
        stretches: list[tuple[float, float]] = []
        for left, right in sorted(drawn):
            if stretches and left <= stretches[-1][1] + SAME:
                stretches[-1] = stretches[-1][0], max(right, stretches[-1][1])
            else:
                stretches.append((left, right))
        line = _Across(height, tuple(stretches))
        met = _merged([x for x, foot, head in uprights if foot - SAME <= height <= head + SAME][:MOST_UPRIGHTS])
        if any(line.covers(*cell) for cell in pairwise(met)):
            lines.append(line)
    return lines[: MOST_BANDS + 1]


def _merged(places: Sequence[float]) -> tuple[float, ...]:
    merged: list[float] = []
    for place in sorted(places):
        if not merged or place - merged[-1] > SAME:
            merged.append(place)
    return tuple(merged)


def _tables(bands: Sequence[_Band]) -> list[list[_Band]]:
    """Rows that stand one on the other between the same outer borders."""
    tables: list[list[_Band]] = []
    for band in bands:
        last = tables[-1][-1] if tables else None
        if (
            last
            and abs(last.low - band.high) < SAME
            and abs(last.borders[0] - band.borders[0]) < 2 * SAME
            and abs(last.borders[-1] - band.borders[-1]) < 2 * SAME
        ):
            tables[-1].append(band)
        else:
            tables.append([band])
    return [whole for table in tables if (whole := _whole(table))]


def _whole(table: list[_Band]) -> list[_Band]:
    """The rows from the first to the last line that reaches from side to side."""
    first = next((at for at, band in enumerate(table) if band.reached[0]), len(table))
    last = next((at for at in range(len(table), first, -1) if table[at - 1].reached[1]), first)
    return table[first:last]


_Cells = dict[int, list[Line]]  # what stands in the columns of a row


def _with_rows(lines: list[Line], table: list[_Band]) -> list[Line]:
    """The lines with those of each row as one, where the first of its words stood."""
    # Of all rows together: a cell over several columns stands in the first of them.
    columns = _merged([place for band in table for place in band.borders])
    gathered = [_gathered(lines, band, columns) for band in table]
    rows: list[tuple[list[Line], set[int]]] = []
    for at, (found, cells) in enumerate(zip(gathered, _merged_down(table, gathered, columns), strict=True)):
        if found is not None:
            own, taken = found
            page = lines[min(taken)].page
            whole = all(cells[column] == parts for column, parts in own.items())
            inner = _divided(own, columns) if at and whole else []  # headings have as many lines as they please
            made = [_row({**cells, **one}, one, columns, page) for one in inner] or [_row(cells, own, columns, page)]
            rows.append((made, taken))
    # From the top, whatever the file has first: the words of a cell over several rows stand in the middle of them.
    firsts = sorted(min(taken) for _, taken in rows)
    placed = {first: made for first, (made, _) in zip(firsts, rows, strict=True)}
    dropped = {index for _, taken in rows for index in taken}
    result: list[Line] = []
    for index, line in enumerate(lines):
        result += placed.get(index, [] if index in dropped else [line])
    return result


def _divided(cells: _Cells, columns: tuple[float, ...]) -> list[_Cells]:
    """The rows that stand in one drawn row with no line between them: three lines or more at the same heights in all
    its cells, of which lines of several words tell that they ended before their cell was full; or two of numbers below
    a line of the first cell, which is put before each. Empty where there are none."""
    heights = {column: _heights(parts) for column, parts in cells.items()}
    first, *others = sorted(heights)
    names = heights[first]
    label = len(names) - max((len(heights[other]) for other in others), default=0)
    count = len(names) - label
    turned = any(part.turned for parts in cells.values() for part in parts)
    if not others or turned or label not in (0, 1) or count < (2 if label else 3):
        return []
    told = label == 1
    for column, own in heights.items():
        beside = names if column == first else names[label:]
        if len(own) != len(beside) or any(abs(a[0].bottom - b[0].bottom) > 3 for a, b in zip(own, beside, strict=True)):
            return []
        if not label and any(len(line) > 1 or " " in line[0].text for line in own):
            full = sum(_full(above[-1], below[0], columns[column + 1]) for above, below in pairwise(own))
            if full * 4 > len(own):
                return []
            told = True
        if label and column != first and not all(is_value(line[0].text) for line in own):
            return []
    if not told or any(line[0].text[:1].islower() or BULLET.match(line[0].text) for line in names):
        return []
    rows: list[_Cells] = []
    for at in range(label, len(names)):
        row = {other: heights[other][at - label] for other in others}
        rows.append({first: [*(names[0] if label else []), *names[at]], **row})
    return rows


def _full(above: Line, below: Line, edge: float) -> bool:
    """Whether the cell of a line, which ends at `edge`, has no room for the first word of the next line."""
    return above.right + below.first_word() + above.size > edge or above.text.endswith("-")


def _merged_down(
    table: list[_Band], gathered: Sequence[tuple[_Cells, set[int]] | None], columns: tuple[float, ...]
) -> list[_Cells]:
    """The cells of each row, with the words of a cell over several rows in all of them, where these are not too many
    to be said so often."""
    runs: list[tuple[int, list[int]]] = []  # of a cell its column, and the rows that it lies over
    last: dict[int, list[int]] = {}
    for at, band in enumerate(table):
        above = table[at - 1].spans() if at else []
        for (left, right), opened in zip(band.spans(), band.open, strict=True):
            column = _column(left, columns)
            alike = any(abs(left - one) < SAME and abs(right - other) < SAME for one, other in above)
            if not (opened and alike and column in last):
                last[column] = []
                runs.append((column, last[column]))
            last[column].append(at)
    own: list[_Cells] = [found[0] if found else {} for found in gathered]
    filled = [dict(cells) for cells in own]
    for column, rows in runs:
        words = [part for row in rows for part in own[row].get(column, [])]
        if 0 < sum(len(part.text.split()) for part in words) <= LONGEST:
            for row in rows:
                filled[row][column] = words
    return filled


def _column(left: float, columns: tuple[float, ...]) -> int:
    return sum(place <= left + SAME for place in columns) - 1


def _gathered(lines: list[Line], band: _Band, columns: tuple[float, ...]) -> tuple[_Cells, set[int]] | None:
    """What stands in the columns of a row, and in which lines; None where nothing does, or lines lie across its
    borders, or say too much."""
    inside: _Cells = {}
    taken: dict[int, int] = {}  # of each line how many parts stand in the row
    for index, line in enumerate(lines):
        middle = line.bottom + line.size / 2
        if line.row or line.alone or not band.low <= middle <= band.high:
            continue
        for part in _cells(line, band):
            if part.right < band.borders[0] or part.left > band.borders[-1]:
                continue
            at = sum(border <= (part.left + part.right) / 2 for border in band.borders) - 1
            if (
                part.left < band.borders[at] - SAME
                or part.right > band.borders[min(at + 1, len(band.borders) - 1)] + SAME
            ):
                return None
            inside.setdefault(_column(band.borders[at], columns), []).append(part)
            taken[index] = taken.get(index, 0) + 1
    if not inside or any(sum(len(part.text.split()) for part in cell) > LONGEST for cell in inside.values()):
        return None
    if any(count != len(_cells(lines[index], band)) for index, count in taken.items()):
        return None  # one of them goes on outside the table
    return inside, set(taken)


def _cells(line: Line, band: _Band) -> list[Line]:
    """What of a line stands in different cells; the number of a list stays with its words inside one."""
    hung = line.hung
    if hung and any(hung[1] - SAME <= border <= hung[2] + SAME for border in band.borders):
        line = line.unhung()
    merged: list[Line] = []
    for part in line.parts():
        if merged and not any(merged[-1].right - SAME <= x <= part.left + SAME for x in band.borders):
            merged[-1] = replace(merged[-1], text=f"{merged[-1].text} {part.text}", right=part.right, gaps=[], edges=[])
        else:
            merged.append(part)
    return merged


def _row(cells: _Cells, own: _Cells, columns: tuple[float, ...], page: int) -> Line:
    """One line with the words of each column, and a gap for each column after the first. `own` is what stands at its
    height."""
    text, gaps = "", []
    for number in range(len(columns) - 1):
        if number:
            gaps.append(len(text))
            text += " "
        text += running_text(_in_order(cells[number]), set()) if number in cells else ""
    parts = [part for cell in own.values() for part in cell]
    edges = [(place, place) for place in columns[1:-1]]
    bold = all(part.bold for part in parts)
    size = max(part.size for part in parts)
    low = min(part.bottom for part in parts)
    return Line(text, columns[0], columns[-1], low, size, bold, page, gaps, edges=edges, row=True)


def _in_order(parts: list[Line]) -> list[Line]:
    """Parts of a cell from its top, those at one height from left to right; of lines that run up or down the page the
    first of them first."""
    if all(part.turned for part in parts):
        return sorted(parts, key=lambda part: part.turned * part.left)
    return [part for height in _heights(parts) for part in height]


def _heights(parts: list[Line]) -> list[list[Line]]:
    """Parts of a cell by the height at which they stand, from its top, each from left to right."""
    ordered: list[list[Line]] = []
    for part in sorted(parts, key=lambda part: -part.bottom):
        if ordered and ordered[-1][0].bottom - part.bottom < 0.35 * part.size:
            ordered[-1].append(part)
        else:
            ordered.append([part])
    return [sorted(height, key=lambda part: part.left) for height in ordered]
