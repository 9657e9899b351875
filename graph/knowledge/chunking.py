"""From a document to chunks: whole blocks where they fit, then items and lines, then sentences, then words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from graph.knowledge.document import Block, Document
from graph.policy.evidence import places
from graph.policy.text import sentences
from graph.policy.text.structure import SEPARATOR

Count = Callable[[str], int]

# A token counts for this many characters at least: what the model takes for one unknown word may be a file.
MOST_CHARS = 20
# A section of the first or second level starts a new chunk once the current one holds this part of `size`.
FULL_ENOUGH = 0.4
MOST_LEAD = 400  # characters of a paragraph that introduces a list


@dataclass(frozen=True, slots=True)
class Chunk:
    """`document.text[start:end]`, with what `count` says of it in `tokens`.

    `page` is where it begins, `places` where its parts stand (graph/policy/evidence/places.py); `sheet` is that of
    its first block; `section` is that of the first block that is not a heading.
    """

    start: int
    end: int
    page: int | None
    sheet: str | None
    section: str
    tokens: int
    places: str = ""


@dataclass(frozen=True, slots=True)
class _Unit:
    """A block, or a part of one too long for a chunk: what is put into a chunk whole."""

    start: int
    end: int
    tokens: int
    block: Block

    @property
    def heading(self) -> bool:
        return self.block.kind == "heading"


def chunk(document: Document, count: Count, *, size: int = 500, overlap: int = 50) -> list[Chunk]:
    """Contiguous ranges of at most `size` tokens that together hold every block.

    A chunk repeats whole sentences and rows of the one before, up to `overlap` tokens, where both are in the same
    section and on the same page. A heading stays with what follows it, and so does a sentence that introduces a list, a
    table or code; no chunk crosses two sheets. `count` gives the tokens of a text; it is called once per block, once or
    twice per chunk, and per sentence only near a cut. Raises ValueError when `size` < 1 or `overlap` is not in
    0..size-1.
    """
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"expected size >= 1 and 0 <= overlap < size, got {size!r} and {overlap!r}")
    packer = _Packer(document.text, count, size, overlap)
    return [placed(document, part) for part in packer.pack(packer.units(document.blocks))]


def placed(document: Document, part: Chunk) -> Chunk:
    """A chunk with the pages and rows of its parts."""
    positions = document.places(part.start, part.end)
    return replace(part, page=positions[0][1] if positions else part.page, places=places.written(positions))


class _Packer:
    def __init__(self, text: str, count: Count, size: int, overlap: int) -> None:
        self.text, self.count, self.size, self.overlap = text, count, size, overlap

    def units(self, blocks: tuple[Block, ...]) -> Iterator[_Unit]:
        """Blocks, divided where they are too long for a chunk that also holds the headings right above them."""
        above = 0
        for block, after in zip(blocks, [*blocks[1:], None], strict=True):
            room = self.size - above if above <= self.size // 2 else self.size
            long = block.end - block.start > self.size * MOST_CHARS  # then it need not be counted
            tokens = self.size + 1 if long else self._tokens(block.start, block.end)
            if tokens <= room:
                yield _Unit(block.start, block.end, tokens, block)
            else:
                for start, end, part in self._parts(block.start, block.end, room):
                    yield _Unit(start, end, part, block)
            led = after is not None and tokens <= room and self._introduces(block, after)
            above = above + tokens if block.kind == "heading" or led else 0

    def pack(self, units: Iterator[_Unit]) -> Iterator[Chunk]:
        current: list[_Unit] = []
        used = 0
        reach: int | None = None  # where the sentences repeated from the chunk before begin
        for unit in units:
            if current and (used + unit.tokens > self.size or self._new_part(current, unit, used)):
                carried = self._carried_over(current, unit)
                closed, current = current[: len(current) - carried], current[len(current) - carried :]
                yield from self._close(closed, reach)
                reach, used = (None, 0) if current else self._reach(closed, unit)
                used += sum(part.tokens for part in current)
            current.append(unit)
            used += unit.tokens
        if current:
            yield from self._close(current, reach)

    def _carried_over(self, units: list[_Unit], unit: _Unit) -> int:
        """How many units at the end go with `unit`, which follows: headings, and what introduces it; 0 when there is
        nothing else."""
        count = 0
        if not units[-1].heading and unit.block.start == unit.start and self._introduces(units[-1].block, unit.block):
            count = 1
        while count < len(units) and units[-1 - count].heading:
            count += 1
        return count if count < len(units) else 0

    def _introduces(self, block: Block, after: Block) -> bool:
        """Whether a paragraph ends with a colon or without an end, right above a list, a table or code."""
        if block.kind != "paragraph" or after.kind not in ("list", "row", "code") or _run(block) != _run(after):
            return False
        return block.end - block.start <= MOST_LEAD and self.text[block.end - 1] not in ".!?"

    def _new_part(self, current: list[_Unit], unit: _Unit, used: int) -> bool:
        if unit.block.sheet != current[-1].block.sheet:
            return True
        upper = unit.heading and unit.block.section.count(SEPARATOR) < 2
        return upper and used >= FULL_ENOUGH * self.size

    def _close(self, units: list[_Unit], reach: int | None) -> Iterator[Chunk]:
        """One chunk; more only where the whole counts for more tokens than its parts did."""
        while units:
            start = units[0].start if reach is None else reach
            taken = len(units)
            tokens = self._tokens(start, units[-1].end)
            while tokens > self.size and (taken > 1 or reach is not None):
                if reach is not None:
                    reach, start = None, units[0].start
                else:
                    taken -= 1
                tokens = self._tokens(start, units[taken - 1].end)
            first = units[0].block
            section = next((unit.block.section for unit in units[:taken] if not unit.heading), first.section)
            yield Chunk(start, units[taken - 1].end, first.page, first.sheet, section, tokens)
            units, reach = units[taken:], None

    def _reach(self, closed: list[_Unit], unit: _Unit) -> tuple[int | None, int]:
        """Start and tokens of the last sentences of `closed` that the chunk beginning with `unit` repeats."""
        budget = min(self.overlap, self.size - unit.tokens)
        reach, used = None, 0
        for earlier in reversed(closed):
            if earlier.heading or _run(earlier.block) != _run(unit.block):
                break
            # Code whole: what begins with the fence that ends it would read as code, and the code as words. A row, too:
            # below the last words of one the others would be no table.
            whole, text = earlier.block.kind in ("code", "row"), self.text[earlier.start : earlier.end]
            for start, end in [(0, len(text))] if whole else reversed(sentences.split(text)):
                start, end = earlier.start + start, earlier.start + end
                tokens = self._tokens(start, end)
                if used + tokens > budget or start <= closed[0].start:
                    return reach, used
                reach, used = start, used + tokens
        return reach, used

    def _parts(self, start: int, end: int, room: int) -> Iterator[tuple[int, int, int]]:
        for first, last in _lines(self.text, start, end):
            tokens = self._tokens(first, last)
            if tokens <= room:
                yield first, last, tokens
                continue
            for begin, stop in sentences.split(self.text[first:last]):
                begin, stop = first + begin, first + stop
                tokens = self._tokens(begin, stop)
                if tokens <= room:
                    yield begin, stop, tokens
                else:
                    yield from self._words(begin, stop, tokens, room)

    def _words(self, start: int, end: int, tokens: int, room: int) -> Iterator[tuple[int, int, int]]:
        """Pieces of a long sentence, cut at spaces where there are any, each of at most `room` tokens."""
        typical = max(1, int((end - start) * room / tokens * 0.9))
        while start < end:
            length = typical
            while True:
                cut = self._cut(start, min(end, start + length), end)
                tokens = self._tokens(start, cut)
                if tokens <= room or cut - start <= 1:
                    break
                length = max(1, (cut - start) * 2 // 3)
            yield start, cut, tokens
            start = cut
            while start < end and self.text[start].isspace():
                start += 1

    def _cut(self, start: int, cut: int, end: int) -> int:
        """The last place to cut in start..cut: before a space, else anywhere. Never leaves a space at the end."""
        if cut < end and not self.text[cut].isspace():
            space = max(self.text.rfind(mark, start, cut) for mark in " \n")
            cut = space if space > start else cut
        return start + max(1, len(self.text[start:cut].rstrip()))

    def _tokens(self, start: int, end: int) -> int:
        return max(self.count(self.text[start:end]), (end - start) // MOST_CHARS)


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The lines of a block: items of a list, or of code, whose fences stay with the lines next to them."""
    lines = [(start + m.start(), start + m.end()) for m in re.finditer(r"[^\n]*\S[^\n]*", text[start:end])]
    if len(lines) > 3 and text.startswith("```", start):
        lines = [(start, lines[1][1]), *lines[2:-2], (lines[-2][0], end)]
    return lines


def _run(block: Block) -> tuple[str, int | None, str | None]:
    return block.section, block.page, block.sheet
