"""Word documents, read from their XML: what is shown, in the order in which it is shown."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import archive, table
from graph.knowledge.loaders.build import Builder

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
SMALLEST = 8  # half-points; nobody reads letters under 4 pt
BREAKS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": " "}
REMOVED = frozenset((f"{W}del", f"{W}moveFrom"))  # tracked changes that took text away
SKIPPED = frozenset((f"{W}pPr", f"{W}rPr", f"{MC}Fallback", f"{W}tblPr", f"{W}sectPr", f"{W}sdtPr"))


@dataclass(frozen=True)
class _Look:
    """What decides whether text is seen; None where nothing is said."""

    vanish: bool | None = None
    white: bool | None = None
    shaded: bool | None = None
    tiny: bool | None = None

    @property
    def hidden(self) -> bool:
        return bool(self.vanish or self.tiny or (self.white and not self.shaded))

    def under(self, other: "_Look") -> "_Look":
        """`other` where it says something, else this."""
        said = {name: value for name, value in vars(other).items() if value is not None}
        return replace(self, **said)


@dataclass
class _Style:
    name: str
    level: int  # of the heading, from 1; 0 for none
    numbering: tuple[str, int] | None
    look: _Look


@dataclass
class _Numbering:
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


def read(data: bytes, out: Builder) -> None:
    archive.check(data)
    from docx import Document as open_document

    document = open_document(io.BytesIO(data))
    body = document.element.body
    if body is None:
        raise DocumentError("broken", "the Word document has no body", hint="open it in Word and save it again")
    walk = _Walk(out, _styles(document), _numbering(document))
    walk.blocks(body, _Look())
    walk.end_list()
    for part in document.part.package.iter_parts():
        name = str(part.partname)
        if name.startswith("/word/") and name.endswith(("footnotes.xml", "endnotes.xml")):
            walk.notes(_parse(part.blob))
        elif name.startswith("/word/comments") and name.endswith(".xml"):
            for comment in _parse(part.blob).iter(f"{W}p"):
                out.hide("".join(text.text or "" for text in comment.iter(f"{W}t")))
    properties = document.core_properties
    for value in (properties.title, properties.subject, properties.keywords, properties.comments, properties.category):
        out.hide(value or "")


class _Walk:
    def __init__(self, out: Builder, styles: dict[str, _Style], numbering: _Numbering) -> None:
        self.out, self.styles, self.numbering = out, styles, numbering
        self.items: list[tuple[int, str]] = []
        self.boxes: list[Any] = []

    def blocks(self, parent: Any, look: _Look) -> None:
        for element in parent:
            if element.tag == f"{W}p":
                self.paragraph(element, look)
            elif element.tag == f"{W}tbl":
                self.table(element, look)
            elif element.tag in REMOVED:
                self.out.hide(_all_text(element))
            elif element.tag not in SKIPPED:
                self.blocks(element, look)

    def paragraph(self, element: Any, look: _Look) -> None:
        properties = element.find(f"{W}pPr")
        style = self.styles.get(_value(properties, "pStyle") or "Normal")
        if style is not None:
            look = look.under(style.look)
            if style.name.startswith("toc "):
                return  # a table of contents repeats the headings
        look = look.under(_Look(shaded=_shaded(properties)))
        text = "".join(self.inline(element, look))
        level = _outline(properties) or (style.level if style is not None else 0)
        numbering = _list_of(properties) or (style.numbering if style is not None else None)
        if not text.strip():
            pass
        elif level:
            self.end_list()
            if style is not None and style.name == "title" and not self.out.title:
                self.out.title = text
            self.out.heading(text, level)
        elif numbering and numbering[0] != "0":
            self.items.append((numbering[1], f"{self.numbering.mark(*numbering)} {text}"))
        else:
            self.end_list()
            self.out.paragraph(text)
        boxes, self.boxes = self.boxes, []
        for box in boxes:
            self.blocks(box, _Look(shaded=True))  # the shape behind it may have any colour

    def inline(self, parent: Any, look: _Look) -> Iterator[str]:
        """Text in sight; what is not is reported, text boxes are kept for later."""
        for element in parent:
            tag = element.tag
            if tag == f"{W}r":
                properties = element.find(f"{W}rPr")
                style = self.styles.get(_value(properties, "rStyle") or "")
                own = look.under(style.look) if style is not None else look
                own = own.under(_look(properties))
                if own.hidden:
                    self.out.hide(_all_text(element))
                else:
                    yield from self.inline(element, own)
            elif tag in (f"{W}t", f"{MATH}t"):
                yield element.text or ""
            elif tag in BREAKS:
                yield BREAKS[tag]
            elif tag == f"{W}txbxContent":
                self.boxes.append(element)
            elif tag in REMOVED or tag in (f"{W}instrText", f"{W}delText"):
                self.out.hide(_all_text(element))
            elif tag not in SKIPPED:
                if isinstance(tag, str) and tag.endswith("}docPr"):
                    self.out.hide(f"{element.get('title') or ''} {element.get('descr') or ''}")
                yield from self.inline(element, look)

    def table(self, element: Any, look: _Look) -> None:
        self.end_list()
        rows: list[list[str]] = []
        cells_of_rows = list(self.cells(element))
        if len(cells_of_rows) < 2 or max(map(len, cells_of_rows)) < 2:
            for cells in cells_of_rows:  # a frame around text, not a table of data
                for cell, _, _ in cells:
                    self.blocks(cell, look.under(_Look(shaded=_shaded(cell.find(f"{W}tcPr")))))
            return
        above: dict[int, str] = {}
        for cells in cells_of_rows:
            row: list[str] = []
            for cell, span, continues in cells:
                if continues:
                    text = above.get(len(row), "")
                else:
                    text = self.cell(cell, look)
                    above[len(row)] = text
                row += [text] + [""] * (span - 1)
            rows.append(row)
        first = element.find(f"{W}tr")
        marked = first is not None and first.find(f"{W}trPr/{W}tblHeader") is not None
        self.out.table()
        for _, sentence in table.sentences(rows, header=True if marked else None):
            self.out.row(sentence)
        self.out.table()

    def cells(self, element: Any) -> Iterator[list[tuple[Any, int, bool]]]:
        """Cell, columns it spans, and whether it continues the one above, for each row."""
        for row in _within(element, f"{W}tr"):
            if row.find(f"{W}trPr/{W}hidden") is not None:
                self.out.hide(_all_text(row))
                continue
            cells = []
            for cell in _within(row, f"{W}tc"):
                properties = cell.find(f"{W}tcPr")
                merge = properties.find(f"{W}vMerge") if properties is not None else None
                span = min(int(_value(properties, "gridSpan") or 1), 100)
                cells.append((cell, span, merge is not None and merge.get(f"{W}val") != "restart"))
            yield cells

    def cell(self, cell: Any, look: _Look) -> str:
        look = look.under(_Look(shaded=_shaded(cell.find(f"{W}tcPr"))))
        texts = []
        for paragraph in cell.iter(f"{W}p"):
            style = self.styles.get(_value(paragraph.find(f"{W}pPr"), "pStyle") or "Normal")
            texts.append("".join(self.inline(paragraph, look.under(style.look) if style is not None else look)))
        self.boxes = []
        return " ".join(text.strip() for text in texts if text.strip())

    def notes(self, root: Any) -> None:
        for note in root:
            if note.get(f"{W}type") in (None, "normal"):
                self.blocks(note, _Look())
        self.end_list()

    def end_list(self) -> None:
        self.out.items(self.items)
        self.items = []


def _parse(blob: bytes) -> Any:
    from lxml import etree

    return etree.fromstring(blob, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))


def _within(element: Any, tag: str) -> Iterator[Any]:
    """Children with this tag, also inside content controls and accepted insertions, not inside nested tables."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}ins", f"{W}customXml"):
            yield from _within(child, tag)


def _all_text(element: Any) -> str:
    kinds = (f"{W}t", f"{W}delText", f"{W}instrText")
    return " ".join(part.text or "" for part in element.iter(*kinds))


def _value(properties: Any, name: str) -> str | None:
    found = properties.find(f"{W}{name}") if properties is not None else None
    return found.get(f"{W}val") if found is not None else None


def _on(properties: Any, name: str) -> bool | None:
    found = properties.find(f"{W}{name}") if properties is not None else None
    return None if found is None else found.get(f"{W}val") not in ("0", "false", "off")


def _shaded(properties: Any) -> bool | None:
    shade = properties.find(f"{W}shd") if properties is not None else None
    return None if shade is None else (shade.get(f"{W}fill") or "auto").lower() not in ("auto", "ffffff")


def _look(properties: Any) -> _Look:
    colour, size = _value(properties, "color"), _value(properties, "sz")
    highlight = _value(properties, "highlight") not in (None, "none", "white") or None
    return _Look(
        vanish=_on(properties, "vanish"),
        white=None if colour is None else colour.lower() in ("ffffff", "fefefe", "fdfdfd"),
        shaded=_shaded(properties) or highlight,
        tiny=None if size is None or not size.isdecimal() else int(size) < SMALLEST,
    )


def _outline(properties: Any) -> int:
    value = _value(properties, "outlineLvl")
    return int(value) + 1 if value is not None and value.isdecimal() and int(value) < 9 else 0


def _list_of(properties: Any) -> tuple[str, int] | None:
    found = properties.find(f"{W}numPr") if properties is not None else None
    if found is None:
        return None
    depth = _value(found, "ilvl") or "0"
    return _value(found, "numId") or "0", int(depth) if depth.isdecimal() else 0


def _styles(document: Any) -> dict[str, _Style]:
    """Styles by id, each with what it inherits."""
    raw = {style.get(f"{W}styleId"): style for style in document.styles.element.iter(f"{W}style")}
    found: dict[str, _Style] = {}

    def resolve(key: str, seen: frozenset[str]) -> _Style:
        if key in found:
            return found[key]
        style = raw[key]
        base_key = _value(style, "basedOn")
        known = base_key is not None and base_key in raw and base_key not in seen and len(seen) < 50
        base = resolve(base_key, seen | {key}) if base_key is not None and known else _Style("", 0, None, _Look())
        name = (_value(style, "name") or "").lower()
        properties = style.find(f"{W}pPr")
        level = int(name[8:]) if name.startswith("heading ") and name[8:].isdecimal() else 0
        found[key] = _Style(
            name,
            (1 if name == "title" else level) or _outline(properties) or base.level,
            _list_of(properties) or base.numbering,
            base.look.under(_look(style.find(f"{W}rPr"))).under(_Look(shaded=_shaded(properties))),
        )
        return found[key]

    for key in raw:
        resolve(key, frozenset())
    return found


def _numbering(document: Any) -> _Numbering:
    numbering = _Numbering()
    part = next((p for p in document.part.package.iter_parts() if str(p.partname) == "/word/numbering.xml"), None)
    if part is None:
        return numbering
    root = _parse(part.blob)
    abstract = {element.get(f"{W}abstractNumId"): element for element in root.iter(f"{W}abstractNum")}
    for number in root.iter(f"{W}num"):
        levels = abstract.get(_value(number, "abstractNumId") or "")
        for level in levels.iter(f"{W}lvl") if levels is not None else ():
            key = (number.get(f"{W}numId") or "", int(level.get(f"{W}ilvl") or 0))
            numbering.formats[key] = _value(level, "numFmt") or "bullet"
    return numbering
