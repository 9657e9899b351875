"""Word documents, read from their XML: what is shown, in the order in which it is shown."""

import io
from collections.abc import Iterator
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import archive, table
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.docx_styles import (
    Look,
    Numbering,
    Style,
    W,
    list_of,
    look_of,
    outline,
    parse,
    read_numbering,
    read_styles,
    shaded,
    value_of,
)
from graph.knowledge.loaders.text import BULLET

MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
BREAKS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": " "}
REMOVED = frozenset((f"{W}del", f"{W}moveFrom"))  # tracked changes that took text away
SKIPPED = frozenset((f"{W}pPr", f"{W}rPr", f"{MC}Fallback", f"{W}tblPr", f"{W}sectPr", f"{W}sdtPr"))


def read(data: bytes, out: Builder) -> None:
    archive.check(data)
    from docx import Document as open_document

    document = open_document(io.BytesIO(data))
    body = document.element.body
    if body is None:
        raise DocumentError("broken", "the Word document has no body", hint="open it in Word and save it again")
    walk = _Walk(out, read_styles(document), read_numbering(document))
    walk.blocks(body, Look())
    walk.end_list()
    for part in document.part.package.iter_parts():
        name = str(part.partname)
        if name.startswith("/word/") and name.endswith(("footnotes.xml", "endnotes.xml")):
            walk.notes(parse(part.blob))
        elif name.startswith("/word/comments") and name.endswith(".xml"):
            for comment in parse(part.blob).iter(f"{W}p"):
                out.hide("".join(text.text or "" for text in comment.iter(f"{W}t")))
    properties = document.core_properties
    for value in (properties.title, properties.subject, properties.keywords, properties.comments, properties.category):
        out.hide(value or "")


class _Walk:
    def __init__(self, out: Builder, styles: dict[str, Style], numbering: Numbering) -> None:
        self.out, self.styles, self.numbering = out, styles, numbering
        self.items: list[tuple[int, str]] = []
        self.boxes: list[Any] = []

    def blocks(self, parent: Any, look: Look) -> None:
        for element in parent:
            if element.tag == f"{W}p":
                self.paragraph(element, look)
            elif element.tag == f"{W}tbl":
                self.table(element, look)
            elif element.tag in REMOVED:
                self.out.hide(_all_text(element))
            elif element.tag not in SKIPPED:
                self.blocks(element, look)

    def paragraph(self, element: Any, look: Look) -> None:
        properties = element.find(f"{W}pPr")
        style = self.styles.get(value_of(properties, "pStyle") or "Normal")
        if style is not None:
            look = look.under(style.look)
            if style.name.startswith("toc "):
                return  # a table of contents repeats the headings
        look = look.under(Look(shaded=shaded(properties)))
        text = "".join(self.inline(element, look))
        level = outline(properties) or (style.level if style is not None else 0)
        numbering = list_of(properties) or (style.numbering if style is not None else None)
        if not text.strip():
            pass
        elif level:
            self.end_list()
            if style is not None and style.name == "title" and not self.out.title:
                self.out.title = text
            self.out.heading(text, level)
        elif numbering and numbering[0] != "0":
            self.items.append((numbering[1], f"{self.numbering.mark(*numbering)} {text}"))
        elif BULLET.match(text):
            self.items.append((0, text))  # typed by hand
        else:
            self.end_list()
            self.out.paragraph(text)
        boxes, self.boxes = self.boxes, []
        for box in boxes:
            self.blocks(box, Look(shaded=True))  # the shape behind it may have any colour

    def inline(self, parent: Any, look: Look) -> Iterator[str]:
        """Text in sight; what is not is reported, text boxes are kept for later."""
        for element in parent:
            tag = element.tag
            if tag == f"{W}r":
                properties = element.find(f"{W}rPr")
                style = self.styles.get(value_of(properties, "rStyle") or "")
                own = look.under(style.look) if style is not None else look
                own = own.under(look_of(properties))
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

    def table(self, element: Any, look: Look) -> None:
        self.end_list()
        rows: list[list[str]] = []
        cells_of_rows = list(self.cells(element))
        if len(cells_of_rows) < 2 or max(map(len, cells_of_rows)) < 2:
            for cells in cells_of_rows:  # a frame around text, not a table of data
                for cell, _, _ in cells:
                    self.blocks(cell, look.under(Look(shaded=shaded(cell.find(f"{W}tcPr")))))
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
            rows.append([row[0]] if len(cells) == 1 and len(row) > 1 else row)
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
                span = min(int(value_of(properties, "gridSpan") or 1), 100)
                cells.append((cell, span, merge is not None and merge.get(f"{W}val") != "restart"))
            yield cells

    def cell(self, cell: Any, look: Look) -> str:
        look = look.under(Look(shaded=shaded(cell.find(f"{W}tcPr"))))
        texts = []
        for paragraph in cell.iter(f"{W}p"):
            style = self.styles.get(value_of(paragraph.find(f"{W}pPr"), "pStyle") or "Normal")
            texts.append("".join(self.inline(paragraph, look.under(style.look) if style is not None else look)))
        self.boxes = []
        return " ".join(text.strip() for text in texts if text.strip())

    def notes(self, root: Any) -> None:
        for note in root:
            if note.get(f"{W}type") in (None, "normal"):
                self.blocks(note, Look())
        self.end_list()

    def end_list(self) -> None:
        self.out.items(self.items)
        self.items = []


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
