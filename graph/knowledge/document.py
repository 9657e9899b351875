"""A document as text and blocks: what every loader gives, whatever the format was."""

import json
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import Any, Literal, get_args

from graph.policy.evidence.places import Place
from graph.policy.text import structure
from graph.policy.text.structure import SEPARATOR

BlockKind = Literal["heading", "paragraph", "list", "row", "code"]
KINDS: frozenset[str] = frozenset(get_args(BlockKind))
_KEYS = frozenset(("title", "text", "blocks", "media_type", "hidden", "turns", "notes", "fields"))


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, list, table row or piece of code; `start` and `end` are offsets in `Document.text`.

    `page` is the one on which it begins, from 1 (PDF pages, slides). `row` is the number a spreadsheet shows at the
    left, from 1. `section` is the path of headings, "Safety > Cold storage"; that of a heading ends with the heading
    itself.
    """

    start: int
    end: int
    kind: BlockKind
    page: int | None = None
    sheet: str | None = None
    row: int | None = None
    section: str = ""


@dataclass(frozen=True)
class Document:
    """The text a reader sees, and where its parts are.

    `text` is NFC with "\\n" as the only line end and no control characters; blocks are divided by an empty line,
    rows of one table and the points of a provision by a line end. Headings, items, rows and code carry the marks that
    graph/policy/text/structure.py reads back, but for the headings of an act. `blocks` are in reading order and do not
    overlap.
    `hidden` is text that the file carries but a reader does not see (comments, white or tiny letters, metadata): at
    most 50 entries of 500 characters, for inspection, never part of `text`.
    `turns` are pairs (offset in `text`, page): inside a block, the text from that offset on is on that page.
    `notes` say what of the file was not read, a line each, at most 20 of 200 characters.
    `fields` are what the document says of itself (owner, version, status, ...), at most 30 pairs (name, value); they
    are part of `text`, too.
    """

    title: str
    text: str
    blocks: tuple[Block, ...]
    media_type: str
    hidden: tuple[str, ...] = ()
    turns: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()

    def places(self, start: int, end: int) -> list[Place]:
        """Where `text[start:end]` stands: one place for its beginning, and one wherever the page or the row changes;
        offsets count from `start`."""
        first = max(0, bisect_right(self._starts, start) - 1)
        changes: list[Place] = []
        for block in islice(self.blocks, first, None):
            if block.start >= end:
                break
            changes.append((block.start, block.page, block.row))
            left, right = (bisect_left(self.turns, (at, 0)) for at in (block.start, block.end))
            changes += [(at, page, block.row) for at, page in self.turns[left:right]]
        places: list[Place] = []
        for at, page, row in changes:
            if at <= start:
                places = [(0, page, row)]
            elif at < end and (not places or places[-1][1:] != (page, row)):
                places.append((at - start, page, row))
        return places

    @cached_property
    def _starts(self) -> list[int]:
        return [block.start for block in self.blocks]

    def to_json(self) -> str:
        """One JSON object; `from_json` gives an equal document back."""
        blocks = [[b.start, b.end, b.kind, b.page, b.sheet, b.row, b.section] for b in self.blocks]
        fields = {"title": self.title, "text": self.text, "blocks": blocks}
        fields |= {"media_type": self.media_type, "hidden": self.hidden}
        fields |= {"turns": self.turns, "notes": self.notes, "fields": self.fields}
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, source: str | bytes) -> "Document":
        """Checks every field, since the writer may have been taken over by the file it read. Raises ValueError."""
        fields = json.loads(source)
        if not isinstance(fields, dict) or fields.keys() != _KEYS:
            raise ValueError(f"expected an object with {', '.join(sorted(_KEYS))}")
        title, text, media_type = (_text(fields[name]) for name in ("title", "text", "media_type"))
        hidden, notes = (tuple(map(_text, _items(fields[name]))) for name in ("hidden", "notes"))
        turns = tuple((_whole(at), _whole(page)) for at, page in map(_items, _items(fields["turns"])))
        if list(turns) != sorted(turns):
            raise ValueError("turns are out of order")
        pairs = tuple((_text(name), _text(value)) for name, value in map(_items, _items(fields["fields"])))
        blocks, position = [], 0
        for item in _items(fields["blocks"]):
            block = _block(item)
            if not position <= block.start < block.end <= len(text):
                raise ValueError(f"block {block.start}..{block.end} is out of order or out of the text")
            position = block.end
            blocks.append(block)
        return cls(title, text, tuple(blocks), media_type, hidden, turns, notes, pairs)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"expected text, got {type(value).__name__}")
    return value


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(f"expected a whole number, got {type(value).__name__}")
    return value


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"expected a list, got {type(value).__name__}")
    return value


def _block(item: Any) -> Block:
    if not isinstance(item, list) or len(item) != 7:
        raise ValueError("expected a block of seven fields")
    start, end, kind, page, sheet, row, section = item
    if type(start) is not int or type(end) is not int or kind not in KINDS or not isinstance(section, str):
        raise ValueError("expected offsets, a kind and a section in a block")
    if any(n is not None and type(n) is not int for n in (page, row)) or not isinstance(sheet, str | None):
        raise ValueError("expected a page, a sheet and a row, or nothing, in a block")
    return Block(start, end, kind, page, sheet, row, section)


_ACTIVE = re.compile(r"([\\`*_\[\]<>|~&])")
_OPENING = re.compile(r"^(\s*)([#>+=-]|\d+[.)])", re.MULTILINE)


def to_markdown(document: Document) -> str:
    """The document as Markdown that shows the same words and makes nothing of them live: no link, image or tag."""
    parts = []
    for kind, group in groupby(document.blocks, key=lambda block: block.kind):
        written = [_markdown(block, document.text[block.start : block.end]) for block in group]
        parts.append(("\n" if kind == "row" else "\n\n").join(written))
    return "\n\n".join(parts) + "\n" if parts else ""


def _markdown(block: Block, text: str) -> str:
    if block.kind == "code":
        return text if text.startswith("```") else structure.fenced(text)
    if block.kind == "list":
        return "\n".join(_list_line(line) for line in text.split("\n"))
    if block.kind == "heading":
        text = structure.without_marks(text)
    escaped = _OPENING.sub(_escape_opening, _ACTIVE.sub(r"\\\1", text))
    if block.kind == "heading":
        depth = min(6, block.section.count(SEPARATOR) + 1)
        return f"{'#' * depth} {escaped}".replace("\n", " ")
    if block.kind == "row":
        return f"- {escaped}".replace("\n", " ")
    return escaped.replace("\n", "\\\n")


def _list_line(line: str) -> str:
    mark = re.match(r"\s*(?:[-+*]|\d+[.)])\s", line)
    keep = mark.end() if mark else 0
    return line[:keep] + _ACTIVE.sub(r"\\\1", line[keep:])


def _escape_opening(match: re.Match[str]) -> str:
    space, mark = match.groups()
    return f"{space}{mark[:-1]}\\{mark[-1]}"
