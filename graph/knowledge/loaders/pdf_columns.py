"""The order in which lines are read: a page's title first, and columns of running text one after the other where the
file has their lines side by side."""

from bisect import bisect_left
from itertools import pairwise
from statistics import mean

from graph.knowledge.loaders.pdf_layout import ends_sentence
from graph.knowledge.loaders.pdf_lines import Line

FEWEST = 3  # lines side by side that can be told from a table
NARROWEST = 14  # characters in an average line of running text
GUTTER = 6.0  # points
DEEPEST = 3  # times that columns are divided again
APART = 0.6  # of the size: lines so far below one another stand beside nothing
BEFORE_TITLE = 4  # lines that a file may have before the title above them

_Gutter = tuple[float, float]


def in_reading_order(lines: list[Line], depth: int = DEEPEST) -> list[Line]:
    """The lines of a page with its columns one after the other; lines across them stay above or below."""
    if depth == 0 or sum(bool(line.gaps) for line in lines) < FEWEST:
        return lines
    ordered: list[Line] = []
    run: list[Line] = []
    gutter: _Gutter | None = None
    for line in lines:
        shared = _shared(line, gutter)
        if run and (shared is None or (not line.gaps and gutter is None) or line.bottom > run[-1].bottom + line.size):
            ordered += _divided(run, gutter, depth)
            run, gutter = [], None
            shared = _shared(line, None)
        if shared is None:
            ordered.append(line)
            continue
        run.append(line)
        gutter = shared
    return ordered + _divided(run, gutter, depth)


def from_the_top(lines: list[Line]) -> list[Line]:
    """The lines of a page from its top, where none stands beside another and the file has several out of this order:
    some word processors write all lettered paragraphs of a page after the others."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    apart = all(above.bottom - line.bottom > APART * min(above.size, line.size) for above, line in pairwise(ordered))
    return ordered if apart and _out_of_order(lines) >= FEWEST else lines


def _out_of_order(lines: list[Line]) -> int:
    """How many lines must be left out for the others to stand one below the other."""
    falls: list[float] = []  # the heights at which the longest runs so far end, negative
    for line in lines:
        at = bisect_left(falls, -line.bottom)
        falls[at : at + 1] = [-line.bottom]
    return len(lines) - len(falls)


def title_first(lines: list[Line]) -> list[Line]:
    """The lines of a page; its uppermost ones in the largest letters first, where the file has a few others before."""
    size = max((line.size for line in lines), default=0.0)
    large = [abs(line.size - size) <= 0.6 for line in lines]
    first = large.index(True) if lines else 0
    if not 0 < first <= BEFORE_TITLE or any(line.bottom > lines[first].bottom for line in lines):
        return lines
    end = large.index(False, first) if False in large[first:] else len(lines)
    return [*lines[first:end], *lines[:first], *lines[end:]]


def _shared(line: Line, gutter: _Gutter | None) -> _Gutter | None:
    """The part of the gutter that a line leaves open; None where it lies across, as the row of a table does."""
    if line.row:
        return None
    if gutter is None:
        return max(line.edges, key=lambda edge: edge[1] - edge[0], default=None)
    gaps = [(float("-inf"), line.left), *line.edges, (line.right, float("inf"))]
    common = [(max(left, gutter[0]), min(right, gutter[1])) for left, right in gaps]
    widest = max(common, key=lambda edge: edge[1] - edge[0])
    return widest if widest[1] - widest[0] >= GUTTER else None


def _divided(run: list[Line], gutter: _Gutter | None, depth: int) -> list[Line]:
    if gutter is None or sum(bool(line.gaps) for line in run) < FEWEST:
        return run
    middle = (gutter[0] + gutter[1]) / 2
    left: list[Line] = []
    right: list[Line] = []
    for line in run:
        before, after = line.divided(middle)
        left += [before] if before else []
        right += [after] if after else []
    if not (_running(left) and _running(right)) or _in_rows(left, right):
        return run
    return in_reading_order(left, depth - 1) + in_reading_order(right, depth - 1)


def _running(lines: list[Line]) -> bool:
    """Whether lines are running text: long ones, most of which go on in the next."""
    if len(lines) < FEWEST or mean(len(line.text) for line in lines) < NARROWEST:
        return False
    on = [not ends_sentence(above.text) and line.text[:1].islower() for above, line in pairwise(lines)]
    return sum(on) >= 0.4 * len(on)


def _in_rows(left: list[Line], right: list[Line]) -> bool:
    """Whether what stands on both sides begins anew at the same heights: rows of wrapped cells."""
    starts = [_starts(side) for side in (left, right)]
    if min(map(len, starts)) < 2:
        return False
    both = sum(any(abs(one - other) < 3 for other in starts[1]) for one in starts[0])
    return both >= 2 and both >= 0.6 * max(map(len, starts))


def _starts(lines: list[Line]) -> list[float]:
    """The heights below a gap that is wider than the usual one."""
    steps = [above.bottom - line.bottom for above, line in pairwise(lines)]
    usual = min((step for step in steps if step > 2), default=0.0)
    return [line.bottom for step, line in zip(steps, lines[1:], strict=True) if step > 1.2 * usual]
