"""OpenDocument: texts, sheets and slides (ODT, ODS, ODP), read from their XML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders import table
from graph.knowledge.loaders.build import MAX_BLOCKS, Builder
from graph.knowledge.loaders.docx_numbering import formatted
from graph.knowledge.loaders.zipped_xml import Parts
from graph.policy.text import structure

_NS = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, TABLE, STYLE, OFFICE = (f"{{{_NS}{name}:1.0}}" for name in ("text", "table", "style", "office"))
DRAW, PRESENTATION = f"{{{_NS}drawing:1.0}}", f"{{{_NS}presentation:1.0}}"
FORMS = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
UNREAD = frozenset((f"{TEXT}tracked-changes", f"{TEXT}table-of-content", f"{TEXT}sequence-decls", f"{OFFICE}forms"))
HIDDEN = frozenset((f"{TEXT}hidden-text", f"{TEXT}hidden-paragraph", f"{OFFICE}annotation", f"{OFFICE}annotation-end"))
MOST_REPEATED = 1_000  # times that a row or a cell with text stands for
MOST_DEPTH = 30
MOST_MARGIN = 40  # lines of headers and footers
SIDES = ("", "-left", "-first")
COUNTS = (f"{TEXT}page-number", f"{TEXT}page-count")
PAGE = re.compile(r"\b(?:page|seite|p|of|von)\b|/", re.IGNORECASE)


def read(data: bytes, out: Builder) -> None:
    """Each slide is a page. The headers and footers of a text come first."""
    parts = Parts(data)
    content = parts.xml("content.xml")
    styles = [content, parts.xml("styles.xml")] if "styles.xml" in parts.names else [content]
    body = content.find(f"{OFFICE}body")
    if body is None or len(body) == 0:
        raise DocumentError("broken", "the document has no body", hint="open it in its own program and save it again")
    reader = _Reader(out, _Lists(styles), _invisible(styles))
    kind = body[0]
    if kind.tag == f"{OFFICE}spreadsheet":
        reader.sheets(kind)
    elif kind.tag == f"{OFFICE}presentation":
        for number, page in enumerate(kind.iter(f"{DRAW}page"), 1):
            out.page = number
            reader.slide(page)
    else:
        for line in reader.margins(styles[-1]):
            out.paragraph(line)
        out.begin()
        reader.blocks(kind, 0)
        reader.end()
    out.note_counts({"comment": reader.comments, "picture": reader.pictures, "hidden sheet": reader.hidden})


@dataclass
class _Lists:
    """Number formats by list style and level, from 1: format, suffix, levels shown, start."""

    roots: list[Any]
    levels: dict[str, dict[int, tuple[str, str, int, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for root in self.roots:
            for style in root.iter(f"{TEXT}list-style"):
                levels = self.levels.setdefault(style.get(f"{STYLE}name") or "", {})
                for level in style.iter(f"{TEXT}list-level-style-number"):
                    levels[_whole(level.get(f"{TEXT}level"), 1)] = (
                        FORMS.get(level.get(f"{STYLE}num-format") or "", "none"),
                        f"{level.get(f'{STYLE}num-prefix') or ''}\0{level.get(f'{STYLE}num-suffix') or ''}",
                        _whole(level.get(f"{TEXT}display-levels"), 1),
                        _whole(level.get(f"{TEXT}start-value"), 1),
                    )

    def mark(self, style: str, counts: list[int]) -> str:
        form, around, shown, _ = self.levels.get(style, {}).get(len(counts), ("none", "\0", 1, 1))
        if form == "none":
            return "-"
        forms = [self.levels[style].get(at, ("decimal",))[0] for at in range(1, len(counts) + 1)]
        first = max(0, len(counts) - shown)
        before, _, after = around.partition("\0")
        numbers = ".".join(formatted(count, f) for count, f in zip(counts[first:], forms[first:], strict=True))
        return f"{before}{numbers}{after}".strip()

    def start(self, style: str, level: int) -> int:
        return self.levels.get(style, {}).get(level, ("", "", 1, 1))[3]


class _Reader:
    def __init__(self, out: Builder, lists: _Lists, invisible: set[str]) -> None:
        self.out, self.lists, self.invisible = out, lists, invisible
        self.items: list[tuple[int, str]] = []
        self.notes: list[str] = []
        self.last: dict[str, list[int]] = {}  # where the lists of each style stopped counting
        self.comments = self.pictures = self.hidden = 0

    def margins(self, styles: Any) -> list[str]:
        """The lines of headers and footers, each once, without those that only number pages."""
        margins = [m for kind in ("header", "footer") for m in styles.iter(*(f"{STYLE}{kind}{of}" for of in SIDES))]
        lines = [" ".join(self.text(p).split()) for margin in margins for p in margin.iter(f"{TEXT}p")]
        worded = [line for line in lines if any(map(str.isalpha, PAGE.sub("", line)))]
        return list(dict.fromkeys(worded))[:MOST_MARGIN]

    def blocks(self, parent: Any, depth: int) -> None:
        for element in parent:
            tag = element.tag
            if tag == f"{TEXT}h":
                self.end()
                self.out.heading(self.text(element), _whole(element.get(f"{TEXT}outline-level"), 1))
            elif tag == f"{TEXT}p":
                self.end_list()
                self.out.paragraph(self.text(element))
                self.boxes(element, depth)
            elif tag == f"{TEXT}list":
                self.nested_list(element, "", [])
            elif tag == f"{TABLE}table":
                self.end_list()
                self.table(element)
            elif tag == f"{TEXT}tracked-changes":
                self.out.hide(" ".join(element.itertext()))
            elif tag not in UNREAD and tag not in HIDDEN and depth < MOST_DEPTH:
                self.blocks(element, depth + 1)

    def boxes(self, element: Any, depth: int) -> None:
        stack = list(element)
        while stack and depth < MOST_DEPTH:
            inner = stack.pop(0)
            if inner.tag == f"{DRAW}text-box":
                self.blocks(inner, depth + 1)  # with the boxes in it
            else:
                stack = [*inner, *stack]

    def nested_list(self, element: Any, style: str, counts: list[int]) -> None:
        style = element.get(f"{TEXT}style-name") or style
        if len(counts) >= 10:
            return
        goes_on = element.get(f"{TEXT}continue-numbering") == "true" or element.get(f"{TEXT}continue-list")
        before = self.last.get(style, []) if goes_on and not counts else []
        count = before[0] if before else self.lists.start(style, len(counts) + 1) - 1
        for item in element:
            if item.tag not in (f"{TEXT}list-item", f"{TEXT}list-header"):
                continue
            numbered = item.tag == f"{TEXT}list-item"
            count = _whole(item.get(f"{TEXT}start-value"), count + 1) if numbered else count
            first = True
            for child in item:
                if child.tag in (f"{TEXT}p", f"{TEXT}h"):
                    mark = self.lists.mark(style, [*counts, count]) if first and numbered else ""
                    self.item(len(counts), mark, self.text(child))
                    first = False
                elif child.tag == f"{TEXT}list":
                    self.nested_list(child, style, [*counts, max(count, 1)])
        if not counts:
            self.last[style] = [count]

    def item(self, depth: int, mark: str, text: str) -> None:
        if not text.strip():
            return
        if mark and not structure.ITEM.match(f"{mark} {text.strip()}"):
            self.end_list()
            self.out.paragraph(f"{mark} {text}")
        else:
            self.items.append((depth, f"{mark} {text}" if mark else text))

    def end_list(self) -> None:
        self.out.items(self.items)
        self.items = []

    def end(self) -> None:
        """Footnotes stand at the end of their section."""
        self.end_list()
        notes, self.notes = self.notes, []
        for note in notes:
            self.out.paragraph(note)

    def text(self, element: Any) -> str:
        return "".join(self.inline(element, 0))

    def inline(self, element: Any, depth: int) -> Iterator[str]:
        """Text in sight with line breaks; notes and comments are gathered, what is hidden is reported."""
        yield element.text or ""
        for child in element:
            tag = child.tag
            if tag in HIDDEN or child.get(f"{TEXT}style-name") in self.invisible:
                self.comments += tag == f"{OFFICE}annotation"
                self.out.hide("".join(child.itertext()))
            elif tag == f"{TEXT}note":
                noted = child.find(f"{TEXT}note-body")
                self.notes += ["".join(noted.itertext())] if noted is not None else []
            elif tag in (f"{TEXT}s", f"{TEXT}tab"):
                yield " "
            elif tag == f"{TEXT}line-break":
                yield "\n"
            elif tag == f"{DRAW}image":
                self.pictures += 1
            elif tag in (f"{DRAW}text-box", *COUNTS):
                pass  # a box stands below
            elif depth < MOST_DEPTH and tag != f"{TEXT}ruby-text":
                yield from self.inline(child, depth + 1)
            yield child.tail or ""

    def table(self, element: Any) -> None:
        rows = [row for _, row in self.rows(element)]
        marked = element.find(f"{TABLE}table-header-rows") is not None
        if len(rows) < 2 or max(map(len, rows)) < 2:
            for row in rows:
                self.out.paragraph(" ".join(row))
            return
        self.out.table()
        for _, sentence in table.sentences(rows, header=True if marked else None):
            self.out.row(sentence)
        self.out.table()

    def rows(self, element: Any) -> Iterator[tuple[int, list[str]]]:
        """Number, from 1, and cells of each row with text. A value that spans rows holds for each of them."""
        number = 0
        down: dict[int, tuple[int, str]] = {}
        for row in element.iter(f"{TABLE}table-row"):
            times = _whole(row.get(f"{TABLE}number-rows-repeated"), 1)
            cells: list[str] = []
            for cell in row:
                if cell.tag not in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
                    continue
                for comment in cell.iter(f"{OFFICE}annotation"):
                    self.comments += 1
                    self.out.hide(" ".join(comment.itertext()))
                shown = (p for p in cell.iter(f"{TEXT}p") if p.getparent().tag != f"{OFFICE}annotation")
                text = " ".join(" ".join(map(self.text, shown)).split())
                left, above = down.get(len(cells), (0, ""))
                if cell.tag == f"{TABLE}covered-table-cell" and left:
                    text, down[len(cells)] = above, (left - 1, above)
                elif (span := _whole(cell.get(f"{TABLE}number-rows-spanned"), 1)) > 1:
                    down[len(cells)] = (span - 1, text)
                again = _whole(cell.get(f"{TABLE}number-columns-repeated"), 1)
                cells += [text] * min(again, MOST_REPEATED if text else 100)
            while cells and not cells[-1]:
                cells.pop()
            for at in range(min(times, MOST_REPEATED) if cells else 0):
                yield number + at + 1, list(cells)
            number += times

    def sheets(self, body: Any) -> None:
        for sheet in body.iter(f"{TABLE}table"):
            name = sheet.get(f"{TABLE}name") or ""
            if sheet.get(f"{TABLE}style-name") in self.invisible:
                self.hidden += 1
                self.out.hide(" ".join("".join(sheet.itertext()).split()))
                continue
            rows = list(self.rows(sheet))
            if len(rows) > MAX_BLOCKS:
                raise Quarantined("oversize", f"a sheet has more than {MAX_BLOCKS:,} rows", hint="split the workbook")
            if not rows:
                continue
            self.out.sheet = name
            self.out.leave_sections()
            self.out.heading(name, 1)
            parts: list[list[tuple[int, list[str]]]] = [[]]
            for number, row in rows:
                if parts[-1] and number > parts[-1][-1][0] + 1:
                    parts.append([])  # a blank row: another table
                parts[-1].append((number, row))
            for part in parts:
                self.out.table()
                for index, sentence in table.sentences([row for _, row in part]):
                    self.out.row(sentence, part[index - 1][0])
        self.out.sheet = None

    def slide(self, page: Any) -> None:
        frames = [frame for frame in page.iter(f"{DRAW}frame") if frame.find(f"{DRAW}text-box") is not None]
        titles = [frame for frame in frames if frame.get(f"{PRESENTATION}class") == "title"]
        if titles:
            self.out.heading(" ".join(self.text(p) for p in titles[0].iter(f"{TEXT}p")), 1)
        else:
            self.out.leave_sections()
        for frame in page.iter(f"{DRAW}frame"):
            notes = frame.getparent().tag == f"{PRESENTATION}notes"
            if frame in titles or frame.get(f"{PRESENTATION}class") in ("page", "date-time", "footer", "page-number"):
                continue
            if notes:
                if text := " ".join(" ".join(self.text(p) for p in frame.iter(f"{TEXT}p")).split()):
                    self.out.paragraph(f"Speaker's notes: {text}")
                continue
            self.blocks(frame, 0)
            self.end()


def _invisible(roots: list[Any]) -> set[str]:
    """Names of styles whose text or table nobody sees."""
    names = set()
    for root in roots:
        for style in root.iter(f"{STYLE}style"):
            shows = [p.get(f"{TABLE}display") or p.get(f"{TEXT}display") for p in style]
            if "false" in shows or "none" in shows:
                names.add(style.get(f"{STYLE}name") or "")
    return names - {""}


def _whole(value: str | None, otherwise: int) -> int:
    return int(value) if value and value.isdecimal() and len(value) < 8 else otherwise
