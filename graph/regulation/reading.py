"""The units of a Document that the loader wrote, with their places in its text and what holds them."""

import re
from dataclasses import dataclass

from graph.knowledge.document import Document
from graph.regulation.unit import DIVISIONS, Kind, Unit, short

_PARENS = re.compile(r"^(?:Article \w+|Sole Article)\(([^()]+)\)$")


@dataclass(slots=True)
class Placed:
    """A unit and the range of the document's text that is its own. `parent` is an index, -1 for none; `last` is the
    index of the last unit inside it, or its own."""

    unit: Unit
    start: int
    end: int
    parent: int = -1
    last: int = 0


def units(document: Document) -> list[Placed]:
    """In reading order."""
    placed: list[Placed] = []
    names: dict[str, int] = {}
    divisions: list[int] = []
    holder = -1  # the article, annex or division that is open
    for block in document.blocks:
        text = document.text[block.start : block.end]
        name = short(block.section)
        kind = _kind(name, text, block.kind == "heading")
        title = text.partition("\n")[2].replace("\n", " ") if block.kind == "heading" else ""
        at = len(placed)
        parent = -1
        if kind == "division":
            level = _level(block.section)
            divisions = [d for d in divisions if _level(placed[d].unit.path) < level]
            parent = divisions[-1] if divisions else -1
            divisions.append(at)
            holder = at
        elif kind in ("article", "annex"):
            parent = divisions[-1] if divisions and kind == "article" else -1
            holder = at
            names = {}  # only the parts of one article are looked up by name
        elif kind not in ("front", "recital", "closing", "signature"):
            parent = names.get(_holder(name), holder)
        placed.append(
            Placed(Unit(kind, block.section, name, text, title, block.page), block.start, block.end, parent, at)
        )
        names.setdefault(name, at)
        while parent >= 0:
            placed[parent].last = at
            parent = placed[parent].parent
    return placed


def _kind(name: str, text: str, heading: bool) -> Kind:
    if heading:
        return (
            "article" if name.startswith(("Article", "Sole")) else "annex" if name.startswith("Annex") else "division"
        )
    for word, kind in (("Preamble", "front"), ("Recital", "recital"), ("Final", "closing"), ("Signature", "signature")):
        if name.startswith(word):
            return kind  # type: ignore[return-value]
    if name.endswith("indent"):
        return "indent"
    if name.endswith("subparagraph"):
        return "subparagraph"
    if name.startswith("Annex"):
        return "annex_part"
    number = _PARENS.match(name)
    if number is None and "(" in name:
        return "point"
    return "paragraph" if number is None or text.startswith(f"{number[1]}.") else "point"


def _holder(name: str) -> str:
    """The name of what holds a part: "Article 14(3)" of "Article 14(3)(a)" and of its second subparagraph."""
    if name.endswith(")"):
        return name[: name.rindex("(")].removesuffix(", point ")
    return name.rpartition(", ")[0]


def _level(path: str) -> int:
    word = path.rpartition(", ")[2].split(" ", 1)[0]
    return DIVISIONS.index(word) if word in DIVISIONS else len(DIVISIONS)
