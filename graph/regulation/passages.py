"""From units to chunks: a paragraph with its points, a recital, a definition; longer ones are cut at their points."""

import re
from collections.abc import Iterator, Sequence

from graph.knowledge.chunking import Chunk, Count
from graph.policy.text import sentences
from graph.regulation.reading import Placed

_MEANS = re.compile(r"[‘“'\"][^’”'\"]{2,80}[’”'\"].{0,80}?\bmeans?\b")


def passages(text: str, placed: Sequence[Placed], count: Count, *, size: int) -> list[tuple[Chunk, list[int]]]:
    """Chunks of at most `size` tokens, with the indices of the units each holds. Headings are in none: their words go
    into the index with the passages below them."""
    return [chunk for group in _groups(placed) for chunk in _fitting(text, placed, group, count, size)]


def _groups(placed: Sequence[Placed]) -> Iterator[list[int]]:
    """Units that belong together, in order."""
    group: list[int] = []
    top = -1  # the unit that the group hangs on
    for at, item in enumerate(placed):
        kind = item.unit.kind
        if kind in ("article", "division", "annex"):
            if group:
                yield group
            group, top = [], -1
            continue
        inside = group and kind in ("point", "indent", "subparagraph") and item.start > placed[group[0]].start
        alone = kind == "point" and _defines(placed, item)
        if (
            group
            and (not inside or alone or (top >= 0 and not _hangs_on(placed, at, top)))
            and not _same(placed, group, at)
        ):
            yield group
            group = []
        if not group:
            top = at
        group.append(at)
    if group:
        yield group


def _same(placed: Sequence[Placed], group: list[int], at: int) -> bool:
    """Front matter, signatures and the text of an annex run on."""
    kind = placed[at].unit.kind
    return kind in ("front", "signature", "annex_part") and placed[group[-1]].unit.path == placed[at].unit.path


def _hangs_on(placed: Sequence[Placed], at: int, top: int) -> bool:
    """Whether a unit belongs to the paragraph `top`: by its place, or by its name where there is no number."""
    item, head = placed[at], placed[top]
    if item.parent == top or at <= head.last:
        return True
    return (
        item.parent == head.parent
        and head.unit.kind == "paragraph"
        and "(" not in head.unit.name
        and item.unit.kind != "paragraph"
    )


def _defines(placed: Sequence[Placed], item: Placed) -> bool:
    """Whether it is a definition of its own: a point of an article that says what a term means."""
    holder = placed[item.parent].unit.kind if item.parent >= 0 else ""
    return holder == "article" and _MEANS.search(item.unit.text[:300]) is not None


def _fitting(
    text: str, placed: Sequence[Placed], group: list[int], count: Count, size: int
) -> Iterator[tuple[Chunk, list[int]]]:
    """The group as one chunk, or, when it is too long, as several cut before points."""
    first, last = placed[group[0]], placed[group[-1]]
    whole = count(text[first.start : last.end])
    if whole <= size:
        yield _chunk(first, first.start, last.end, whole), group
        return
    current: list[int] = []
    used = 0
    for at in group:
        tokens = count(text[placed[at].start : placed[at].end]) + 2
        if current and used + tokens > size:
            yield _chunk(placed[current[0]], placed[current[0]].start, placed[current[-1]].end, used), current
            current, used = [], 0
        if tokens > size:
            yield from _cut(text, placed, at, count, size)
            continue
        current.append(at)
        used += tokens
    if current:
        yield _chunk(placed[current[0]], placed[current[0]].start, placed[current[-1]].end, used), current


def _cut(text: str, placed: Sequence[Placed], at: int, count: Count, size: int) -> Iterator[tuple[Chunk, list[int]]]:
    """A unit too long for a chunk, at the ends of its sentences; one without any at spaces."""
    item = placed[at]
    begin = used = 0
    source = text[item.start : item.end]
    spans = [piece for start, end in sentences.split(source) for piece in _pieces(source, start, end, size)]
    for n, (start, end) in enumerate(spans):
        tokens = count(source[start:end])
        if n and used + tokens > size:
            yield _chunk(item, item.start + begin, item.start + spans[n - 1][1], used), [at]
            begin, used = start, 0
        used += tokens
    yield _chunk(item, item.start + begin, item.end, used), [at]


def _pieces(source: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    while end - start > 3 * size:  # no language has more than one token for every three letters of running text
        cut = source.rfind(" ", start + 1, start + 3 * size)
        cut = cut if cut > start else start + 3 * size
        yield start, cut
        start = cut + 1 if source[cut : cut + 1] == " " else cut
    if end > start:
        yield start, end


def _chunk(first: Placed, start: int, end: int, tokens: int) -> Chunk:
    return Chunk(start, end, first.unit.page, None, first.unit.path, tokens)
