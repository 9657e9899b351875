"""The smallest parts of a text that an answer may quote: those that keep their meaning when quoted alone.

A sentence; an item of a list with what introduces it; a short list whole; a row of a table; a piece of code. Headings
are never quoted: each unit says which stand above it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from graph.policy.text import structure
from graph.policy.text.sentences import split
from graph.policy.text.structure import Line

Kind = Literal["sentence", "list", "item", "row", "code"]
Range = tuple[int, int]

# A sentence that begins so needs the one before it: it has a pronoun for it, speaks of its case, or refers to more.
_POINTS_BACK = re.compile(
    r"(?:It|Its|They|Their|He|She|His|Her|This|These|Those|That|See|Refer to|Here|Such|Otherwise"
    r"|The (?:former|latter)|If (?:so|not|this is|that is)|In (?:this|that|such a|either) case"
    r"|(?:\w+ ){0,6}?(?i:after|before|by|until|at|within|on|from|below|above) (?:such|that|this)"
    r" (?:time|date|day|period|deadline|hour|amount|limit|point|age|size))\b"
)
_OF_TWO = re.compile(r"The latter\b")  # which goes on from "the former", and that from what it points back to
_PAIR_CHARS = 450
_LIST_CHARS = 1_200  # a longer list is quoted item by item
_ITEM_CHARS = 700  # a longer item is quoted by what it is made of
_LEAD_CHARS = 400  # a longer sentence introduces nothing
_CAPTION = re.compile(r"(?:table|tab\.|figure|fig\.|exhibit)\s*[\dA-Z]", re.I)
_BULLETS = "-*•–"
# A line without punctuation at its end names what follows, as a heading does: some texts have no marks of headings.
_LABEL = re.compile(r"[^\n]{0,80}[^\n.!?:;,]")
# What an item is about, before what it says of it: "Recommends: a strong, but not absolute, dependency".
_TERM = re.compile(r"(?:\d+[.)] )?([^\n:.!?;]{1,60}):(?=\s|$)")
# Words of a heading that say the opposite of what follows.
_TURNS = re.compile(
    r"\b(?:avoid\w*|not|never|don['’]?t|mistakes?|pitfalls?|wrong|bad|prohibited|forbidden|withdrawn|obsolete)\b", re.I
)
# What says something only of the heading above it: "Treasurer" below a name.
_VALUE = re.compile(r"(?:[^\s:;.!?]+ ){0,5}[^\s:;.!?]+")
# A heading that says something by itself, as "Coverage is at least 90%" does.
_STATES = re.compile(
    r"(?!.*\?\W*$).*\w \b(?:is|are|must|shall|should|may|can|cannot|will|has|have|needs?|requires?)\b.* \w+", re.I
)


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]`, verbatim.

    `lead` is the range of what introduces it and is not part of it: the sentence above its list, the item above it, the
    caption of its table, a heading that turns it round. `whole` is the range of the list or table that it is part of.
    `parts` are the items of a list, each of which may be quoted alone with its lead.
    """

    start: int
    end: int
    kind: Kind
    headings: tuple[str, ...] = ()  # above it in the text, the outermost first
    lead: Range | None = None
    whole: Range | None = None
    parts: tuple["Unit", ...] = ()

    def __iter__(self) -> Iterator[int]:
        return iter((self.start, self.end))


def units(text: str) -> list[Unit]:
    """In their order. Every word is in one but for headings; two overlap where a sentence that points back is given
    with the one before it, and where a sentence introduces a list.

    A list of at most _LIST_CHARS is one unit with the sentence that introduces it; a longer one is a unit for each
    item. What stands under a heading that turns it round ("Patterns to avoid") is quoted with that heading, or led by
    it.
    """
    reader = _Reader(text)
    for block in structure.blocks(text):
        reader.read(block)
    return reader.units


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.units: list[Unit] = []
        self.path: list[tuple[int, str]] = []
        self.above: list[Line] = []  # the paragraph right above, which may introduce what follows
        self.turned: Range | None = None  # the heading that turns round what follows
        self.stated: Range | None = None  # the heading that says something itself
        self.heading: Range | None = None  # the last one
        self.first = False  # whether nothing stands between it and the block

    def read(self, block: list[Line]) -> None:
        start, end = block[0].start, block[-1].end
        if block[0].kind == "heading":
            level, name = block[0].level, structure.name(self.text[start:end])
            self.path = [*((depth, title) for depth, title in self.path if depth < level), (level, name)]
            self.above, self.turned, self.first = [], self.turn(start, end), True
            self.stated = (start, end) if _STATES.match(name) else None
            self.heading = (start, end)
            return
        listed = next((at for at, line in enumerate(block) if line.kind == "item"), len(block))
        lone = len(block) == 1 and self.text[block[0].start] not in _BULLETS  # "1. Scope. This policy ..."
        if block[0].kind == "code":
            self.units.append(Unit(start, end, "code", self.headings(), self.lead()))
        elif structure.tabular(self.text, block):
            lead = self.caption()
            self.units += [Unit(x.start, x.end, "row", self.headings(), lead, (start, end)) for x in block]
        elif listed < len(block) and not lone:
            if listed:
                self.sentences(block[:listed])
                if start == 0 and self.text[block[listed - 1].end - 1] != ":":
                    self.above = []  # a part that begins inside a list: this is the end of an item
            self.items(block[listed:])
        else:
            self.sentences(block)
            self.first = False
            return
        self.above = block if len(block) == 1 and listed == 0 else []  # a lone item may name what follows
        self.first = False

    def headings(self) -> tuple[str, ...]:
        label = [self.text[self.above[0].words : self.above[0].end]] if self.label() else []
        return (*(name for _, name in self.path), *label)

    def label(self) -> bool:
        if len(self.above) != 1:
            return False
        start, end = self.above[0].start, self.above[0].end
        return _LABEL.fullmatch(self.text, start, end) is not None

    def turn(self, start: int, end: int) -> Range | None:
        return (start, end) if _TURNS.search(self.text, start, end) else None

    def sentences(self, block: list[Line]) -> None:
        names, turned, first = self.headings(), self.turned, self.first
        if self.label() and not self.path:  # a heading without a mark reaches as far as the next paragraph
            turned, first = self.turn(self.above[0].start, self.above[0].end), True
        value = len(block) == 1 and first and _VALUE.fullmatch(self.text, block[0].start, block[0].end)
        for line in block:
            spans = [(line.start + a, line.start + b) for a, b in split(self.text[line.start : line.end])]
            for start, end in _with_antecedents(self.text, spans):
                heading = (turned or self.stated or (self.heading if value else None)) if first else None
                if heading and end - heading[0] <= _LIST_CHARS and (turned or start == spans[0][0]):
                    self.units.append(Unit(heading[0], end, "sentence", names))
                else:
                    self.units.append(Unit(start, end, "sentence", names, turned))
        self.above = block

    def lead(self) -> Range | None:
        """The sentence that introduces what follows: the last one above, or a heading that turns it round."""
        if not self.above:
            return self.turned or (self.stated if self.first else None)
        line = self.above[-1]
        start, end = split(self.text[line.start : line.end])[-1]
        return (line.start + start, line.start + end) if end - start <= _LEAD_CHARS else None

    def caption(self) -> Range | None:
        lead = self.lead()
        if lead is None or lead == self.turned or self.text[lead[1] - 1] == ":" or self.label():
            return lead
        return lead if _CAPTION.match(self.text, lead[0]) else None

    def items(self, block: list[Line]) -> None:
        label = self.label()
        names = tuple(name for _, name in self.path) if label else self.headings()
        lead, start, end = self.lead(), block[0].start, block[-1].end
        far = lead is not None and lead == self.turned and not self.first
        if lead and not far:
            start = lead[0]
        parts = [part for item in _items(block) for part in self.item(item, names, lead, (start, end))]
        if end - start > _LIST_CHARS:
            self.units += parts
            return
        if self.units and (self.units[-1].start, self.units[-1].end) == lead and self.text[lead[1] - 1] not in ".!?":
            self.units.pop()  # it says nothing without the list below it
        turned = self.turned if self.turned and start > self.turned[0] else None
        self.units.append(Unit(start, end, "list", names, turned, None, tuple(parts)))

    def item(self, item: list[Line], names: tuple[str, ...], lead: Range | None, whole: Range) -> list[Unit]:
        """An item with what is inside it as one unit, or as several where it is long."""
        head = item[0]
        kind: Kind = "item" if head.kind == "item" else "sentence"
        start = head.words if self.text[head.start] in _BULLETS else head.start
        own = next((at for at, line in enumerate(item[1:], 1) if line.kind == "item"), len(item))
        inner = _items(item[own:])
        own_range = start, item[own - 1].end
        within = [part for sub in inner for part in self.item(sub, names, own_range, whole)]
        if item[-1].end - start <= _ITEM_CHARS:
            return [Unit(start, item[-1].end, kind, names, lead, whole, tuple(within))]
        if own_range[1] - own_range[0] <= _ITEM_CHARS:
            return [Unit(*own_range, kind, names, lead, whole), *within]
        spans = [(start + a, start + b) for a, b in split(self.text[own_range[0] : own_range[1]])]
        pairs = _with_antecedents(self.text, spans)
        if term := _TERM.match(self.text, start, head.end):
            names = (*names, term[1])
        return [*(Unit(a, b, "sentence", names, lead, whole) for a, b in pairs), *within]


def _items(block: list[Line]) -> list[list[Line]]:
    """The items of the upper level, each with the lines below it."""
    items: list[list[Line]] = []
    for line in block:
        if items and line.level > items[-1][0].level and (line.kind == "text" or items[-1][0].kind == "item"):
            items[-1].append(line)
        else:
            items.append([line])
    return items


def _with_antecedents(text: str, spans: list[Range]) -> list[Range]:
    """Sentences; one that begins with "it" or "see" is quoted together with the one before, which says what it is."""
    ranges = spans[:1]
    for (begin, _), (start, end) in pairwise(spans):
        if _OF_TWO.match(text, start):
            begin = ranges[-1][0]
        whole = _POINTS_BACK.match(text, start) is not None and end - begin <= _PAIR_CHARS
        ranges.append((begin if whole else start, end))
    return ranges
