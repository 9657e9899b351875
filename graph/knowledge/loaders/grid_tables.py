"""Grid tables of Pandoc's Markdown: cells in frames of "+---+---+" and "|", below a line of "=" for the headings."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock

_BORDER = re.compile(r"\+(?:[-:]{2,}[-:=]*\+|=[=:]+\+|:=+:?\+)+")
_TARGET = re.compile(r"\]\([^()\s\"']*\n[^()\"']*\)")  # of a link, over several lines
MOST_LINES = 5_000
MOST_COLUMNS = 100


def grid_tables(parser: MarkdownIt) -> None:
    """Teaches a parser to read them: each becomes a table of HTML."""
    parser.block.ruler.before("table", "grid_table", _rule, {"alt": ["paragraph", "blockquote", "list"]})


def _rule(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.is_code_block(start) or state.env.get("in_table") or not _BORDER.fullmatch(border := _line(state, start)):
        return False
    at = [corner.start() for corner in re.finditer(r"\+", border)]
    lines, after = [border], start + 1
    while after < end and len(lines) < MOST_LINES:
        line = _line(state, after)
        if not _BORDER.fullmatch(line) and not _fits(line, at):
            break
        lines.append(line)
        after += 1
    while lines and not _BORDER.fullmatch(lines[-1]):
        lines.pop()
        after -= 1
    if len(lines) < 3 or len(at) > MOST_COLUMNS + 1:
        return False
    if not silent:
        token = state.push("html_block", "", 0)
        token.content = _table(state, lines, at)
        token.map = [start, after]
        state.line = after
    return True


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]].rstrip()


def _fits(line: str, at: list[int]) -> bool:
    """Whether a line of cells has its bars where the border has its corners, but for the last, which people forget."""
    return len(line) > at[-2] + 1 and line[-1] == "|" and all(line[place] == "|" for place in at[:-1])


def _table(state: StateBlock, lines: list[str], at: list[int]) -> str:
    heads: list[list[str]] = []
    rows: list[list[str]] = []
    cells: list[list[str]] = [[] for _ in at[1:]]
    for line in lines[1:]:
        if not _BORDER.fullmatch(line):
            for cell, (left, right) in zip(cells, pairwise([*at[:-1], len(line) - 1]), strict=True):
                cell.append(line[left + 1 : right].rstrip())
            continue
        rows.append([_whole("\n".join(text[_margin(cell) :] for text in cell)) for cell in cells])
        cells = [[] for _ in at[1:]]
        if "=" in line and not heads:
            heads, rows = rows, []
    return written(state, heads, rows)


def written(state: StateBlock, heads: list[list[str]], rows: list[list[str]]) -> str:
    """A table of HTML with these cells of Markdown; what looks like a table in a cell is none."""
    state.env["in_table"] = True
    head, body = ("".join(_row(state, row, tag) for row in part) for part, tag in ((heads, "th"), (rows, "td")))
    del state.env["in_table"]
    return f"<table>{f'<thead>{head}</thead>' if head else ''}<tbody>{body}</tbody></table>\n"


def _whole(text: str) -> str:
    """With the addresses of links in one piece that the width of their cell divides."""
    return _TARGET.sub(lambda target: "".join(target[0].split()), text)


def _margin(cell: list[str]) -> int:
    return min((len(text) - len(text.lstrip()) for text in cell if text.strip()), default=0)


def _row(state: StateBlock, cells: list[str], tag: str) -> str:
    return f"<tr>{''.join(f'<{tag}>{state.md.render(cell, state.env)}</{tag}>' for cell in cells)}</tr>"
