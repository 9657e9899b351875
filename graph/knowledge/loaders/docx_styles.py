"""How a Word document makes text look: styles, and what they inherit."""

from dataclasses import dataclass, replace
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
SMALLEST = 8  # half-points; nobody reads letters under 4 pt


@dataclass(frozen=True)
class Look:
    """What decides whether text is seen, and whether it stands out; None where nothing is said."""

    vanish: bool | None = None
    white: bool | None = None
    shaded: bool | None = None
    tiny: bool | None = None
    bold: bool | None = None
    underlined: bool | None = None

    @property
    def hidden(self) -> bool:
        """Whether nobody sees it: hidden, tiny, or white with nothing behind it."""
        return bool(self.vanish or self.tiny or (self.white and not self.shaded))

    def under(self, other: "Look") -> "Look":
        """`other` where it says something, else this."""
        specified = {name: value for name, value in vars(other).items() if value is not None}
        return replace(self, **specified)


@dataclass
class Style:
    """Of paragraphs or characters, with what it inherits."""

    name: str
    level: int  # of the heading, from 1; 0 for none
    numbering: tuple[str, int | None] | None  # list, "" where the style says none, and level
    look: Look
    indent: int | None = None  # from the left, in twips; None where it says nothing


def parse(blob: bytes) -> Any:
    """The root element. Entities, DTDs and the network are not used. Raises SyntaxError, as lxml's errors are."""
    from lxml import etree

    return etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def value_of(properties: Any, name: str) -> str | None:
    """The `w:val` of the child of this name; None without such a child."""
    element = properties.find(f"{W}{name}") if properties is not None else None
    return element.get(f"{W}val") if element is not None else None


def _on(properties: Any, name: str) -> bool | None:
    element = properties.find(f"{W}{name}") if properties is not None else None
    return None if element is None else element.get(f"{W}val") not in ("0", "false", "off")


def is_bold(properties: Any) -> bool:
    """Whether these properties say so themselves; a style does not count."""
    return bool(_on(properties, "b"))


def shaded(properties: Any) -> bool | None:
    """Whether a colour other than white is painted behind; None where nothing is said."""
    shade = properties.find(f"{W}shd") if properties is not None else None
    return None if shade is None else (shade.get(f"{W}fill") or "auto").lower() not in ("auto", "ffffff")


def look_of(properties: Any) -> Look:
    """What the properties of a run say themselves."""
    colour, size, line = (value_of(properties, name) for name in ("color", "sz", "u"))
    highlight = value_of(properties, "highlight") not in (None, "none", "white") or None
    return Look(
        vanish=_on(properties, "vanish"),
        white=None if colour is None else colour.lower() in ("ffffff", "fefefe", "fdfdfd"),
        shaded=shaded(properties) or highlight,
        tiny=None if size is None or not size.isdecimal() else int(size) < SMALLEST,
        bold=_on(properties, "b"),
        underlined=None if line is None else line != "none",
    )


def outline(properties: Any) -> int:
    """The level of a heading, from 1; 0 for any other text."""
    value = value_of(properties, "outlineLvl")
    return int(value) + 1 if value is not None and value.isdecimal() and int(value) < 9 else 0


def list_of(properties: Any) -> tuple[str, int | None] | None:
    """List and level, as far as they are given here: "" and None where they are not; None for no word of either."""
    element = properties.find(f"{W}numPr") if properties is not None else None
    if element is None:
        return None
    depth = value_of(element, "ilvl") or ""
    return value_of(element, "numId") or "", int(depth) if depth.isdecimal() and len(depth) < 3 else None


def indent_of(properties: Any) -> int | None:
    """How far in from the left these properties say that a paragraph stands, in twips; None where they do not."""
    element = properties.find(f"{W}ind") if properties is not None else None
    left = (element.get(f"{W}left") or element.get(f"{W}start") or "") if element is not None else ""
    return int(left) if left.isdecimal() and len(left) < 6 else None


def numbering_under(
    base: tuple[str, int | None] | None, own: tuple[str, int | None] | None
) -> tuple[str, int | None] | None:
    """What a paragraph or style says of its list, over what it inherits."""
    if base is None or own is None:
        return own or base
    return own[0] or base[0], own[1] if own[1] is not None else base[1]


def read_styles(document: Any) -> dict[str, Style]:
    """Styles by id, each with what it inherits."""
    raw = {style.get(f"{W}styleId"): style for style in document.styles.element.iter(f"{W}style")}
    styles: dict[str, Style] = {}

    def resolve(key: str, seen: frozenset[str]) -> Style:
        if key in styles:
            return styles[key]
        style = raw[key]
        base_key = value_of(style, "basedOn")
        known = base_key is not None and base_key in raw and base_key not in seen and len(seen) < 50
        base = resolve(base_key, seen | {key}) if base_key is not None and known else Style("", 0, None, Look())
        name = (value_of(style, "name") or "").lower()
        properties = style.find(f"{W}pPr")
        own, own_list = indent_of(properties), list_of(properties)
        level = int(name[8:]) if name.startswith("heading ") and name[8:].isdecimal() else 0
        styles[key] = Style(
            name,
            (1 if name == "title" else level) or outline(properties) or base.level,
            numbering_under(base.numbering, own_list),
            base.look.under(look_of(style.find(f"{W}rPr"))).under(Look(shaded=shaded(properties))),
            base.indent if own is None and own_list is None else own,
        )
        return styles[key]

    for key in raw:
        resolve(key, frozenset())
    return styles
