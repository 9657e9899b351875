"""Headings of columns that stand on several lines above a table without borders: one row, above its values."""

import re
from collections.abc import Sequence
from itertools import pairwise

from graph.knowledge.loaders.pdf_layout import ends_sentence, running_text
from graph.knowledge.loaders.pdf_lines import Line
from graph.knowledge.loaders.table_kinds import ALIKE, VALUES, kind

MOST_ROWS = 4  # that headings take up
LONGEST = 60  # letters of a heading
ALIGNED = 4.0  # points
CLOSE = 1.7  # times the size: from one line of a heading to the next
_YEAR = re.compile(r"(?:[A-Z][a-z]{2,8}\.? (?:\d{1,2},? )?|\d{1,2}/\d{1,2}/)?(?:19|20)\d\d")
_NO_VALUE = frozenset(("na", "n/a", "none", "-", "–", "—", ""))
Column = tuple[float, float, int]  # its left and right edge, and how many lines have a cell in it


def with_heads(above: list[Line], rows: list[Line], columns: Sequence[Column]) -> tuple[list[Line], list[Line]]:
    """The lines above a table and its rows, with its headings as one bold first row; both as they are where no words
    stand above each column of values. `above` and `rows` are of one page; a heading of the first rows, which stands
    below those of the columns, is put above them."""
    values = _values(rows)
    if values is None:
        return above, rows
    if values + 2 < len(rows) and _dated(rows[values]) and not _dated(rows[values + 1]):
        values += 1  # years or days are headings of the amounts below them
    own = rows[:values]
    taken = _heads(above, rows[0], columns)
    if own:
        taken = [(n, part, line) for n, part, line in taken if _tight(n, part, own[0])]
    else:  # a line over the first column that is higher is a title, one that is lower names the first rows
        heights = [part.bottom for n, part, _ in taken if n > 0] or [0.0]
        low, high = min(heights) - 2, max(heights) + 2
        taken = [(n, part, line) for n, part, line in taken if n > 0 or low < part.bottom < high]
    if not taken and len(own) < 2:
        return above, rows
    if own and len(columns) == 2 and not all(kind(row.cells()[0]) in VALUES for row in rows[values:]):
        return above, rows  # names and values, the first of them words
    cells = [_words(n, taken, own) for n in range(len(columns))]
    if not all(cells[1:]) or max(map(len, cells)) > LONGEST:
        return above, rows
    lines = [id(line) for *_, line in taken]
    if any(len(line.parts()) > lines.count(id(line)) for *_, line in taken):
        return above, rows  # a part of a line is no heading
    first = max((part for _, part, _ in taken), key=lambda part: part.bottom, default=rows[0])
    head = row_of(cells, columns, first)
    head.bold = head.head = True
    return [line for line in above if id(line) not in lines], [head, *rows[values:]]


def again(head: Line | None, earlier: Sequence[Column], rows: list[Line], columns: Sequence[Column]) -> list[Line]:
    """Rows of values below a heading of their own, in the columns of a table above them: with that table's headings."""
    same = len(earlier) == len(columns) and all(
        left < b and right > a for (left, right, _), (a, b, _) in zip(earlier, columns, strict=True)
    )
    if head is None or not same or head.page != rows[0].page or _values(rows) != 0:
        return rows
    copy = row_of(head.cells(), columns, head)
    copy.head = True
    return [copy, *rows]


def row_of(cells: Sequence[str], columns: Sequence[Column], first: Line) -> Line:
    """One line with the words of each column, and a gap for each column after the first; the rest is of `first`."""
    text, gaps = cells[0], []
    for cell in cells[1:]:
        gaps.append(len(text))
        text += " " + cell
    edges = [(left[1], right[0]) for left, right in pairwise(columns)]
    left, right = columns[0][0], columns[-1][1]
    return Line(text, left, right, first.bottom, first.size, first.bold, first.page, gaps, edges=edges, row=True)


def _values(rows: list[Line]) -> int | None:
    """Which row is the first with a value in each column but the first; None where such rows do not follow soon, or
    rows without come between them."""
    cells = [row.cells() for row in rows]
    full = [all(kind(cell) in VALUES or cell.casefold() in _NO_VALUE for cell in row[1:]) for row in cells]
    full = [whole and any(kind(cell) in VALUES for cell in row[1:]) for whole, row in zip(full, cells, strict=True)]
    first = next((at for at, whole in enumerate(full[:MOST_ROWS]) if whole), None)
    if first is None or sum(full[first:]) < max(2, ALIKE * len(full[first:])):
        return None
    return None if any(kind(cell) in VALUES for row in cells[:first] for cell in row[1:]) else first


_Head = tuple[int, Line, Line]  # its column, itself, and the line that it is a part of


def _heads(above: list[Line], row: Line, columns: Sequence[Column]) -> list[_Head]:
    """The parts of the short lines before a table, each of which stands above one of its columns."""
    heads: list[_Head] = []
    passed = False  # a bold line across columns: the heading of the first rows
    for line in reversed(above):
        if line.row or line.alone or line.hung or line.turned or ends_sentence(line.text):
            break
        if not -1 < line.bottom - row.bottom < 2 * MOST_ROWS * row.size or abs(line.size - row.size) > 1:
            break
        placed = [(_column(part, columns), part) for part in line.parts()]
        if any(column is None for column, _ in placed) or len(line.text) > LONGEST:
            if heads or passed or not line.bold or line.gaps:
                break
            passed = True
            continue
        heads += [(column, part, line) for column, part in placed if column is not None]
    return _close(heads)


def _column(line: Line, columns: Sequence[Column]) -> int | None:
    """The column that a line stands above, and no other."""
    touched = [n for n, (left, right, _) in enumerate(columns) if line.left < right and line.right > left]
    return touched[0] if len(touched) == 1 else None


def _tight(column: int, part: Line, row: Line) -> bool:
    """Whether it is the upper line of a heading whose lower one stands in a cell of a row, or is beside such a line."""
    cell = _cell(row, column)
    near = part.bottom - row.bottom < 1.45 * row.size
    if cell is None or abs(part.bottom - row.bottom) < 1:
        return abs(part.bottom - row.bottom) < 1
    sides = (part.left + part.right - cell.left - cell.right) / 2, part.left - cell.left, part.right - cell.right
    return near and min(map(abs, sides)) < ALIGNED and part.bold == row.bold


def _close(heads: list[_Head]) -> list[_Head]:
    """Those that follow each other closely, from the lowest one up."""
    heads = sorted(heads, key=lambda head: head[1].bottom)
    for at, ((_, low, _), (_, high, _)) in enumerate(pairwise(heads), 1):
        if high.bottom - low.bottom > CLOSE * low.size:
            return heads[:at]
    return heads


def _dated(row: Line) -> bool:
    """Whether all its cells but the first are years or days."""
    cells = row.cells()
    return kind(cells[0]) not in VALUES and any(cells[1:]) and all(_YEAR.fullmatch(cell) for cell in cells[1:] if cell)


def _words(column: int, taken: list[_Head], own: list[Line]) -> str:
    lines = sorted((part for n, part, _ in taken if n == column), key=lambda part: -part.bottom)
    lines += [part for row in own if (part := _cell(row, column))]
    return running_text(lines, set()) if lines else ""


def _cell(row: Line, column: int) -> Line | None:
    parts = row.parts()
    return parts[column] if column < len(parts) and parts[column].text.strip() else None
