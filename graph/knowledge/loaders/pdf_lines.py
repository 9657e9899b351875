"""A line of a PDF page: its words, its place, and the gaps, marks and raised signs in it."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from graph.knowledge.loaders.normalise import BULLETS

WIDE = 1.0  # times the height of the letters: a gap between two columns, not between two words
MOSTLY = 0.8  # of the lines with a sign before them are items
LONE_MARK = re.compile(
    rf"[-–{BULLETS}]+|\(?(?:\d{{1,3}}|[a-zA-Z]|[ivx]{{1,5}}|[IVX]{{1,5}})[.)]|\d{{1,2}}"
)  # with a gap after it: a list item
# The number of a clause: "2.1", "1.2.3", "§ 4", "Article 3".
_CLAUSE_NUMBER = (
    r"(?:\d{1,3}(?:\.\d{1,3}){1,5}\.?|§§? ?\d{1,4}[a-z]?\.?"
    r"|(?:Article|Section|Clause|Rule|Art\.|Sec\.) \d{1,3}[a-z]?[.:]?)"
)
HUNG = re.compile(rf"(?:{LONE_MARK.pattern})|{_CLAUSE_NUMBER}")  # with a wide gap after it: set out to the left
CLAUSE = re.compile(rf"{_CLAUSE_NUMBER}\s+(?=[^\W\d_a-z]|[\"“(])")
NAMED = re.compile(r"[^\W\d_a-z][^:.;,]{1,30}:(?!\S)")  # "Date: 08-2013", "Replaces:"
_BOXES = frozenset("☐☑☒⬜❏❑□■ ")


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
    turned: int = 0  # 1 where it runs up the page, -1 down
    sizes: list[float] = field(default_factory=list)  # of each cell, as the page has them
    row: bool = False  # a row of a table, with a gap for each column after the first
    head: bool = False  # the headings of a table, whatever they look like

    def first_word(self) -> float:
        """How wide its first word is with the blank behind it, in points, were all its letters alike."""
        return (self.right - self.left) * (len(self.text.split(" ", 1)[0]) + 1) / max(1, len(self.text))

    def append(self, other: "Line", bordered: bool = False) -> None:
        """What stands behind it; `bordered` where a line is drawn between them."""
        gap = other.left - self.right
        if other.hung and {*self.text, other.text[0]} <= _BOXES:
            other = other.unhung()  # the second of several boxes before a text
        if gap > 0.15 * self.size and hangs(self.text, other.text):
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


_SQUARE = re.compile(r"§ [^\W\d_]")  # "§ Keyboarding"; a section has a number


def hangs(mark: str, text: str) -> bool:
    """Whether what stands before a gap is the mark or number of the text behind it, not one number of several."""
    if {mark[-1:], text[:1]} <= _BOXES:
        return False  # two boxes to tick
    return HUNG.fullmatch(mark) is not None and not (mark[-1:].isdecimal() and text[:1].isdecimal())


def with_bullets(pages: list[list[Line]]) -> list[list[Line]]:
    """The same with a bullet for a sign that marks items of a list: some word processors put "$", "§" or "<" there, in
    a font that drew it otherwise. It stands alone before lines of words, twice or more, and seldom before an amount."""
    sections = [line for lines in pages for line in lines if _SQUARE.match(line.text)]
    for line in sections if len(sections) > 1 else ():
        line.text = "•" + line.text[1:]
    marked: dict[str, list[Line]] = {}
    for line in (line for lines in pages for line in lines if line.gaps):
        if line.gaps[0] == 1 and not line.text[0].isalnum() and line.text[0] not in BULLETS:
            marked.setdefault(line.text[0], []).append(line)
    for lines in marked.values():
        items = [line for line in lines if sum(map(str.isalpha, line.text)) > len(line.text) // 2]
        if len(items) < max(2, MOSTLY * len(lines)):
            continue
        for line in items:
            line.hung = (1, *line.edges[0])
            line.text = "•" + line.text[1:]
            line.gaps, line.edges = line.gaps[1:], line.edges[1:]
    return pages


def same_row(left: Line, right: Line) -> bool:
    """Whether two lines that follow each other in the file stand side by side."""
    return abs(left.bottom - right.bottom) < 0.5 * max(left.size, right.size) and right.left > left.right - 1
