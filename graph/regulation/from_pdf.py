"""The Official Journal's PDF: printed lines to paragraphs, without running heads, footnotes and their marks."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from graph.knowledge.loaders import pdf
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.pdf_lines import Line as Printed
from graph.regulation import marks
from graph.regulation.joining import closed_up, join, vocabulary
from graph.regulation.lines import Line, ended, stopped

EDGE = 3  # lines at the top and at the foot of a page among which running heads are looked for
CENTRED = 6.0  # points by which the middle of a centred line may be off
_FURNITURE = r"(?:[A-Z]{2}|[LC] ?\d+(?:/\d+)?|[LC] series|\d{1,2}\.\d{1,2}\.\d{4}|\d{4}/\d{1,5}|p\. ?\d+)"
HEAD = re.compile(
    rf"(?:{_FURNITURE} )*Official Journal of the European (?:Union|Communities)(?: {_FURNITURE})*"
    rf"|ELI: ?http\S+(?: {_FURNITURE}| \d+/\d+)*|OJ [LC],? [\d., /]+|EN|[LC] ?\d+/\d+|\d{{1,4}}/\d{{1,4}}"
    rf"|\d{{1,2}}\.\d{{1,2}}\.\d{{4}}(?: EN)?"
)
NOTE = re.compile(r"\(\s?(?:\d{1,3}|\*{1,4})\s?\)\s|\*{1,4}\s")
_STRUCTURE = re.compile(r"(?:article|chapter|section|title|part|annex)\b", re.I)


def read(data: bytes, out: Builder) -> list[Line]:
    """In reading order. `depth` is in points from the left edge of the page's text."""
    printed = pdf.pages(data, out)
    weight: Counter[float] = Counter()
    for lines in printed:
        for line in lines:
            weight[line.size] += len(line.text)
    body = max(weight, key=lambda size: (weight[size], size)) if weight else 0.0
    repeated = _repeated(printed)
    pages = [_without_notes([p for p in lines if id(p) not in repeated], body) for lines in printed]
    known = vocabulary(line.text for lines in pages for line in lines if line.size >= 0.95 * body and not line.bold)
    mids = [(min(p.left for p in lines) + max(p.right for p in lines)) / 2 for lines in pages if len(lines) > 5]
    middle = median(mids) if mids else 0.0
    result: list[Line] = []
    for lines in _paragraphs(pages, middle):
        first = lines[0]
        left = min(p.left for p in pages[first.page - 1])
        heading = all(_centred(p, left, middle) or p.bold for p in lines)
        text = join([_unmarked(p) for p in lines], known)
        text = closed_up(text, known) if heading else text
        result.append(Line(text, first.page, round(first.left - left, 1), heading))
    return result


def _repeated(pages: list[list[Printed]]) -> set[int]:
    """Lines at the edges of pages that say what the Journal is, or the same at the same height on many pages."""
    edges = []
    for lines in pages:
        ordered = sorted(lines, key=lambda p: -p.bottom)
        edges.append(list({id(p): p for p in (*ordered[:EDGE], *ordered[-EDGE:])}.values()))
    seen = Counter((re.sub(r"\d+", "#", p.text), round(p.bottom / 4)) for edge in edges for p in edge)
    often = max(3, len(pages) * 0.4)
    return {
        id(p)
        for edge in edges
        for p in edge
        if HEAD.fullmatch(p.text)
        or (
            seen[re.sub(r"\d+", "#", p.text), round(p.bottom / 4)] >= often
            and not _STRUCTURE.match(p.text)
            and not marks.read(p.text)[0]
        )
    }


def _without_notes(lines: list[Printed], body: float) -> list[Printed]:
    """The lines of a page without its footnotes: small print at the foot that begins with a mark."""
    foot = sorted(lines, key=lambda p: p.bottom)
    small = 0
    while small < len(foot) and foot[small].size < 0.95 * body:
        small += 1
    opening = next((n for n in range(small, 0, -1) if NOTE.match(foot[n - 1].text)), 0)
    dropped = {id(p) for p in foot[:opening]}
    return [p for p in lines if id(p) not in dropped]


def _unmarked(line: Printed) -> str:
    """The text without the marks of footnotes: "Council (4) seeks"."""
    text = line.text
    for start, end in reversed(line.raised):
        before, after = text[:start].rstrip(), text[end:].lstrip()
        if before.endswith("(") and after.startswith(")"):
            text = before[:-1].rstrip() + after[1:]
    return text


def _centred(p: Printed, left: float, middle: float) -> bool:
    return abs((p.left + p.right) / 2 - middle) < CENTRED and p.left - left > 4 * CENTRED


def _paragraphs(pages: list[list[Printed]], middle: float) -> Iterator[list[Printed]]:
    """Lines that belong together; a paragraph goes on over the end of a page."""
    current: list[Printed] = []
    for lines in pages:
        if not lines:
            continue
        steps = [a.bottom - b.bottom for a, b in pairwise(lines) if 0 < a.bottom - b.bottom < 2.2 * a.size]
        pitch = median(steps) if steps else 0.0
        left, edge = min(p.left for p in lines), max(p.right for p in lines)
        for line in lines:
            if current and _opens(current[-1], line, pitch, left, edge, middle):
                yield current
                current = []
            current.append(line)
    if current:
        yield current


def _opens(above: Printed, line: Printed, pitch: float, left: float, edge: float, middle: float) -> bool:
    """Whether `line` begins a paragraph."""
    heads = _centred(above, left, middle), _centred(line, left, middle)
    if heads[0] != heads[1] or above.bold != line.bold:
        return True
    if marks.read(line.text)[0] and ended(above.text):
        return True
    room = edge - above.right > 2 * line.size + len(line.text.split(" ", 1)[0]) * line.size * 0.5
    if above.page != line.page:
        return heads[1] or (stopped(above.text) and room)
    step = above.bottom - line.bottom
    if step <= 0 or step > 1.3 * pitch:
        return True
    return stopped(above.text) and room
