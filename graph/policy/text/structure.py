"""The structure of a document's text, read back from its marks.

A heading is a line of its own that begins with its level ("## Cold storage"); an item of a list begins with its mark,
after two spaces a level ("  - dry ice"); a row of a table is "Header: value; Header: value"; code stands between
fences. The marks are in the text because it travels masked and in parts: offsets kept beside it would not fit it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

SEPARATOR = " > "
NAME_LENGTH = 120  # characters of a heading that go into a path
DEEPEST = 9

LineKind = Literal["heading", "item", "code", "text"]

_HEADING = re.compile(rf"(#{{1,{DEEPEST}}}) (?=\S)")
_FENCE = re.compile(r"(`{3,})\s*$")
_HEADING_LINE = re.compile(rf"^(#{{1,{DEEPEST}}}) (?=\S)", re.MULTILINE)
_FENCE_LINE = re.compile(r"^`{3,}[ \t]*$", re.MULTILINE)
# "2.1" and "A." are marks before a capital letter alone: "2.5 litres" begins a sentence.
ITEM = re.compile(
    r"( *)([-*•–]|\(?\d{1,3}[.)]|\(?(?:[a-z]|[ivxl]{1,5})[.)]"
    r"|(?:§ ?)?\d{1,3}(?:\.\d{1,3}){1,5}[.)]?(?= +[\"'“‘(\[]?[^\W\d_a-z])|\([A-Z]\)|(?:[A-Z]|[IVX]{2,5})\)"
    r") +(?=\S)"
)
# The heading of a cell; a colon inside it is no end: "Patients (1:1 matching)".
CELL_HEADING = r"(?:[^:;\n]|:(?! )){1,150}"
_CELL = re.compile(rf"(?:[^:;\n]{{1,100}}; )?{CELL_HEADING}: ")  # a row's name may stand before the first of them
_NEXT_CELL = re.compile(rf"; {CELL_HEADING}: ")
_NOTHING = re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Line:
    """`text[start:end]`, without the space around it and, for a heading, without its mark.

    `level` is that of a heading, from 1, or the depth of an item, from 0, and one more for its further paragraphs.
    `words` is where the words begin, after the mark of an item. No empty line, heading or fence divides the lines of
    one `block`.
    """

    start: int
    end: int
    kind: LineKind
    level: int
    words: int
    block: int


def lines(text: str) -> Iterator[Line]:
    """The lines with words, in order. A part that begins inside code is read as code up to the fence that ends it."""
    block, position = 0, 0
    fence = _open_at_start(text)
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        begin, position = position, end + 1
        start = _NOTHING.match(text, begin, end).end()  # type: ignore[union-attr]
        mark = _FENCE.match(text, begin, end)
        if fence:
            if mark and len(mark[1]) >= len(fence):
                fence, block = "", block + 1
            elif start < end:
                yield Line(begin, end, "code", 0, begin, block)
        elif mark:
            fence, block = mark[1], block + 1
        elif start == end:
            block += 1
        elif heading := _HEADING.match(text, begin, end):
            yield Line(heading.end(), _end(text, begin, end), "heading", len(heading[1]), heading.end(), block + 1)
            block += 2
        elif item := ITEM.match(text, begin, end):
            yield Line(start, _end(text, begin, end), "item", len(item[1]) // 2, item.end(), block)
        else:
            yield Line(start, _end(text, begin, end), "text", (start - begin) // 2, start, block)


def blocks(text: str) -> list[list[Line]]:
    """The lines of each paragraph, list, table, heading and piece of code."""
    return [list(group) for _, group in groupby(lines(text), key=lambda line: line.block)]


def tabular(text: str, block: list[Line]) -> bool:
    """Whether every line of a block is a row of one table: they name their cells, and two or more name them alike."""
    heads = [_CELL.match(text, line.start, line.end) for line in block]
    if not all(heads) or any(line.kind != "text" for line in block):
        return False
    if all(_NEXT_CELL.search(text, line.start, line.end) for line in block) and text[block[-1].end - 1] not in ".!?":
        return True
    return len(block) > 1 and len({head.group() for head in heads if head}) == 1


def name(heading: str) -> str:
    """What a heading is called in a path."""
    return heading[:NAME_LENGTH].replace(SEPARATOR, " › ")


def section(path: str, text: str, at: int) -> str:
    """The path of headings over `text[at]`, where `path` is the one at the beginning of the text."""
    names = path.split(SEPARATOR) if path else []
    for line in lines(text):
        if line.kind == "heading":
            names = [*names[: line.level - 1], name(text[line.start : line.end])]
        elif line.end > at:
            break
    return SEPARATOR.join(names)


def without_marks(text: str) -> str:
    """The words alone: what is searched and compared."""
    return _FENCE_LINE.sub("", re.sub(_HEADING_LINE, "", text))


def quoted(text: str, start: int, end: int) -> str:
    """`text[start:end]` as people read it: headings without their marks, code between its fences even where one of them
    lies outside, or before the beginning of the text."""
    fence = _open_at_start(text)
    for mark in _FENCE_LINE.finditer(text, 0, start):
        fence = _after(fence, mark.group().strip())
    parts = [fence] if fence else []
    for line in text[start:end].split("\n"):
        is_fence = _FENCE_LINE.fullmatch(line)
        parts.append(line if fence or is_fence else _HEADING_LINE.sub("", line))
        fence = _after(fence, line.strip()) if is_fence else fence
    return "\n".join([*parts, fence] if fence else parts)


def _after(fence: str, line: str) -> str:
    """What ends the code that follows a line of backticks: "" where that line ended it."""
    return line if not fence else "" if len(line) >= len(fence) else fence


def mark(level: int) -> str:
    """What a heading of a level, from 1, begins with."""
    return "#" * min(level, DEEPEST)


def fenced(code: str) -> str:
    """Code between fences that are longer than any in it; nothing where there is none."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}\n{code}\n{fence}" if code.strip() else ""


def without_line_marks(text: str) -> str:
    """Words of which no line reads as a heading or a fence."""
    return _FENCE_LINE.sub("", _HEADING_LINE.sub(r"\1", text))


def _end(text: str, begin: int, end: int) -> int:
    return begin + len(text[begin:end].rstrip())


def _open_at_start(text: str) -> str:
    """The fence that the first one of the text closes, or "". One that opens has words below it and none above."""
    first = re.search(r"^(`{3,})\s*$", text, re.MULTILINE)
    if first is None:
        return ""
    above = text[: first.start()].rstrip(" ")
    return first[1] if above.strip() and not above.endswith("\n\n") else ""
