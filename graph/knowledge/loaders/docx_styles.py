"""How a Word document makes text look: styles, what they inherit, and the marks of its lists."""

from dataclasses import dataclass, field, replace
from typing import Any

from graph.knowledge.loaders import table

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
SMALLEST = 8  # half-points; nobody reads letters under 4 pt


@dataclass(frozen=True)
class Look:
    """What decides whether text is seen; None where nothing is said."""

    vanish: bool | None = None
    white: bool | None = None
    shaded: bool | None = None
    tiny: bool | None = None

    @property
    def hidden(self) -> bool:
        return bool(self.vanish or self.tiny or (self.white and not self.shaded))

    def under(self, other: "Look") -> "Look":
        """`other` where it says something, else this."""
        said = {name: value for name, value in vars(other).items() if value is not None}
        return replace(self, **said)


@dataclass
class Style:
    name: str
    level: int  # of the heading, from 1; 0 for none
    numbering: tuple[str, int] | None
    look: Look


@dataclass
class Numbering:
    """Marks of list items: number formats by (list, depth), and how far each has counted."""

    formats: dict[tuple[str, int], str] = field(default_factory=dict)
    counts: dict[tuple[str, int], int] = field(default_factory=dict)

    def mark(self, number: str, depth: int) -> str:
        form = self.formats.get((number, depth), "bullet")
        if form in ("bullet", "none"):
            return "-"
        for deeper in [key for key in self.counts if key[0] == number and key[1] > depth]:
            del self.counts[deeper]
        count = self.counts[number, depth] = self.counts.get((number, depth), 0) + 1
        return f"{table.column(count - 1).lower()}." if form == "lowerLetter" else f"{count}."


def parse(blob: bytes) -> Any:
    from lxml import etree

    return etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def value_of(properties: Any, name: str) -> str | None:
    found = properties.find(f"{W}{name}") if properties is not None else None
    return found.get(f"{W}val") if found is not None else None


def _on(properties: Any, name: str) -> bool | None:
    found = properties.find(f"{W}{name}") if properties is not None else None
    return None if found is None else found.get(f"{W}val") not in ("0", "false", "off")


def shaded(properties: Any) -> bool | None:
    shade = properties.find(f"{W}shd") if properties is not None else None
    return None if shade is None else (shade.get(f"{W}fill") or "auto").lower() not in ("auto", "ffffff")


def look_of(properties: Any) -> Look:
    colour, size = value_of(properties, "color"), value_of(properties, "sz")
    highlight = value_of(properties, "highlight") not in (None, "none", "white") or None
    return Look(
        vanish=_on(properties, "vanish"),
        white=None if colour is None else colour.lower() in ("ffffff", "fefefe", "fdfdfd"),
        shaded=shaded(properties) or highlight,
        tiny=None if size is None or not size.isdecimal() else int(size) < SMALLEST,
    )


def outline(properties: Any) -> int:
    value = value_of(properties, "outlineLvl")
    return int(value) + 1 if value is not None and value.isdecimal() and int(value) < 9 else 0


def list_of(properties: Any) -> tuple[str, int] | None:
    found = properties.find(f"{W}numPr") if properties is not None else None
    if found is None:
        return None
    depth = value_of(found, "ilvl") or "0"
    return value_of(found, "numId") or "0", int(depth) if depth.isdecimal() else 0


def read_styles(document: Any) -> dict[str, Style]:
    """Styles by id, each with what it inherits."""
    raw = {style.get(f"{W}styleId"): style for style in document.styles.element.iter(f"{W}style")}
    found: dict[str, Style] = {}

    def resolve(key: str, seen: frozenset[str]) -> Style:
        if key in found:
            return found[key]
        style = raw[key]
        base_key = value_of(style, "basedOn")
        known = base_key is not None and base_key in raw and base_key not in seen and len(seen) < 50
        base = resolve(base_key, seen | {key}) if base_key is not None and known else Style("", 0, None, Look())
        name = (value_of(style, "name") or "").lower()
        properties = style.find(f"{W}pPr")
        level = int(name[8:]) if name.startswith("heading ") and name[8:].isdecimal() else 0
        found[key] = Style(
            name,
            (1 if name == "title" else level) or outline(properties) or base.level,
            list_of(properties) or base.numbering,
            base.look.under(look_of(style.find(f"{W}rPr"))).under(Look(shaded=shaded(properties))),
        )
        return found[key]

    for key in raw:
        resolve(key, frozenset())
    return found


def read_numbering(document: Any) -> Numbering:
    numbering = Numbering()
    part = next((p for p in document.part.package.iter_parts() if str(p.partname) == "/word/numbering.xml"), None)
    if part is None:
        return numbering
    root = parse(part.blob)
    abstract = {element.get(f"{W}abstractNumId"): element for element in root.iter(f"{W}abstractNum")}
    for number in root.iter(f"{W}num"):
        levels = abstract.get(value_of(number, "abstractNumId") or "")
        for level in levels.iter(f"{W}lvl") if levels is not None else ():
            key = (number.get(f"{W}numId") or "", int(level.get(f"{W}ilvl") or 0))
            numbering.formats[key] = value_of(level, "numFmt") or "bullet"
    return numbering
