"""The lists and tables of the evidence, whole: put together again where chunks divide them.

Passages of one document follow each other by their places in it. What is listed is the items of a list, the rows of a
table, the headings under a heading, or the labels of several lists in a row ("Head of Security", "System owners"); an
item inside an item is a list of its own.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graph.knowledge.extensions import ROWS
from graph.policy.evidence.redaction import to_source
from graph.policy.text import structure
from graph.policy.text.quantities import cells
from graph.policy.text.structure import SEPARATOR, Line

Kind = Literal["items", "rows", "headings"]

_LEAD = 400  # characters of what introduces a list, at most
_LABEL = re.compile(r"[^\n.!?;]{1,80}[^\n.!?;:]:?")  # a line that names the list below it
_BARE = re.compile(r"[^\n]{3,120}[^\s.!?:;,]")  # a line of a list without marks
_GOES_ON = re.compile(r"[^\n]{3,600}[;,](?: (?:and|or|and/or))?")  # one of a list of clauses without marks
FEWEST_BARE = 4
ALIKE = 0.8  # of the columns of two tables: parts of one
GAP = 4  # characters between two passages that follow each other: an empty line


@dataclass(slots=True)
class Entry:
    """`text[start:end]` of source `n`, verbatim: an item with what is inside it, a row, or a heading."""

    n: int
    start: int
    end: int
    text: str
    cells: tuple[tuple[str, str], ...] = ()  # heading and value, of a row
    below: list["Entry"] = field(default_factory=list)  # the lines that stand under a heading

    @property
    def first_line(self) -> str:
        return self.text.split("\n", 1)[0]

    def value(self, heading: str) -> str:
        """The empty text where the row has no such cell."""
        return next((value for name, value in self.cells if name == heading), "")


@dataclass(slots=True)
class Enumeration:
    """What is listed in one place. `lead` introduces it, `path` are the headings above it, the title first."""

    kind: Kind
    path: tuple[str, ...]
    lead: Entry | None
    entries: list[Entry] = field(default_factory=list)
    begins: bool = True  # of headings: whether the one above them was read, or the beginning of the document
    ends: bool = True  # of headings: whether one of a higher level was read behind them

    @property
    def headings(self) -> list[str]:
        """Of the columns, in the order in which they come."""
        return list(dict.fromkeys(name for entry in self.entries for name, _ in entry.cells))


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a source; `block` tells lines apart between which there is an empty line."""

    item: Any
    line: Line
    block: tuple[int, int]
    row: bool

    @property
    def text(self) -> str:
        """Without the mark of a heading or an item."""
        return str(self.item["text"][self.line.words : self.line.end])

    def entry(self, cells: tuple[tuple[str, str], ...] = ()) -> Entry:
        """The line alone, without what stands inside or below it."""
        return Entry(self.item["n"], self.line.words, self.line.end, self.text, cells)


def enumerations(evidence: Sequence[Mapping[str, Any]]) -> list[Enumeration]:
    """Those of two entries and more, by document in the order of the evidence."""
    listed: list[Enumeration] = []
    for run in runs(evidence):
        reader = _Reader(run[0].item)
        for place in run:
            reader.read(place)
        listed += reader.listed
    listed = _joined(listed, evidence)
    return [one for one in [*listed, *_in_parts(listed, evidence)] if len(one.entries) > 1]


def _in_parts(listed: Sequence[Enumeration], evidence: Sequence[Mapping[str, Any]]) -> list[Enumeration]:
    """Tables of the same columns below the headings of one section, as one: a register that is divided by kind."""
    of = {item["n"]: document_of(item) for item in evidence}
    parts: dict[tuple[tuple[str, str], tuple[str, ...]], list[Enumeration]] = {}
    for one in listed:
        if one.kind == "rows" and len(one.path) > 1:
            parts.setdefault((of[one.entries[0].n], one.path[:-1]), []).append(one)
    whole = []
    for (_, path), tables in parts.items():
        columns = [{*one.headings} for one in tables]
        alike = [
            one
            for one, own in zip(tables, columns, strict=True)
            if len(own) > 2 and len(own & columns[0]) >= ALIKE * len(own | columns[0])
        ]
        if len({one.path for one in alike}) > 1:
            whole.append(Enumeration("rows", path, None, [entry for one in alike for entry in one.entries]))
    return whole


def _joined(listed: Sequence[Enumeration], evidence: Sequence[Mapping[str, Any]]) -> list[Enumeration]:
    """With the rows of one long table, which were looked up wherever they stand, in one."""
    of = {item["n"]: document_of(item) for item in evidence}
    long = {document_of(item) for item in evidence if item.get("why") == ROWS}
    tables: dict[tuple[tuple[str, str], tuple[str, ...]], Enumeration] = {}
    joined = []
    for one in listed:
        place = of[one.entries[0].n], one.path
        if one.kind != "rows" or place[0] not in long:
            joined.append(one)
        elif place not in tables:
            tables[place] = one
            joined.append(one)
        else:
            tables[place].entries.extend(one.entries)
    return joined


def document_of(item: Mapping[str, Any]) -> tuple[str, str]:
    """Of which document a passage is."""
    return item["where"], item["doc_id"]


def end_of(item: Mapping[str, Any]) -> int:
    """Where a passage ends in its document, as nearly as is known of one that is masked."""
    return int(item["start"] + to_source(item["edits"], 0, len(item["text"]))[1])


def runs(evidence: Sequence[Mapping[str, Any]]) -> Iterator[list[Place]]:
    """The lines of passages that follow each other in one document, each line once."""
    documents: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for item in evidence:
        documents.setdefault(document_of(item), []).append(item)
    for items in documents.values():
        yield from _runs(sorted(items, key=lambda item: item["start"]))


def _runs(items: Iterable[Mapping[str, Any]]) -> Iterator[list[Place]]:
    """The lines of passages that follow each other without a gap, each line once."""
    run: list[Place] = []
    reached = -1
    for item in items:
        text, start = item["text"], item["start"]
        if run and start > reached + GAP:
            yield run
            run = []
        for block in structure.blocks(text):
            row = structure.tabular(text, block)
            for line in block:
                if start + to_source(item["edits"], line.start, line.end)[0] >= reached:
                    run.append(Place(item, line, (item["n"], line.block), row))
        reached = end_of(item)
    if run:
        yield run


def _number(place: Place) -> int:
    """Of an item ("3." or "3)"); 0 where it has none."""
    mark = str(place.item["text"][place.line.start : place.line.words]).strip(" .)")
    return int(mark) if mark.isdecimal() and len(mark) < 4 else 0


class _Reader:
    """Reads the lines of one run."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        self.title: str = first["title"]
        self.from_start = first["start"] == 0
        self.paths: set[tuple[str, ...]] = set()  # of the headings that were read
        self.path: list[str] = first["section"].split(SEPARATOR) if first["section"] else []
        self.listed: list[Enumeration] = []
        self.lists: list[tuple[int, Enumeration]] = []  # that a further item may go on, by level
        self.numbered: list[tuple[int, int, list[str], Enumeration]] = []  # level, last number, path
        self.table: Enumeration | None = None
        self.bare: Enumeration | None = None  # lines without marks
        self.clauses_open = False  # whether the paragraph above goes on in this one
        self.named: dict[tuple[str, ...], Enumeration] = {}  # headings and labels, by the path above them
        self.under: list[tuple[int, Entry]] = []  # headings that are open, by level
        self.above: Place | None = None  # the paragraph above, which may introduce what follows
        self.last: Place | None = None

    def read(self, place: Place) -> None:
        line = place.line
        if line.kind == "heading":
            self._heading(place)
            return
        for _, entry in self.under:
            entry.below.append(place.entry())
        if place.row or line.kind != "text":
            self._end_bare()
            self.clauses_open = False
        if place.row:
            self._row(place)
        elif line.kind == "item":
            self._item(place)
        elif self.lists and line.kind == "text" and self.last and place.block == self.last.block:
            self._lengthen(place, self.lists)
        else:
            self._paragraph(place)
        self.last = place

    def _heading(self, place: Place) -> None:
        self.bare, self.clauses_open = None, False
        level = place.line.level
        entry = place.entry()
        for above, one in self.named.items():
            one.ends |= len(above) >= level
        self.path = [*self.path[: level - 1], structure.name(entry.text)]
        self.paths.add(tuple(self.path))
        self.lists, self.table, self.above, self.last = [], None, None, None
        self.under = [*((depth, one) for depth, one in self.under if depth < level), (level, entry)]
        self._name(tuple(self.path[:-1]), entry)

    def _name(self, above: tuple[str, ...], entry: Entry) -> None:
        if above not in self.named:
            parent = tuple(name for name in above if name)
            begins = self.from_start or parent in self.paths
            self.named[above] = Enumeration("headings", self._path(parent), None, [], begins, False)
            self.listed.append(self.named[above])
        self.named[above].entries.append(entry)

    def _row(self, place: Place) -> None:
        row = cells(place.item["text"][place.line.start : place.line.end])
        self.lists = []
        if self.table is None or not {name for name, _ in row} & {*self.table.headings}:
            self.table = Enumeration("rows", self._path(self.path), self._lead())
            self.listed.append(self.table)
        self.table.entries.append(place.entry(row))

    def _item(self, place: Place) -> None:
        level, number = place.line.level, _number(place)
        self.table = None
        self.lists = [(depth, one) for depth, one in self.lists if depth <= level]
        if before := self._before(level, number):
            self.lists = [*((depth, one) for depth, one in self.lists if depth < level), (level, before)]
        if not self.lists or self.lists[-1][0] < level:
            inside = self.lists[-1][1].entries[-1] if self.lists else None
            lead = inside or self._lead()
            if lead and not inside and _LABEL.fullmatch(lead.text):
                self._name((*self.path, ""), lead)
            self.lists.append((level, Enumeration("items", self._path(self.path), lead)))
            self.listed.append(self.lists[-1][1])
        self._lengthen(place, self.lists[:-1])
        self.lists[-1][1].entries.append(place.entry())
        if number:
            self.numbered = [one for one in self.numbered if one[3] is not self.lists[-1][1]]
            self.numbered.append((level, number, [*self.path], self.lists[-1][1]))

    def _before(self, level: int, number: int) -> Enumeration | None:
        """The list that an item with this number goes on, where paragraphs or lower headings stood between."""
        if number < 2 or (self.lists and self.lists[-1][0] == level):
            return None
        return next(
            (
                one
                for depth, last, path, one in reversed(self.numbered)
                if depth == level and last == number - 1 and self.path[: len(path)] == path
            ),
            None,
        )

    def _lengthen(self, place: Place, lists: Iterable[tuple[int, Enumeration]]) -> None:
        """A line that stands inside the last item of each list."""
        for _, one in lists:
            entry = one.entries[-1]
            if entry.n == place.item["n"]:
                one.entries[-1] = Entry(
                    entry.n, entry.start, place.line.end, place.item["text"][entry.start : place.line.end]
                )

    def _paragraph(self, place: Place) -> None:
        """Between numbered items a paragraph belongs to the one above; others end there. Below a heading or a
        lead, short lines that say no sentence are a list without marks: names, addresses."""
        self.table = None
        if self._clause(place):
            return
        led = self.bare is not None or self.above is None or self.above.text.rstrip().endswith(":")
        if not (led and _BARE.fullmatch(place.text) and place.line.kind == "text"):
            self._end_bare()
        else:
            if self.bare is None:
                self.bare = Enumeration("items", self._path(self.path), self._lead())
            self.bare.entries.append(place.entry())
            if len(self.bare.entries) == FEWEST_BARE:
                self.listed.append(self.bare)
        if self.lists:
            _, one = self.lists[0]
            before = self.last.item["text"] if self.last else ""
            mark = before[before.rfind("\n", 0, one.entries[-1].start) + 1 : one.entries[-1].start].strip()
            self.lists = self.lists[:1] if mark[:1].isdigit() and place.line.kind == "text" and place.line.level else []
        self.above = place

    def _clause(self, place: Place) -> bool:
        """Whether a paragraph is one of a list without marks below a lead with a colon: "Denial of services; or". All
        but the last end with a semicolon or comma."""
        goes_on = place.line.kind == "text" and _GOES_ON.fullmatch(place.text) is not None
        if not self.clauses_open:
            if not goes_on or self.above is None or not self.above.text.rstrip().endswith(":"):
                return False
            self._end_bare()
            self.listed.append(Enumeration("items", self._path(self.path), self._lead()))
        self.listed[-1].entries.append(place.entry())
        self.clauses_open, self.lists = goes_on, []
        self.above = self.above if goes_on else place
        return True

    def _end_bare(self) -> None:
        """What stands below lines without marks, but a heading, says that they were no list, or not all of it."""
        self.listed = [one for one in self.listed if one is not self.bare]
        self.bare = None

    def _lead(self) -> Entry | None:
        above = self.above
        return above.entry() if above and above.line.end - above.line.start <= _LEAD else None

    def _path(self, path: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for name in (self.title, *path) if name))
