"""Word documents, read from their XML: what is shown, in the order in which it is shown."""

import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from graph.errors import DocumentError
from graph.knowledge.loaders import strict, symbol_fonts, table
from graph.knowledge.loaders.build import LONGEST_OF_LOOKS, Builder, looks
from graph.knowledge.loaders.docx_numbering import Numbering
from graph.knowledge.loaders.docx_styles import (
    Look,
    Style,
    W,
    indent_of,
    is_bold,
    list_of,
    look_of,
    numbering_under,
    outline,
    parse,
    read_styles,
    shaded,
    value_of,
)
from graph.knowledge.loaders.text import BULLET
from graph.policy.text import structure

MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/picture}pic"
BREAKS = {f"{W}tab": " ", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-", f"{W}ptab": " "}
REMOVED = frozenset((f"{W}del", f"{W}moveFrom"))  # tracked changes that took text away
PAGE_FIELDS = re.compile(r"\s*(?:PAGE|NUMPAGES|SECTIONPAGES)\b")
_MARGIN = re.compile(r"/word/(?:header|footer)\d*\.xml")
_ONLY_PAGE = re.compile(r"[\s|·–—-]*(?:page|seite|pg?\.)?[\s/|·–—-]*(?:of|von|/)?[\s|·–—-]*", re.IGNORECASE)
_PAGE_WORDS = re.compile(r"\s*[|·–—-]?\s*\b(?:page|seite|pg\.)\s*(?:of|von|/)?\s*$", re.IGNORECASE)
INDENTED = 300  # twips; what stands so much further in is inside the item above it. Word's own step is 360
MOST_HEADS = 3  # rows of headings of a table
MOST_MERGED = 5  # the same, where cells that run down them say so
_RAISED = re.compile(r"[-+−]?\d{1,4}")  # as a power or the number of a note: 10⁻⁶, m²
MOST_NESTED = 5  # tables in tables
MOST_MARGIN = 40  # paragraphs of headers and footers
SKIPPED = frozenset((f"{W}pPr", f"{W}rPr", f"{MC}Fallback", f"{W}tblPr", f"{W}sectPr", f"{W}sdtPr"))


def read(data: bytes, out: Builder) -> None:
    """Headers and footers, the body, footnotes and endnotes. Comments, and what was deleted, are hidden text."""
    from docx import Document as open_document

    document = open_document(io.BytesIO(strict.usual(data)))
    body = document.element.body
    if body is None:
        raise DocumentError("broken", "the Word document has no body", hint="open it in Word and save it again")
    parts = {str(part.partname): part for part in document.part.package.iter_parts()}
    numbers = parse(parts["/word/numbering.xml"].blob) if "/word/numbering.xml" in parts else None
    walk = _Walk(out, read_styles(document), Numbering(numbers))
    for kind in ("header", "footer"):
        for name in sorted(name for name in parts if _MARGIN.fullmatch(name) and kind in name):
            walk.margin(parse(parts[name].blob))
    out.begin()
    walk.blocks(body, Look())
    walk.end_list()
    if any(name.endswith("vbaProject.bin") for name in parts):
        out.note("macros")
    comments = 0
    for name, part in parts.items():
        if name.startswith("/word/") and name.endswith(("footnotes.xml", "endnotes.xml")):
            walk.notes(parse(part.blob))
        elif name == "/word/comments.xml":
            for comment in parse(part.blob).iter(f"{W}comment"):
                comments += 1
                out.hide("".join(text.text or "" for text in comment.iter(f"{W}t")))
    out.note_counts({"comment": comments, "picture": walk.pictures})
    properties = document.core_properties
    for value in (properties.title, properties.subject, properties.keywords, properties.comments, properties.category):
        out.hide(value or "")


class _Walk:
    def __init__(self, out: Builder, styles: dict[str, Style], numbering: Numbering) -> None:
        self.out, self.styles, self.numbering = out, styles, numbering
        self.items: list[tuple[int, str]] = []
        self.indents: list[int] = []  # of these items, in twips
        self.boxes: list[Any] = []
        self.fields: list[str] = []  # instructions of the fields that are open
        self.in_margin = False
        self.margin_lines: set[str] = set()  # of headers and footers so far
        self.pictures = 0
        self.looks: set[tuple[bool, bool]] = set()  # of the words of this paragraph: bold, underlined

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
        self.looks = set()
        text = "".join(self.inline(element, look))
        bold, underlined = (all(one) for one in zip(*self.looks, strict=True)) if self.looks else (False, False)
        level = outline(properties) or (style.level if style is not None else 0)
        mark, depth, indent = self.mark(properties, style) if text.strip() else ("", 0, 0)
        if self.in_margin:
            text = self.new_in_margin(text)
        if not text.strip():
            pass
        elif level:
            self.end_list()
            if style is not None and style.name == "title" and not self.out.title:
                self.out.title = text
            self.out.heading(f"{mark} {text}" if mark and mark != "-" else text, level)
        elif (
            (look_alike := looks(text, bold, underlined))
            and mark != "-"
            and not self.in_margin
            and len(text) <= LONGEST_OF_LOOKS
        ):
            self.end_list()
            self.out.standing_out(f"{mark} {text}" if mark else text, look_alike)
        elif mark and structure.ITEM.match(f"{mark} {text.strip()}"):
            self.items.append((depth, f"{mark} {text}"))
            self.indents.append(indent)
        elif mark:  # "Article 3": no mark that a list is told by
            self.end_list()
            self.out.paragraph(f"{mark} {text}")
        elif BULLET.match(text):
            self.items.append((0, text))  # typed by hand
            self.indents.append(indent)
        else:
            self.end_list()
            self.out.paragraph(text)
        boxes, self.boxes = self.boxes, []
        for box in boxes:
            self.blocks(box, Look(shaded=True))  # the shape behind it may have any colour

    def mark(self, properties: Any, style: Style | None) -> tuple[str, int, int]:
        """What Word writes before a paragraph, "" for nothing, the level of its list from 0, and how far in from the
        left it stands, in twips: what the paragraph says, then its list, its style, and the list of that."""
        inherited, own_list = (style.numbering if style is not None else None), list_of(properties)
        indents = [indent_of(properties), style.indent if style is not None else None]
        numbering = numbering_under(inherited, own_list)
        mark, depth = "", 0
        if numbering is not None and numbering[0] not in ("", "0"):
            number, level = numbering
            of_style = value_of(properties, "pStyle") or ""
            depth = level if level is not None else self.numbering.level_of(number, of_style)
            indents.insert(2 if own_list is None else 1, self.numbering.indent(number, depth))
            mark = self.numbering.mark(number, depth)
        return mark, depth, next((indent for indent in indents if indent is not None), 0)

    def margin(self, root: Any) -> None:
        """A header or footer: its lines but for page numbers, each once however many parts repeat it."""
        self.in_margin = True
        self.blocks(root, Look())
        self.end_list()
        self.in_margin = False

    def new_in_margin(self, text: str) -> str:
        text = _PAGE_WORDS.sub("", " ".join(text.split()))
        known = self.margin_lines
        if _ONLY_PAGE.fullmatch(text) or text in known or len(known) >= MOST_MARGIN:
            return ""
        known.add(text)
        return text

    def inline(self, parent: Any, look: Look) -> Iterator[str]:
        """Text in sight; what is not is reported, text boxes are kept for later."""
        for element in parent:
            tag = element.tag
            if tag == f"{W}fldChar":
                yield from self.field(element)
                continue
            if tag == f"{W}instrText" and self.fields:
                self.fields[-1] += element.text or ""
            if tag == f"{W}fldSimple" and PAGE_FIELDS.match(element.get(f"{W}instr") or ""):
                continue
            if tag == f"{W}r":
                properties = element.find(f"{W}rPr")
                style = self.styles.get(value_of(properties, "rStyle") or "")
                own = look.under(style.look) if style is not None else look
                own = own.under(look_of(properties))
                if own.hidden:
                    self.out.hide(_all_text(element))
                elif any(map(PAGE_FIELDS.match, self.fields)):
                    list(self.inline(element, own))  # for the ends of fields in it
                else:
                    words = "".join(self.inline(element, own))
                    if words.strip():
                        self.looks.add((bool(own.bold), bool(own.underlined)))
                    yield from _raised(properties, words)
            elif tag in (f"{W}t", f"{MATH}t"):
                yield _letters(element)
            elif tag == f"{W}sym":
                font, code = element.get(f"{W}font") or "", element.get(f"{W}char") or ""
                yield symbol_fonts.sign(int(code, 16), font) if re.fullmatch("[0-9A-Fa-f]{2,4}", code) else ""
            elif tag == f"{MATH}sup":
                yield "^" + "".join(self.inline(element, look))
            elif tag == PICTURE:
                self.pictures += 1
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
        header, heads = self.headings(element, cells_of_rows, rows)
        self.out.table()
        for _, sentence in table.sentences(rows, header=header, heads=heads):
            self.out.row(sentence)
        self.out.table()

    def headings(
        self, element: Any, cells: list[list[tuple[Any, int, bool]]], rows: list[list[str]]
    ) -> tuple[bool | None, int]:
        """Whether a table begins with headings and how many rows of them it has: None and 0 where the rows tell."""
        if not any(cell.strip() for row in rows for cell in row[1:]):
            return False, 0  # names of a form without a value
        merged = _rows_of_merged(cells)
        if merged and not any(table.is_value(cell) for row in rows[:merged] for cell in row if cell.strip()):
            return True, merged
        heads = self.rows_of_headings(element)
        if heads == 1 and any(span > 1 for _, span, _ in cells[0]):
            return True, 0  # the row below may name what stands under one cell of the first
        return True if heads else None, heads

    def rows_of_headings(self, element: Any) -> int:
        """How many rows at the top repeat on each page, or else are all bold above one that is not; 0 for none."""
        marked, bold = [], []
        for row in islice(_within(element, f"{W}tr"), MOST_HEADS + 1):
            runs = [run for run in row.iter(f"{W}r") if run.find(f"{W}t") is not None]
            marked.append(row.find(f"{W}trPr/{W}tblHeader") is not None)
            bold.append(bool(runs) and all(is_bold(run.find(f"{W}rPr")) for run in runs))
        for rows in (marked, bold):
            if rows[0] and False in rows:
                return rows.index(False)
        return 0

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
        texts = list(self.cell_texts(cell, look, 0))
        boxes, self.boxes = self.boxes, []
        texts += [text for box in boxes for text in self.cell_texts(box, Look(shaded=True), 0)]
        self.boxes = []
        return " ".join(text.strip() for text in texts if text.strip())

    def cell_texts(self, parent: Any, look: Look, depth: int) -> Iterator[str]:
        """The paragraphs of a cell, with their numbers; each row of a table in it is one text in brackets."""
        for child in parent:
            if child.tag == f"{W}p":
                properties = child.find(f"{W}pPr")
                style = self.styles.get(value_of(properties, "pStyle") or "Normal")
                text = "".join(self.inline(child, look.under(style.look) if style is not None else look))
                mark = self.mark(properties, style)[0] if text.strip() else ""
                yield f"{mark} {text}" if mark and mark != "-" else text
            elif child.tag == f"{W}tbl" and depth < MOST_NESTED:
                rows = [
                    [
                        " ".join(filter(None, map(str.strip, self.cell_texts(cell, look, depth + 1))))
                        for cell, _, _ in cells
                    ]
                    for cells in self.cells(child)
                ]
                for _, sentence in table.sentences(rows):
                    yield f"({sentence.replace('; ', ', ')})"
            elif child.tag not in SKIPPED and child.tag not in REMOVED:
                yield from self.cell_texts(child, look, depth)

    def field(self, element: Any) -> Iterator[str]:
        """The begin or end of a field; a box to tick of the old kind is shown by its sign."""
        kind = element.get(f"{W}fldCharType")
        if kind == "end" and self.fields:
            self.fields.pop()
        elif kind == "begin":
            self.fields.append("")
            data = element.find(f"{W}ffData")
            box = data.find(f"{W}checkBox") if data is not None else None
            if box is not None:
                state = box.find(f"{W}checked")
                state = box.find(f"{W}default") if state is None else state
                yield "☒" if state is not None and state.get(f"{W}val") not in ("0", "false") else "☐"
            chosen = data.find(f"{W}ddList") if data is not None else None
            if chosen is not None:
                entries = [entry.get(f"{W}val") or "" for entry in chosen.iter(f"{W}listEntry")]
                at = value_of(chosen, "result") or "0"
                yield entries[int(at)] if at.isdecimal() and len(at) < 4 and int(at) < len(entries) else ""

    def notes(self, root: Any) -> None:
        for note in root:
            if note.get(f"{W}type") in (None, "normal"):
                self.blocks(note, Look())
        self.end_list()

    def end_list(self) -> None:
        self.out.items(_indented(self.items, self.indents))
        self.items, self.indents = [], []


def _rows_of_merged(rows: list[list[tuple[Any, int, bool]]]) -> int:
    """How many rows at the top one cell of the first row runs down, where another of these spans columns that are named
    below it: "Group" beside "Number of animals" over "Main" over "F" and "M". 0 where no cell does."""
    if not any(span > 1 for _, span, _ in rows[0]):
        return 0
    count = 1
    while count < len(rows) and any(continues for *_, continues in rows[count][:1]):
        count += 1
    return count if 1 < count <= min(MOST_MERGED, len(rows) - 1) else 0


def _indented(items: list[tuple[int, str]], indents: list[int]) -> list[tuple[int, str]]:
    """Bullets that are all of one level, as some programs and styles write them, by how far in they stand."""
    flat = len({depth for depth, _ in items}) == 1 and all(text.startswith("- ") for _, text in items)
    if not flat or indents[0] > min(indents):
        return items
    steps: list[int] = []
    for indent in sorted({*indents}):
        if not steps or indent - steps[-1] >= INDENTED:
            steps.append(indent)
    return [
        (depth + sum(indent >= step for step in steps[1:]), text)
        for (depth, text), indent in zip(items, indents, strict=True)
    ]


def _letters(element: Any) -> str:
    """The text of an element; letters of a symbol font are written as what the font shows."""
    text = element.text or ""
    if not any("\uf020" <= letter <= "\uf0ff" for letter in text):
        return text
    run = element.getparent()
    fonts = run.find(f"{W}rPr/{W}rFonts") if run is not None else None
    font = (fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or "") if fonts is not None else ""
    return "".join(
        symbol_fonts.sign(ord(letter), font) if "\uf020" <= letter <= "\uf0ff" else letter for letter in text
    )


def _raised(properties: Any, text: str) -> Iterator[str]:
    """A raised number keeps a sign that says so: 10^-6 is not 10-6."""
    if value_of(properties, "vertAlign") == "superscript" and _RAISED.fullmatch(text.strip()):
        yield f"^{text.strip()}"
    else:
        yield text


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
