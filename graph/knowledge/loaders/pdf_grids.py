"""Tables of a PDF page whose cells are drawn: what stands inside the borders of a cell is the cell.

A row lies between two lines across that reach from the first to the last of the upright lines between them; a cell
between two uprights. What is drawn otherwise, and a frame around running text, is left to the other readings.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter

from graph.knowledge.loaders.pdf_layout import running_text
from graph.knowledge.loaders.pdf_lines import Line
from graph.knowledge.loaders.pdf_tables import Rule

SAME = 3.0  # points: borders so near to each other are one
LONGEST = 120  # words of a cell; more is a page set in columns
MOST_BANDS = 400  # rows of one page
MOST_UPRIGHTS = 60  # borders that cross one row

Upright = tuple[float, float, float]  # of a line from top to bottom: where it stands, its foot and its head


@dataclass(frozen=True, slots=True)
class _Band:
    """A drawn row: its heights, and the places of its borders from left to right."""

    low: float
    high: float
    borders: tuple[float, ...]


def in_rows(lines: list[Line], rules: Sequence[Rule], uprights: Sequence[Upright]) -> list[Line]:
    """Lines with one line for each drawn row, where the first of its words stood, its cells by column."""
    gathered = list(lines)
    for own, borders in _beside(rules, uprights) if len(uprights) > 2 else ():
        for table in _tables(_bands(own, borders)):
            # Of all rows together: a cell over several columns stands in the first of them.
            columns = _merged([place for band in table for place in band.borders])
            for band in table:
                gathered = _gathered(gathered, band, columns)
    return gathered


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


def _bands(rules: Sequence[Rule], uprights: Sequence[Upright]) -> list[_Band]:
    """The drawn rows of a page, from its top, with two cells or more."""
    heights: list[tuple[float, float, float]] = []  # height, left and right of what is drawn at it
    for rule in sorted(rules, key=lambda rule: -rule.height):
        if heights and heights[-1][0] - rule.height < SAME:
            height, left, right = heights[-1]
            heights[-1] = height, min(left, rule.left), max(right, rule.right)
        else:
            heights.append((rule.height, rule.left, rule.right))
    bands = []
    for (high, *above), (low, *below) in pairwise(heights[: MOST_BANDS + 1]):
        middle = (high + low) / 2
        borders = _merged([x for x, foot, head in uprights if foot <= middle <= head][:MOST_UPRIGHTS])
        if len(borders) < 3 or high - low < 2 * SAME:
            continue
        left, right = borders[0] + 2 * SAME, borders[-1] - 2 * SAME
        if max(above[0], below[0]) <= left and min(above[1], below[1]) >= right:
            bands.append(_Band(low, high, borders))
    return bands


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
    return tables


def _gathered(lines: list[Line], band: _Band, columns: tuple[float, ...]) -> list[Line]:
    """The lines with those of one row as one; as they are where they lie across its borders, or say too much."""
    inside: dict[int, list[Line]] = {}
    taken: dict[int, list[Line]] = {}  # of each line what of it stands in the row
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
                return lines
            column = sum(place <= band.borders[at] + SAME for place in columns) - 1
            inside.setdefault(column, []).append(part)
            taken.setdefault(index, []).append(part)
    if not inside or any(sum(len(part.text.split()) for part in cell) > LONGEST for cell in inside.values()):
        return lines
    if any(len(parts) != len(_cells(lines[index], band)) for index, parts in taken.items()):
        return lines  # one of them goes on outside the table
    first = min(taken)
    row = _row(inside, columns, lines[first])
    return [row if index == first else line for index, line in enumerate(lines) if index == first or index not in taken]


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


def _row(cells: dict[int, list[Line]], columns: tuple[float, ...], first: Line) -> Line:
    """One line with the words of each column, and a gap for each column after the first."""
    text, gaps = "", []
    for number in range(len(columns) - 1):
        if number:
            gaps.append(len(text))
            text += " "
        text += running_text(_in_order(cells[number]), set()) if number in cells else ""
    parts = [part for cell in cells.values() for part in cell]
    edges = [(place, place) for place in columns[1:-1]]
    bold = all(part.bold for part in parts)
    size = max(part.size for part in parts)
    low = min(part.bottom for part in parts)
    return Line(text, columns[0], columns[-1], low, size, bold, first.page, gaps, edges=edges, row=True)


def _in_order(parts: list[Line]) -> list[Line]:
    """Parts of a cell from its top, those at one height from left to right."""
    ordered: list[list[Line]] = []
    for part in sorted(parts, key=lambda part: -part.bottom):
        if ordered and ordered[-1][0].bottom - part.bottom < 0.35 * part.size:
            ordered[-1].append(part)
        else:
            ordered.append([part])
    return [part for height in ordered for part in sorted(height, key=lambda part: part.left)]
