"""Tables of a PDF page: cells of several lines put together, in their columns."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from graph.knowledge.loaders.pdf_heads import again, row_of, with_heads
from graph.knowledge.loaders.pdf_layout import running_text, stretched
from graph.knowledge.loaders.pdf_lines import Line

MOST_LINES = 2_000  # of one table on one page
MOST_COLUMNS = 40
FEWEST_LETTERS = 4  # of words
TALLEST = 5.0  # times the height of its letters: from one line of a table to the next

_Column = tuple[float, float, int]  # its edges, and how many lines have a cell in it


@dataclass(frozen=True, slots=True)
class Rule:
    """A line that is drawn across a page, or the upper or lower edge of a box."""

    left: float
    right: float
    height: float


@dataclass(slots=True)
class _Baseline:
    """What stands at one height: the parts of it by column."""

    bottom: float
    cells: dict[int, list[Line]]


def joined(lines: list[Line], rules: list[Rule]) -> list[Line]:
    """Lines with one line for each row of a table, its cells by column, where a table has two rows or more."""
    rules = sorted(rules, key=lambda rule: rule.height)
    result: list[Line] = []
    head: Line | None = None
    head_columns: list[_Column] = []
    at = 0
    while at < len(lines):
        end, columns = _extent(lines, at)
        if columns:
            above = _above(result, lines[at])
            del result[len(result) - len(above) :]
            rows = _rows(above + lines[at:end], columns, rules)
            if all(row.row for row in rows):
                result, headed = with_heads(result, rows, columns)
                if headed is not rows:
                    head, head_columns = headed[0], columns
                rows = headed if headed is not rows else again(head, head_columns, rows, columns)
            result += rows
        else:
            result += lines[at:end]
        at = end
    return result


def _extent(lines: list[Line], at: int) -> tuple[int, list[_Column]]:
    """Where the table that begins at a line ends, and its columns; one line and none where that is no table."""
    if not lines[at].gaps or stretched(lines[at]) or lines[at].alone or lines[at].row:
        return at + 1, []
    columns = [(left, right, 1) for *_, left, right in lines[at].spans()]
    lowest, rows, end = lines[at].bottom, 1, at + 1
    cut: dict[int, Line] = {}
    for index in range(at + 1, min(len(lines), at + MOST_LINES)):
        line = lines[index]
        if (
            line.alone
            or line.row
            or lowest - line.bottom > TALLEST * line.size
            or line.bottom > lowest + 2 * TALLEST * line.size
        ):
            break
        if line.hung and line.bold > lines[index - 1].bold:
            break  # a heading with its number
        if line.hung and any(line.left < right < line.hung[2] for _, right, _ in columns):
            line = cut[index] = line.unhung()  # a number in a column of its own, not that of a list
        merged = _with(columns, line)
        if merged is None or stretched(line):
            break
        beside = line.bottom > lowest + 1
        if not line.gaps and not beside and (line.size > lines[at].size + 0.6 or line.bold > lines[index - 1].bold):
            break  # the heading of what follows
        rows += bool(line.gaps) or beside
        close = lowest - line.bottom < 1.9 * line.size and (line.left > columns[0][1] or line.text[:1].islower())
        if line.gaps or beside or close:
            end = index + 1  # others belong to the table only where one of its rows comes after them
        columns = merged
        lowest = min(lowest, line.bottom)
    if rows < 2 or not 2 <= len(columns) <= MOST_COLUMNS:
        return at + 1, []
    for index, line in cut.items():
        lines[index] = line if index < end else lines[index]
    return end, columns


def _above(earlier: list[Line], line: Line) -> list[Line]:
    """Those of the lines before the first one with gaps in which its cells begin, or which stand beside it."""
    begun = {left: line.text[start:end] for start, end, left, _ in line.spans()}
    above: list[Line] = []
    for before in reversed(earlier):
        if before.gaps or before.row or before.alone or not -1 < before.bottom - line.bottom < TALLEST * line.size:
            break
        cell = next((left for left, text in begun.items() if abs(left - before.left) < 3 and text[:1].islower()), None)
        if cell is not None:
            begun[cell] = before.text
        elif before.bottom - line.bottom > 1 or before.right > line.left:
            break
        above.insert(0, before)
    return above


def _with(columns: list[_Column], line: Line) -> list[_Column] | None:
    """Columns with the cells of one more line; None where one lies across two of them. A heading in the middle of its
    column, with no cell below it yet, takes in the cell that stands next to it."""
    result = list(columns)
    spans = [(left, right) for *_, left, right in line.spans()]
    for left, right in spans:
        touched = [n for n, (a, b, _) in enumerate(result) if left < b and right > a]
        if not touched:
            at = sum(a < left for a, *_ in result)
            near = [n for n in (at, at - 1) if 0 <= n < len(result) and result[n][2] == 1]
            touched = [n for n in near if not _meets(result[n], spans)][:1]
        if not touched:
            result.append((left, right, 1))
            result.sort()
        elif len(touched) == 2 and len(spans) == 1 and min(result[n][2] for n in touched) == 1:
            one, two = (result[n] for n in touched)
            result[touched[0] : touched[1] + 1] = [(min(one[0], left), max(two[1], right), one[2] + two[2] + 1)]
        elif len(touched) == 1:
            a, b, uses = result[touched[0]]
            result[touched[0]] = (min(left, a), max(right, b), uses + 1)
        elif not line.gaps:
            return None
    return result


def _meets(column: _Column, spans: list[tuple[float, float]]) -> bool:
    return any(left < column[1] and right > column[0] for left, right in spans)


def _ruled(rules: list[Rule], columns: list[_Column], low: float, high: float) -> float | None:
    """The height of a rule across most of the columns between two heights."""
    start = bisect_right(rules, low, key=lambda rule: rule.height)
    left, right = columns[0][0], columns[-1][1]
    covered: dict[int, float] = {}
    for rule in rules[start : start + 400]:
        if rule.height >= high:
            break
        width = min(rule.right, right) - max(rule.left, left)
        covered[round(rule.height / 2)] = covered.get(round(rule.height / 2), 0.0) + max(0.0, width)
    for height, width in covered.items():
        if width >= 0.6 * (right - left):
            return height * 2.0
    return None


def _rows(lines: list[Line], columns: list[_Column], rules: list[Rule]) -> list[Line]:
    baselines = _baselines(lines, columns)
    full = all(len(baseline.cells) == len(columns) for baseline in baselines)
    if full and not any(map(_goes_on, baselines)):
        return [_row([baseline], columns) for baseline in baselines]
    starts = _by_rules(baselines, columns, rules) or _by_gaps(baselines)
    # Else a row begins where its first cell does.
    opened = [False, *(_opened(above, below) for above, below in pairwise(baselines))]
    starts = starts or [
        full or (0 in baseline.cells and not goes_on and not _goes_on(baseline))
        for baseline, goes_on in zip(baselines, opened, strict=True)
    ]
    rows: list[list[_Baseline]] = []
    for baseline, begins in zip(baselines, starts, strict=True):
        if begins or not rows:
            rows.append([])
        rows[-1].append(baseline)
    if sum(len(set().union(*(baseline.cells for baseline in row))) > 1 for row in rows) < 0.5 * len(rows):
        return lines  # mostly single cells, as the labels of a form are
    return [_row(row, columns) for row in rows]


def _baselines(lines: list[Line], columns: list[_Column]) -> list[_Baseline]:
    parts = [part for line in lines for part in line.parts()]
    parts.sort(key=lambda part: (-part.bottom, part.left))
    baselines: list[_Baseline] = []
    for part in parts:
        if not baselines or baselines[-1].bottom - part.bottom > 0.35 * part.size:
            baselines.append(_Baseline(part.bottom, {}))
        baselines[-1].cells.setdefault(_column(part, columns), []).append(part)
    return baselines


def _column(part: Line, columns: list[_Column]) -> int:
    """The column that a part overlaps most; the nearest where it overlaps none."""
    return max(
        range(len(columns)),
        key=lambda n: min(part.right, columns[n][1]) - max(part.left, columns[n][0]),
    )


def _by_rules(baselines: list[_Baseline], columns: list[_Column], rules: list[Rule]) -> list[bool]:
    """Rows as they are ruled; empty where the table is not ruled between them."""
    ruled = [
        _ruled(rules, columns, below.bottom + 1, above.bottom + 1) is not None for above, below in pairwise(baselines)
    ]
    return _checked(baselines, [True, *ruled]) if sum(ruled) >= 2 else []


def _by_gaps(baselines: list[_Baseline]) -> list[bool]:
    """Rows that stand further apart than the lines of a cell do; empty where they do not."""
    steps = [above.bottom - below.bottom for above, below in pairwise(baselines)]
    last: dict[int, float] = {}
    within = []
    for baseline in baselines:
        for column in baseline.cells:
            if column in last:
                within.append(last[column] - baseline.bottom)
            last[column] = baseline.bottom
    size = next(iter(baselines[0].cells.values()))[0].size
    usual = min((step for step in within if step > 0.9 * size), default=0.0)  # less is one height, told in two ways
    starts = [True, *(step > 1.15 * usual for step in steps)]
    return _checked(baselines, starts) if any(starts[1:]) else []


def _checked(baselines: list[_Baseline], starts: list[bool]) -> list[bool]:
    """Where rows begin; empty where too many of the lines within them are rows themselves. A line that alone of its row
    has values is none: they stand at the height of the last line of a name."""
    rows: list[list[int]] = []
    for at, begins in enumerate(starts):
        rows[len(rows) :] = [[]] if begins or not rows else []
        rows[-1].append(at)
    widest = max(len(baseline.cells) for baseline in baselines)
    begin = list(starts)
    own = 0
    for row in rows:
        for at in row[1:]:
            values = [
                other
                for other in row
                if other != at and (baselines[other].cells.keys() & baselines[at].cells.keys()) - {0}
            ]
            if _own(baselines[at]) and values:
                own += 1
                filled = baselines[at].cells.keys()
                begin[at] = len(filled) > 2 and (len(filled) == widest or filled >= baselines[row[0]].cells.keys())
    return begin if own <= 0.5 * sum(starts) else []


def _own(baseline: _Baseline) -> bool:
    """Whether a line is a row by itself: it begins in the first column, has more, and no cell goes on from above."""
    small = any(parts[0].text[:1].islower() and not _few_letters(parts[0].text) for parts in baseline.cells.values())
    return 0 in baseline.cells and len(baseline.cells) > 1 and not small


def _few_letters(text: str) -> bool:
    """Whether a cell is a number, whatever stands before it: "x 305"."""
    return any(map(str.isdigit, text)) and sum(map(str.isalpha, text)) < FEWEST_LETTERS


def _goes_on(baseline: _Baseline) -> bool:
    """Whether the first cell of a line goes on from the line above."""
    return 0 in baseline.cells and baseline.cells[0][0].text[:1].islower()


def _opened(above: _Baseline, below: _Baseline) -> bool:
    """Whether a line has a first cell alone, with a bracket that the first cell below it closes."""
    if above.cells.keys() != {0} or 0 not in below.cells:
        return False
    text, rest = above.cells[0][-1].text, below.cells[0][0].text
    return text.count("(") > text.count(")") and rest.count(")") > rest.count("(")


def _row(row: list[_Baseline], columns: list[_Column]) -> Line:
    """One line with the words of each column, and a gap for each column after the first."""
    cells: list[list[Line]] = [[] for _ in columns]
    parts = [part for baseline in row for cell in baseline.cells.values() for part in cell]
    for baseline in row:
        for column, cell in sorted(baseline.cells.items()):
            cells[column] += cell
    line = row_of([running_text(own, set()) if own else "" for own in cells], columns, parts[0])
    line.bold = all(part.bold for part in parts)
    return line
