"""Tables of Pandoc's Markdown without frames: columns below groups of dashes.

A simple table has a line for each row, below a line of headings or, without headings, between two lines of dashes. One
of several lines to a row lies between two long lines of dashes, with a blank line between its rows.
"""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

from graph.knowledge.loaders.grid_tables import written

_GROUPS = re.compile(r" *-{2,}(?: +-{2,})+ *")
_LONG = re.compile(r" *-{8,} *")
MOST_LINES = 5_000
MOST_COLUMNS = 100
MOST_HEADS = 8  # lines of headings


def simple_tables(parser: MarkdownIt) -> None:
    """Teaches a parser to read them: each becomes a table of HTML."""
    parser.block.ruler.before("table", "simple_table", _rule, {"alt": ["paragraph", "blockquote", "list"]})


def _rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if (
        state.is_code_block(start)
        or state.env.get("in_table")
        or not (read := _several(state, start, end) or _simple(state, start, end))
    ):
        return False
    heads, rows, after = read
    if not silent:
        token = state.push("html_block", "", 0)
        token.content = written(state, [heads] if any(heads) else [], rows)
        token.map = [start, after]
        state.line = after
    return True


_Read = tuple[list[str], list[list[str]], int]  # headings, rows, the line after the table


def _simple(state: StateBlock, start: int, end: int) -> _Read | None:
    """One line to a row."""
    bare = _GROUPS.fullmatch(_line(state, start)) is not None
    ruled = start if bare else start + 1
    if ruled >= end or not _line(state, start).strip() or not _GROUPS.fullmatch(_line(state, ruled)):
        return None
    at = _columns(_line(state, ruled))
    lines: list[str] = []
    number = ruled + 1
    while number < end and len(lines) < MOST_LINES and (line := _line(state, number)).strip():
        number += 1
        if _GROUPS.fullmatch(line) or _LONG.fullmatch(line):
            return (_cells([] if bare else [_line(state, start)], at), [_cells([one], at) for one in lines], number)
        lines.append(line)
    if bare or not lines:  # without headings it ends with dashes
        return None
    return _cells([_line(state, start)], at), [_cells([line], at) for line in lines], number


def _several(state: StateBlock, start: int, end: int) -> _Read | None:
    """Several lines to a row, with a blank line between two rows."""
    if not _LONG.fullmatch(_line(state, start)):
        return None
    ruled = start + 1
    while ruled < min(end, start + MOST_HEADS + 2) and not _GROUPS.fullmatch(_line(state, ruled)):
        if not _line(state, ruled).strip():
            return None
        ruled += 1
    if ruled >= min(end, start + MOST_HEADS + 2) or ruled == start + 1:
        return None
    at = _columns(_line(state, ruled))
    heads = [_line(state, number) for number in range(start + 1, ruled)]
    rows: list[list[str]] = [[]]
    for number in range(ruled + 1, min(end, ruled + MOST_LINES)):
        line = _line(state, number)
        if _LONG.fullmatch(line):
            return _cells(heads, at), [_cells(row, at) for row in rows if row], number + 1
        rows[len(rows) :] = [] if line.strip() or not rows[-1] else [[]]
        rows[-1] += [line] if line.strip() else []
    return None


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] : state.eMarks[number]].rstrip()


def _columns(ruled: str) -> list[int]:
    """Where each column begins."""
    return [match.start() for match in re.finditer(r"-+", ruled)][:MOST_COLUMNS]


def _cells(lines: list[str], at: list[int]) -> list[str]:
    """The words of each column, a line below another."""
    edges = [*pairwise([0, *at[1:]]), (at[-1], None)]
    return ["\n".join(words for line in lines if (words := line[left:right].strip())) for left, right in edges]
