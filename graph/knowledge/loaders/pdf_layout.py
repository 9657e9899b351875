"""From the lines of PDF pages to headings, paragraphs, lists and tables."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import MARK, NUMBERED

FEW_LINES = 3  # lines at either end of a page among which running heads and feet are looked for
WIDE = 1.0  # times the height of the letters: a gap between two columns, not between two words
LONE_MARK = re.compile(r"[-*•‣▪◦–·]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)]|\d{1,2}")  # with a gap after it: a list item
_BARE_NUMBER = re.compile(
    r"[-–— ]*(?:page|seite|p\.)?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/|von)\s*\d{1,4})?[-–— ]*", re.IGNORECASE
)
_LABEL = re.compile(
    r"(?:article|section|chapter|part|annex|appendix)\s+(?:\d{1,3}[a-z]?|[IVXLC]{1,6}|[A-Z])", re.IGNORECASE
)
_DIVIDED = re.compile(r"([^\W\d_]{2,40})[-\u2010]$")
_AROUND = ".,;:!?()[]\"'“”‘’"
_END = re.compile(r"[.!?:;。؟۔][\"'”’)\]]*$")


@dataclass
class Line:
    """Words at one height. Places and sizes are in points from the lower left corner of the page."""

    text: str
    left: float
    right: float
    bottom: float
    size: float  # height of the letters with the space of their font
    bold: bool
    page: int
    gaps: list[int] = field(default_factory=list)  # offsets in `text` of wide gaps: columns of a table
    raised: list[tuple[int, int]] = field(default_factory=list)  # ranges of `text` that are small and raised

    def append(self, other: "Line") -> None:
        gap = other.left - self.right
        if LONE_MARK.fullmatch(self.text):
            self.text += "." if self.text.isdecimal() else ""
        elif gap > WIDE * max(self.size, other.size):
            self.gaps.append(len(self.text))
        space = " " if gap > 0.15 * self.size else ""
        start = len(self.text) + len(space)
        self.gaps += [start + offset for offset in other.gaps]
        if other.size < 0.75 * self.size and other.bottom > self.bottom:
            self.raised.append((start, start + len(other.text)))
        self.text += space + other.text
        self.right = other.right
        self.size = max(self.size, other.size)

    def cells(self) -> list[str]:
        return [self.text[start:end].strip() for start, end in pairwise([0, *self.gaps, len(self.text)])]


def same_row(left: Line, right: Line) -> bool:
    """Whether two lines that follow each other in the file stand side by side."""
    return abs(left.bottom - right.bottom) < 0.5 * max(left.size, right.size) and right.left > left.right - 1


def without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """Without lines at the edge that repeat from page to page, and without bare page numbers."""
    if len(pages) < 2:
        return pages
    edges = [_edges(lines) for lines in pages]
    repeated = Counter(_pattern(line) for lines in edges for line in lines)
    often = max(2 if len(pages) < 4 else 3, len(pages) * 0.4)
    kept = []
    for lines, edge in zip(pages, edges, strict=True):
        dropped = {id(e) for e in edge if repeated[_pattern(e)] >= often or _BARE_NUMBER.fullmatch(e.text)}
        kept.append([line for line in lines if id(line) not in dropped])
    return kept


def _edges(lines: list[Line]) -> list[Line]:
    """The first and last few lines by height, where they stand apart from the body of the page."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    if len(ordered) <= 2:
        return [line for line in ordered if _BARE_NUMBER.fullmatch(line.text)]
    found = []
    for side in (ordered, ordered[::-1]):
        apart = 0
        for index in range(min(FEW_LINES, len(side) - 1)):
            gap = abs(side[index].bottom - side[index + 1].bottom)
            if gap > 1.8 * max(side[index].size, side[index + 1].size):
                apart = index + 1
        found += side[:apart]
    return found


def _pattern(line: Line) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text), round(line.bottom / 4)


def write(pages: list[list[Line]], out: Builder) -> None:
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    levels: dict[float, int] = {}
    level, last = 0, 0.0
    for size in sorted((size for size in sizes if size > body * 1.12), reverse=True):
        if abs(last - size) > 0.6:  # less is rounding, not another level
            level, last = level + 1, size
        levels[size] = min(3, level)
    _Layout(levels, _vocabulary(pages), out).run(pages)


class _Layout:
    """Gathers lines into paragraphs, rows into tables, and writes each when it ends."""

    def __init__(self, levels: dict[float, int], vocabulary: set[str], out: Builder) -> None:
        self.levels, self.vocabulary, self.out = levels, vocabulary, out
        self.below = max(levels.values(), default=0)  # headings that only their words or their weight betray
        self.paragraph: list[Line] = []
        self.rows: list[Line] = []

    def run(self, pages: list[list[Line]]) -> None:
        # A paragraph may run over the end of a page: it belongs to the page where it begins.
        for lines in pages:
            pitch = _pitch(lines)
            for line in lines:
                if line.gaps:
                    self.end_paragraph()
                    if self.rows and (len(self.rows[-1].gaps) != len(line.gaps) or self.rows[-1].page != line.page):
                        self.end_table()
                    self.rows.append(line)
                    continue
                self.end_table()
                if self.paragraph and not self.continues(self.paragraph[-1], line, pitch, lines):
                    self.end_paragraph()
                self.paragraph.append(line)
        self.end_table()
        self.end_paragraph()

    def continues(self, above: Line, line: Line, pitch: float, lines: list[Line]) -> bool:
        """Whether `line` belongs to the paragraph that `above` is in."""
        if MARK.match(line.text) or abs(above.size - line.size) > 0.6 or _LABEL.fullmatch(above.text):
            return False
        if above.page != line.page:
            return not _END.search(above.text) and line.text[:1].islower()
        step = above.bottom - line.bottom
        if step < -2 or step > 1.9 * line.size or (pitch and step > 1.35 * pitch):
            return False  # the next column, or a gap
        if above.size in self.levels or _DIVIDED.search(above.text):
            return True  # a heading of two lines, or a word that goes on
        if above.bold != line.bold and above.bold and _heading_like(above.text):
            return False
        # A line that had room for the next word ends its paragraph; one nearly full may do so after a full stop.
        first = self.paragraph[0].left
        edge = max(other.right for other in lines if abs(other.left - first) < 40 or other is line)
        word = (line.right - line.left) * (len(line.text.split(" ", 1)[0]) + 1) / len(line.text)
        room = edge - above.right
        return room < 1.1 * word + 2 * line.size and not (_END.search(above.text) and room > word + line.size)

    def end_table(self) -> None:
        rows, self.rows = self.rows, []
        if not rows:
            return
        self.out.page = rows[0].page
        cells = [row.cells() for row in rows]
        self.out.table()
        if len(rows) > 1 and table.looks_like_header(cells[0]):
            for _, sentence in table.sentences(cells, header=True):
                self.out.row(sentence)
        else:
            for row in cells:
                self.out.row("; ".join(row))
        self.out.table()

    def end_paragraph(self) -> None:
        lines, self.paragraph = self.paragraph, []
        if not lines:
            return
        self.out.page = lines[0].page
        first, text = lines[0], _joined(lines, self.vocabulary)
        numbered = NUMBERED.match(text)
        depth = (numbered.group(1) or "").count(".") if numbered else 0
        alone = len(lines) == 1 and _heading_like(text)
        if len(lines) <= 3 and first.size in self.levels and len(text) <= 200 and any(map(str.isalpha, text)):
            self.out.heading(text, self.levels[first.size] * 10)
        elif alone and _LABEL.fullmatch(text):
            self.out.heading(text, self.below * 10 + 5)  # "Article 7": what it is about may stand in the next line
        elif alone and (first.bold or depth):
            self.out.heading(text, (self.below + 1) * 10 + depth)
        elif MARK.match(text):
            self.out.items([(0, text)])
        else:
            self.out.paragraph(text)


def _pitch(lines: list[Line]) -> float:
    """The usual distance between lines of the page, in points."""
    steps = [above.bottom - line.bottom for above, line in pairwise(lines) if 0 < above.bottom - line.bottom < 60]
    return median(steps) if steps else 0.0


def _heading_like(text: str) -> bool:
    return len(text) <= 100 and not text.endswith((".", ",", ";")) and any(map(str.isalpha, text))


def _joined(lines: list[Line], vocabulary: set[str]) -> str:
    """One line of text. A word divided at a line end is put together, unless its hyphen looks like its own."""
    text = lines[0].text
    for line in lines[1:]:
        divided = _DIVIDED.search(text)
        if divided is None:
            text += " " + line.text
            continue
        first, second = divided.group(1).lower(), line.text.split()[0].strip(_AROUND).lower()
        compound = first in vocabulary and second in vocabulary and first + second not in vocabulary
        keep = compound or not line.text[:1].islower()  # "COVID-19", "log-book" where both are words of this document
        text = (text if keep else text[:-1]) + line.text
    return text


def _vocabulary(pages: list[list[Line]]) -> set[str]:
    return {word.strip(_AROUND).lower() for lines in pages for line in lines for word in line.text.split()[:-1]}
