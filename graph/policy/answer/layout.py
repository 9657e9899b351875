"""An answer as the blocks that people see: headings, paragraphs, lists, tables, code, with their sources.

Terminal, Markdown and PDF draw these. `graph/service/http/page/shown.js` reads the same blocks for the page.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import dedent

from graph.policy.text.structure import CELL_HEADING, ITEM

DEEPEST = 9  # lists within lists; what is deeper is read as words
_NUMBERS = re.compile(r"[ \n]?((?:\[\d{1,3}\])+)(?=\s|$)")  # nothing else looks like them (graph/policy/text/defang.py)
_FENCE = re.compile(r"(`{3,})[\w+-]*\s*$")
_HEADING = re.compile(r"(#{1,9}) +(?=\S)")
_CELL = re.compile(rf"({CELL_HEADING}): (.*)")
_NEXT_CELL = re.compile(rf"; (?={CELL_HEADING}: )")


@dataclass(slots=True)
class Words:
    """The words of a line, or of a part of it that has sources of its own."""

    text: str
    numbers: tuple[int, ...] = ()
    gap: str = ""  # before it in its paragraph: " " in the same line, "\n" in the next one


@dataclass(slots=True)
class Heading:
    """`level` from 1, the highest, to 9."""

    level: int
    text: str
    numbers: tuple[int, ...] = ()


@dataclass(slots=True)
class Paragraph:
    """Parts of lines, each with sources of its own, in order."""

    words: list[Words]


@dataclass(slots=True)
class Code:
    """The text between the fences, with its blanks."""

    text: str
    numbers: tuple[int, ...] = ()


@dataclass(slots=True)
class Table:
    """Each row has one cell a column; its last cell has the numbers of its sources."""

    columns: list[str]
    rows: list[list[Words]]


@dataclass(slots=True)
class Item:
    """`mark` as written, "3." or "(b)"; "" for any bullet."""

    mark: str
    blocks: list["Block"]


@dataclass(slots=True)
class Listing:
    """Bullets, or entries whose numbers rise by one."""

    items: list[Item] = field(default_factory=list)


Block = Heading | Paragraph | Code | Table | Listing
_Read = Block | Words


def blocks(answer: str) -> list[Block]:
    """Of the `answer` of a reply. Rows of one table that stand together become a table again."""
    pieces: list[_Read] = []
    parts = _NUMBERS.split(answer)
    for text, numbers in zip(parts[::2], [*parts[1::2], ""], strict=True):
        gap = re.match(r"\s*", text)[0]  # type: ignore[index]
        for block in _read(text.strip().split("\n"), gap if gap in (" ", "\n") else ""):
            _add(pieces, block)
        if numbers and pieces:
            _behind(pieces[-1], tuple(int(n) for n in re.findall(r"\d+", numbers)))
    return _grouped(pieces)


def number(mark: str) -> int | None:
    """Of an item of a numbered list."""
    digits = mark.strip("().")
    return int(digits) if digits.isdecimal() else None


def _read(lines: Sequence[str], gap: str, depth: int = 0) -> list[_Read]:
    pieces: list[_Read] = []
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        if not line.strip():
            gap = ""
        elif fence := _FENCE.match(line):
            end = at
            while end < len(lines) and (lines[end].strip(" `") or not lines[end].strip().startswith(fence[1])):
                end += 1
            pieces += [Code(code)] if (code := "\n".join(lines[at:end])).strip() else []
            at, gap = end + 1, ""
        elif heading := _HEADING.match(line):
            pieces.append(Heading(len(heading[1]), line[heading.end() :].strip()))
            gap = ""
        elif depth < DEEPEST and (item := ITEM.match(line)):
            begin = at
            while at < len(lines) and _within(lines, at, len(item[1])):
                at += 1
            inner = [line[item.end() :], *dedent("\n".join(lines[begin:at])).split("\n")]
            mark = "" if item[2] in "-*•–" else item[2]
            _add(pieces, Listing([Item(mark, _read(inner, "", depth + 1))]))  # type: ignore[arg-type]
            gap = ""
        else:
            pieces.append(Words(line.strip(), (), gap))
            gap = "\n"
    return pieces


def _within(lines: Sequence[str], at: int, indent: int) -> bool:
    """Whether a line is part of the item above it, whose mark stands at `indent`."""
    line = next((line for line in lines[at:] if line.strip()), "")
    return len(line) - len(line.lstrip()) > indent


def _add(pieces: list[_Read], block: _Read) -> None:
    last = pieces[-1] if pieces else None
    if isinstance(block, Listing) and isinstance(last, Listing) and _goes_on(last.items[-1], block.items[0]):
        last.items += block.items
    else:
        pieces.append(block)


def _goes_on(last: Item, item: Item) -> bool:
    before, after = number(last.mark), number(item.mark)
    if before is None or after is None:
        return before is after and bool(last.mark) == bool(item.mark)
    return after == before + 1


def _behind(block: _Read, numbers: tuple[int, ...]) -> None:
    """Put the numbers behind the last words of a block."""
    if isinstance(block, Listing) and block.items[-1].blocks:
        _behind(block.items[-1].blocks[-1], numbers)
    elif isinstance(block, Words | Code | Heading):
        block.numbers += numbers


def _grouped(pieces: Sequence[_Read], *, top: bool = True) -> list[Block]:
    """Rows made a table, and lines a paragraph."""
    grouped: list[Block] = []
    at, open_ = 0, False  # whether the paragraph goes on
    while at < len(pieces):
        block = pieces[at]
        if not isinstance(block, Words):
            if isinstance(block, Listing):
                block = Listing([Item(i.mark, _grouped(i.blocks, top=False)) for i in block.items])
            grouped.append(block)
            at, open_ = at + 1, False
            continue
        columns, rows = _rows(pieces[at:])
        if len(rows) > 1:
            grouped.append(_table(columns, rows))
            at, open_ = at + len(rows), False
            continue
        if top and len(columns) > 2 and not block.text.endswith((".", "!", "?")):
            grouped.append(_pairs(block))
            open_ = False
        elif open_ and block.gap:
            grouped[-1].words.append(block)  # type: ignore[union-attr]
        else:
            grouped.append(Paragraph([Words(block.text, block.numbers)]))
            open_ = True
        at += 1
    return grouped


def cells(line: str) -> dict[str, str]:
    """Name → value of a row, "Cone: 6; Hold: 15 minutes"; {} when it is none."""
    matches = [_CELL.fullmatch(part) for part in _NEXT_CELL.split(line)]
    row = {cell[1].strip(): cell[2].strip() for cell in matches if cell}
    return row if len(row) == len(matches) > 1 else {}


def _rows(pieces: Sequence[_Read]) -> tuple[list[str], list[Words]]:
    """The columns and rows of the table that the pieces begin with. A row leaves out its empty cells."""
    columns: list[str] = []
    rows: list[Words] = []
    for block in pieces:
        names = list(cells(block.text)) if isinstance(block, Words) else []
        wide, narrow = (names, columns) if len(names) > len(columns) else (columns, names)
        rest = iter(wide)
        if not names or not all(name in rest for name in narrow):
            break
        columns = wide
        rows.append(block)  # type: ignore[arg-type]
    return columns, rows


def _table(columns: list[str], rows: Sequence[Words]) -> Table:
    table = Table(columns, [[Words(cells(row.text).get(name, "")) for name in columns] for row in rows])
    for cells_, row in zip(table.rows, rows, strict=True):
        cells_[-1].numbers = row.numbers
    return table


def _pairs(row: Words) -> Listing:
    """A row that stands alone, which would be a wide table of one."""
    lines = [Words(f"{name}: {value}") for name, value in cells(row.text).items()]
    lines[-1].numbers = row.numbers
    return Listing([Item("", [Paragraph([line])]) for line in lines])
