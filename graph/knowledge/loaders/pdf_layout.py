"""From the lines of PDF pages to headings, paragraphs, lists and tables."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from statistics import mean, median

from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import TURN, Builder
from graph.knowledge.loaders.normalise import BULLETS
from graph.knowledge.loaders.text import BULLET, MARK, NUMBERED

FEW_LINES = 3  # lines at either end of a page among which running heads and feet are looked for
WIDE = 1.0  # times the height of the letters: a gap between two columns, not between two words
LONE_MARK = re.compile(
    rf"[-–{BULLETS}]+|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}})[.)]|\d{{1,2}}"
)  # with a gap after it: a list item
# The number of a clause: "2.1", "1.2.3", "§ 4", "Article 3".
_CLAUSE_NUMBER = (
    r"(?:\d{1,3}(?:\.\d{1,3}){1,5}\.?|§§? ?\d{1,4}[a-z]?\.?"
    r"|(?:Article|Section|Clause|Rule|Art\.|Sec\.) \d{1,3}[a-z]?[.:]?)"
)
HUNG = re.compile(rf"(?:{LONE_MARK.pattern})|{_CLAUSE_NUMBER}")  # with a wide gap after it: set out to the left
CLAUSE = re.compile(rf"{_CLAUSE_NUMBER}\s+(?=[^\W\d_a-z]|[\"“(])")
_RULE = re.compile(r"\b(?:shall|must|may|will|is|are|has|have|can|cannot|should)\b")
_BARE_NUMBER = re.compile(
    r"[-–— ]*(?:page|seite|p\.)?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/|von)\s*\d{1,4})?[-–— ]*", re.IGNORECASE
)
_PAGE_NUMBER = re.compile(
    r"\b(?:page|seite|p\.)\s*\d{1,4}(?:\s*(?:of|/|von)\s*\d{1,4})?|\b\d{1,4} of \d{1,4}\b", re.IGNORECASE
)
_OF_ITSELF = re.compile(
    r"\b(?:version|revision|rev\.? ?\w|v\.? ?\d|effective|valid (?:from|until)|in force|owner|approved|issued?\b|status"
    r"|draft|superseded|review(?:ed)?|document (?:no|number|id)|last updated|amended)\b",
    re.IGNORECASE,
)
_PRINTED = re.compile(r"\b(?:printed|downloaded|accessed)\b", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:article|section|chapter|part|annex|appendix)\s+(?:\d{1,3}[a-z]?|[IVXLC]{1,6}|[A-Z])", re.IGNORECASE
)
_DIVIDED = re.compile(r"([^\W\d_]{2,40})[-\u2010]$")
_LEADER = re.compile(r"(?:\.{4,}|(?:\. ){3,}|…{2,})\s*(?:\d{1,4}|[ivxlc]{1,6})?\s*$")  # of a table of contents
_LETTER = re.compile(r"\(([b-z])\) ")
_COUNT = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|[a-z]+teen|hundred|thousand"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty(?:-[a-z]{3,5})?)$",
    re.IGNORECASE,
)
_SAYS = re.compile(r"\w|[✓✔✗✘✕✖×☐☑☒⬜❏❑□■●○◯]")  # a tick says something, a dash or a dot does not
_CONTENTS = re.compile(r"(?:table of )?contents", re.IGNORECASE)
_GOES_ON = frozenset("a an and as at by for from in into is of on or that the to with which your our their".split())
_BOXES = frozenset("☐☑☒⬜❏❑□■ ")
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
    edges: list[tuple[float, float]] = field(default_factory=list)  # where each of the gaps begins and ends
    alone: bool = False  # a paragraph of its own, whatever stands around it
    scripts: list[tuple[int, int]] = field(default_factory=list)  # as `raised`, also within words
    # Of a mark set out to the left: its length, its right edge, and where the text begins.
    hung: tuple[int, float, float] | None = None
    row: bool = False  # a row of a table, with a gap for each column after the first

    def append(self, other: "Line", bordered: bool = False) -> None:
        """What stands behind it; `bordered` where a line is drawn between them."""
        gap = other.left - self.right
        if other.hung and {*self.text, other.text[0]} <= _BOXES:
            other = other.unhung()  # the second of several boxes before a text
        if hangs(self.text, other.text):
            self.hung = (len(self.text), self.right, other.left)
            self.text += "." if self.text.isdecimal() else ""
        elif gap > WIDE * max(self.size, other.size) or bordered:
            self.gaps.append(len(self.text))
            self.edges.append((self.right, other.left))
        space = " " if gap > 0.15 * self.size else ""
        start = len(self.text) + len(space)
        self.gaps += [start + offset for offset in other.gaps]
        self.edges += other.edges
        if other.size < 0.75 * self.size and other.bottom > self.bottom:
            self.raised.append((start, start + len(other.text)))
            self.scripts.append((start, start + len(other.text)))
        else:
            self.scripts += [(start + a, start + b) for a, b in other.scripts]
        self.text += space + other.text
        self.right = other.right
        self.size = max(self.size, other.size)

    def cells(self) -> list[str]:
        """The words between the wide gaps, from left to right."""
        return [self.text[start:end].strip() for start, end in pairwise([0, *self.gaps, len(self.text)])]

    def spans(self) -> list[tuple[int, int, float, float]]:
        """Of each cell: where it begins and ends in the text, and its left and right edge on the page."""
        lefts = [self.left, *(end for _, end in self.edges)]
        rights = [*(start for start, _ in self.edges), self.right]
        offsets = pairwise([0, *self.gaps, len(self.text)])
        return [
            (start + (start > 0), end, left, right)
            for (start, end), left, right in zip(offsets, lefts, rights, strict=True)
        ]

    def parts(self) -> "list[Line]":
        """Each cell as a line."""
        if not self.gaps:
            return [self]
        return [self._part(start, end, left, right) for start, end, left, right in self.spans()]

    def divided(self, x: float) -> "tuple[Line | None, Line | None]":
        """What lies before and behind a place that no cell lies across."""
        spans = self.spans()
        count = sum(right <= x for *_, right in spans)
        sides: list[Line | None] = []
        for side in (spans[:count], spans[count:]):
            if not side:
                sides.append(None)
                continue
            line = self._part(side[0][0], side[-1][1], side[0][2], side[-1][3])
            line.gaps = [span[1] - side[0][0] for span in side[:-1]]
            line.edges = [(one[3], two[2]) for one, two in pairwise(side)]
            sides.append(line)
        return sides[0], sides[1]

    def unhung(self) -> "Line":
        """The same with the mark in a cell of its own, as it is printed."""
        if self.hung is None:
            return self
        length, right, left = self.hung
        words = self.text[length:].removeprefix(".") if self.text[:length].isdecimal() else self.text[length:]
        cut = len(self.text) - length - len(words)
        gaps = [length, *(gap - cut for gap in self.gaps)]
        text = self.text[:length] + words
        edges = [(right, left), *self.edges]
        return Line(text, self.left, self.right, self.bottom, self.size, self.bold, self.page, gaps, edges=edges)

    def _part(self, start: int, end: int, left: float, right: float) -> "Line":
        raised = [(a - start, b - start) for a, b in self.raised if start <= a and b <= end]
        return Line(self.text[start:end], left, right, self.bottom, self.size, self.bold, self.page, raised=raised)

    def replace(self, start: int, end: int, text: str) -> None:
        """Put a text in place of a range of this one; offsets behind it move along."""
        more = len(text) - (end - start)
        self.text = self.text[:start] + text + self.text[end:]
        self.gaps = [gap + more if gap >= end else gap for gap in self.gaps]
        self.raised = [(a + more, b + more) if a >= end else (a, b) for a, b in self.raised]


def hangs(mark: str, text: str) -> bool:
    """Whether what stands before a gap is the mark or number of the text behind it, not one number of several."""
    if {mark[-1:], text[:1]} <= _BOXES:
        return False  # two boxes to tick
    return HUNG.fullmatch(mark) is not None and not (mark[-1:].isdecimal() and text[:1].isdecimal())


def same_row(left: Line, right: Line) -> bool:
    """Whether two lines that follow each other in the file stand side by side."""
    return abs(left.bottom - right.bottom) < 0.5 * max(left.size, right.size) and right.left > left.right - 1


def without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """Without lines at the edge that repeat from page to page, without bare page numbers, and without what is printed
    across every page."""
    if len(pages) < 2:
        return pages
    across = Counter(place for lines in pages for place in {_place(line) for line in lines if not line.gaps})
    most = max(3, len(pages) * 0.5)
    pages = [[line for line in lines if line.gaps or across[_place(line)] < most] for lines in pages]
    edges = [_edges(lines) for lines in pages]
    apart = Counter(pattern for lines in edges for line in lines for pattern in _patterns(line))
    outer = [_outer(lines) for lines in pages]
    repeated = Counter(pattern for lines in outer for line in lines for pattern in _patterns(line))
    often = max(2 if len(pages) < 4 else 3, len(pages) * 0.4)
    cleaned: list[list[Line]] = []
    known: set[str] = set()
    for lines, edge, near in zip(pages, edges, outer, strict=True):
        # What runs on most pages may have the text close to it on some.
        dropped = {
            id(line): line
            for line in near
            if any(repeated[p] >= often and apart[p] >= min(often, 3) for p in _patterns(line))
        }
        dropped |= {id(e): e for e in edge if _BARE_NUMBER.fullmatch(e.text)}
        says = [about for line in dropped.values() if (about := _about_document(line)) and about.text not in known]
        known |= {line.text for line in says}
        cleaned.append(says[:FEW_LINES] + [line for line in lines if id(line) not in dropped])
    return cleaned


def _about_document(line: Line) -> Line | None:
    """What a running head or foot says of its document, its version or from when it holds, without its page number."""
    cells = [_PAGE_NUMBER.sub("", cell).strip(" |-–—·•,") for cell in line.cells()]
    text = "; ".join(cell for cell in cells if cell)
    if not _OF_ITSELF.search(text) or _PRINTED.search(text):
        return None
    return replace(line, text=text, gaps=[], edges=[], raised=[], hung=None, alone=True)


def _edges(lines: list[Line]) -> list[Line]:
    """The lines at the first and last few heights, where they stand apart from the body of the page."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    if len(ordered) <= 2:
        return [line for line in ordered if _BARE_NUMBER.fullmatch(line.text)]
    edges = []
    for side in (ordered, ordered[::-1]):
        apart = 0
        for index, gap in _outermost(side):
            if gap > 1.8 * max(side[index].size, side[index + 1].size):
                apart = index + 1
        edges += side[:apart]
    return list({id(line): line for line in edges}.values())  # of a short page both sides reach the middle


def _outer(lines: list[Line]) -> list[Line]:
    """The lines at the first and last few heights of a page of more than two lines."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    if len(ordered) <= 2:
        return []
    return [side[index] for side in (ordered, ordered[::-1]) for index, _ in _outermost(side)]


def _outermost(side: list[Line]) -> Iterator[tuple[int, float]]:
    """The lines at the first few heights, by their place, each with how far the next one is."""
    heights = 0
    for index in range(len(side) - 1):
        gap = abs(side[index].bottom - side[index + 1].bottom)
        yield index, gap
        heights += gap > 0.5 * side[index].size
        if heights == FEW_LINES:
            return


def _place(line: Line) -> tuple[str, int, int]:
    return line.text, round(line.left / 4), round(line.bottom / 4)


def _patterns(line: Line) -> set[tuple[str, int]]:
    """What of a line would be the same on another page: all of it but its numbers, or one of its parts."""
    parts = [cell for cell in line.cells() if sum(map(str.isalpha, cell)) >= 6]
    return {(re.sub(r"\d+", "#", part), round(line.bottom / 4)) for part in (line.text, *parts)}


def write(pages: list[list[Line]], out: Builder) -> None:
    """Lines in larger letters than most are headings, of three levels at most."""
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
    vocabulary = {word.strip(_AROUND).lower() for lines in pages for line in lines for word in line.text.split()[:-1]}
    _Layout(levels, vocabulary, out).run(pages)


class _Layout:
    """Gathers lines into paragraphs, rows into tables, and writes each when it ends."""

    def __init__(self, levels: dict[float, int], vocabulary: set[str], out: Builder) -> None:
        self.levels, self.vocabulary, self.out = levels, vocabulary, out
        self.below = max(levels.values(), default=0)  # headings that only their words or their weight betray
        self.closest = 0.0  # a fifth of the lines of this page, or more, are as close to each other
        self.paragraph: list[Line] = []
        self.rows: list[Line] = []
        self.items: list[tuple[Line, str, list[int]]] = []
        self.pending: tuple[Line, str] | None = None  # a line that is a heading if anything stands below it
        self.contents = False  # whether the heading above is that of a table of contents

    def run(self, pages: list[list[Line]]) -> None:
        for lines in pages:
            distances = (above.bottom - line.bottom for above, line in pairwise(lines))
            steps = [distance for distance in distances if 0 < distance < 60]
            pitch = median(steps) if steps else 0.0
            self.closest = sorted(steps)[len(steps) // 5] if len(steps) > 3 else 0.0
            for line in lines:
                if _LEADER.search(line.text) or not re.search(r"\w", line.text):
                    continue
                if line.gaps and not stretched(line):
                    self.end_paragraph()
                    if self.rows and len(self.rows[-1].gaps) != len(line.gaps):
                        self.end_table()
                    self.rows.append(line)
                    continue
                self.end_table()
                if self.paragraph and not self.continues(self.paragraph[-1], line, pitch, lines):
                    self.end_paragraph()
                self.paragraph.append(line)
        self.end_table()
        self.end_paragraph()
        self.settle(followed=False)
        self.end_items()

    def continues(self, above: Line, line: Line, pitch: float, lines: list[Line]) -> bool:
        """Whether `line` belongs to the paragraph that `above` is in."""
        if (
            line.alone
            or above.alone
            or (MARK.match(line.text) and not self.mentions(line.text))
            or abs(above.size - line.size) > 0.6
            or _LABEL.fullmatch(above.text)
        ):
            return False
        if CLAUSE.match(line.text) and (line.hung or _END.search(above.text) or above.text[-1] in ",;"):
            return False
        first = self.paragraph[0]
        clause = first.hung or MARK.match(first.text) or CLAUSE.match(first.text)
        set_in = clause is not None and line.left > first.left + 3
        if above.page != line.page and set_in:
            return not _END.search(above.text)
        if above.page != line.page:
            open_end = above.text[-1] == "," or above.text.rsplit(" ", 1)[-1].lower() in _GOES_ON
            return not _END.search(above.text) and (line.text[:1].islower() or open_end)
        step = above.bottom - line.bottom
        if step < -2:  # the next column
            return line.left > above.left and not _END.search(above.text) and line.text[:1].islower()
        spaced = 1.15 * min(self.closest, 2.7 * line.size)  # up to double spacing
        if step > max(1.9 * line.size, spaced) or (pitch and step > 1.35 * max(pitch, line.size)):
            return False
        if above.size in self.levels or _DIVIDED.search(above.text):
            return True  # a heading of two lines, or a word that goes on
        if set_in:
            return True  # below the words of its item or clause
        small = line.text[:1].islower()
        if above.bold and not line.bold and _heading_like(above.text) and len(self.paragraph) == 1 and not small:
            return False
        # A line that had room for the next word ends its paragraph; one nearly full may do so after a full stop.
        edge = max(other.right for other in lines if abs(other.left - first.left) < 40 or other is line)
        word = (line.right - line.left) * (len(line.text.split(" ", 1)[0]) + 1) / len(line.text)
        room = edge - above.right
        if room < 1.1 * word + 2 * line.size:
            return not (_END.search(above.text) and room > word + line.size)
        # In a narrow column or cell there is no telling by its edge. A sentence goes on with a small letter.
        within = line.left > first.left - 3 and not _END.search(above.text)
        return within and (line.text[0].islower() or above.text.rsplit(" ", 1)[-1].lower() in _GOES_ON)

    def mentions(self, text: str) -> bool:
        """Whether a line that begins as an item does goes on with the paragraph: "(c) …" after "(a) …, (b) …" in its
        midst, "(3) …" after "three", or a dash between the words of an item with another sign."""
        first, last = self.paragraph[0].text, self.paragraph[-1].text
        if _END.search(last):
            return False
        if re.match(r"\(\d[\d,.]*\)", text) and _COUNT.search(last):
            return True
        if letter := _LETTER.match(text):
            return f" ({chr(ord(letter[1]) - 1)}) " in " ".join(line.text for line in self.paragraph)
        return text[:1] in "-–—" and text[2:3].islower() and first[:1] in BULLETS and last[-1] not in ",;"

    def end_table(self) -> None:
        rows, self.rows = self.rows, []
        if not rows:
            return
        cells = [[cell if _SAYS.search(cell) else "" for cell in row.cells()] for row in rows]
        rows = [row for row, filled in zip(rows, cells, strict=True) if any(filled)]
        cells = [row for row in cells if any(row)]
        if not cells or (self.contents and all(row[-1].isdecimal() for row in cells)):
            return
        self.settle(followed=True)
        self.end_items()
        starts = _heads_again(rows, cells)
        for start, end in pairwise([*starts, len(rows)]):
            self.table(rows[start:end], cells[start:end])

    def table(self, rows: list[Line], cells: list[list[str]]) -> None:
        self.out.table()
        if len(cells) > 1 and _headed(rows, cells):
            for number, sentence in table.sentences(cells, header=True):
                self.out.page = rows[number - 1].page
                self.out.row(sentence)
        else:
            for line, filled in zip(rows, cells, strict=True):
                self.out.page = line.page
                self.out.row(_without_headings([cell for cell in filled if cell]))
        self.out.table()

    def end_paragraph(self) -> None:
        lines, self.paragraph = self.paragraph, []
        if not lines:
            return
        first, text = lines[0], running_text(lines, self.vocabulary)
        turns = [line.page for above, line in pairwise(lines) if above.page != line.page]
        if MARK.match(text) and not self.heads(lines, text):
            self.settle(followed=True)
            self.items.append((first, text, turns))
            return
        heading = self.titled(lines, text) or (len(lines) == 1 and _heading_like(text) and first.bold)
        depth = _depth(text)
        self.settle(followed=not heading and (depth == 0 or self.pending is None or depth > _depth(self.pending[1])))
        if not heading and len(lines) == 1 and _heading_like(text) and _numbered_heading(text):
            self.pending = first, text
            return
        self.end_items()
        self.out.page = first.page
        if self.contents and first.text[:1].islower():
            return
        self.contents = _CONTENTS.fullmatch(text) is not None
        alone = len(lines) == 1 and _heading_like(text)
        if self.titled(lines, text):
            self.out.heading(text, self.levels[first.size] * 10)
        elif alone and _LABEL.fullmatch(text):
            self.out.heading(text, self.below * 10 + 5)  # "Article 7": what it is about may stand in the next line
        elif alone and first.bold:
            self.out.heading(text, (self.below + 1) * 10 + depth)
        else:
            self.out.paragraph(text, turns)

    def settle(self, followed: bool) -> None:
        """The numbered line that waits: a heading where something stands below it, else an item of a list, such as
        "1.1 Minutes", "1.2 Reports" of an agenda."""
        pending, self.pending = self.pending, None
        if pending is None:
            return
        line, text = pending
        if not followed:
            self.items.append((line, text, []))
            return
        self.end_items()
        self.out.page = line.page
        self.contents = False
        self.out.heading(text, (self.below + 1) * 10 + _depth(text))

    def titled(self, lines: list[Line], text: str) -> bool:
        """Whether large letters say that lines are a heading: no statement, and not many."""
        if lines[0].size not in self.levels or len(text) > 200 or not any(map(str.isalpha, text)):
            return False
        return len(lines) <= 6 and not (len(text) > 60 and _END.search(text) and text[-1] != ":")

    def heads(self, lines: list[Line], text: str) -> bool:
        """Whether a line that begins as an item does is a heading: "1. Scope" in large or bold letters."""
        if BULLET.match(text):
            return False
        alone = len(lines) == 1 and _heading_like(text)
        return self.titled(lines, text) or (alone and (lines[0].bold or _numbered_heading(text)))

    def end_items(self) -> None:
        """A list: what stands further in is below what stands before it."""
        items, self.items = self.items, []
        if not items:
            return
        self.out.page = items[0][0].page
        lefts: list[float] = []
        listed: list[tuple[int, str]] = []
        pages: list[int] = []
        page = items[0][0].page
        for line, text, turns in items:
            if line.page != page:  # the list goes on over the end of a page
                listed[-1] = (listed[-1][0], listed[-1][1] + TURN)
                pages.append(line.page)
            pages += turns
            page = pages[-1] if pages else page
            while lefts and line.left < lefts[-1] - 6:
                lefts.pop()
            if not lefts or line.left > lefts[-1] + 6:
                lefts.append(line.left)
            listed.append((len(lefts) - 1, text))
        self.out.items(listed, pages)


def ends_sentence(text: str) -> bool:
    """Whether it ends with a stop or colon, quotes and brackets behind that aside."""
    return _END.search(text) is not None


def stretched(line: Line) -> bool:
    """Whether the wide gaps of a line only fill it up to the edge: its pieces go on with small letters."""
    if line.row:
        return False
    cells = line.cells()[1:]
    return len(cells) >= 2 and sum(cell[:1].islower() for cell in cells) >= 0.6 * len(cells)


def _without_headings(row: list[str]) -> str:
    """A row whose columns have no headings: a name and its value, several of them, or its cells."""
    if len(row) % 2 == 0 and all(cell.endswith(":") for cell in row[::2]):
        return "; ".join(f"{name} {value}" for name, value in zip(row[::2], row[1::2], strict=True))
    key = len(row) == 2 and len(row[0]) <= 60 and row[0][-1] not in "!?;:"
    return (": " if key else "; ").join(row)


def _heads_again(rows: list[Line], cells: list[list[str]]) -> list[int]:
    """Where a table, or another part of it with headings of its own, begins: each has a bold row over rows that are
    not bold."""
    bold = [row.bold and sum(map(bool, filled)) > 1 for row, filled in zip(rows, cells, strict=True)]
    again = [at for at in range(1, len(rows) - 1) if bold[at] and not bold[at - 1] and not bold[at + 1]]
    return [0, *(again if bold[0] else [])]


def _headed(rows: list[Line], cells: list[list[str]]) -> bool:
    """Whether the first row holds the headings of the others: it alone is bold, or it has words where these have
    numbers. A table of two columns is a list of names and values unless its first row is bold."""
    filled = sum(map(bool, cells[0]))
    if not table.looks_like_header(cells[0]) or filled < max(sum(map(bool, row)) for row in cells):
        return False
    if rows[0].bold and not rows[1].bold:
        return True
    if len(cells[0]) == 2 and max(map(len, cells[0])) < 30:
        return mean(len(row[0]) for row in cells[1:]) > 30  # no names, but text on both sides
    return len(cells[0]) > 2 and not any(map(str.isdecimal, "".join(cells[0])))


def _depth(text: str) -> int:
    """How many levels below the first its number says: 2 of "1.2.3 Scope", 0 without a number."""
    numbered = NUMBERED.match(text)
    return (numbered.group(1) or "").count(".") if numbered else 0


def _numbered_heading(text: str) -> bool:
    """Whether a number of two parts or more and the words say heading: no rule, and no sentence that a list goes on
    with."""
    introduces = text.endswith(":") and text.count(" ") > 2
    return _depth(text) > 0 and not introduces and _RULE.search(text) is None


def _heading_like(text: str) -> bool:
    return len(text) <= 100 and not text.endswith((".", ",", ";")) and any(map(str.isalpha, text))


def running_text(lines: list[Line], vocabulary: set[str]) -> str:
    """One line of text, with a TURN where a page ends. A word divided at a line end is put together, unless its hyphen
    looks like its own."""
    text = lines[0].text
    for above, line in pairwise(lines):
        turn = "" if above.page == line.page else TURN
        divided = _DIVIDED.search(text)
        if divided is None:
            named = not any(map(str.isspace, f"{above.text}{line.text}"))  # one below another, as in a list of files
            text += ("\n" if named else " ") + turn + line.text
            continue
        first, second = divided.group(1).lower(), line.text.split()[0].strip(_AROUND).lower()
        compound = first in vocabulary and second in vocabulary and first + second not in vocabulary
        known = first + second in vocabulary
        # "COVID-19", and "log-book" where both are words of this document
        keep = not known and (compound or not line.text[:1].islower())
        text = (text if keep else text[:-1]) + turn + line.text
    return text
