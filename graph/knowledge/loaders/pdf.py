"""PDF: paragraphs, lists and headings rebuilt from the lines on each page."""

import ctypes
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.text import MARK, NUMBERED

MAX_PAGES = 5_000
SMALLEST = 4.0  # points; nobody reads smaller letters
MARGIN = 0.1  # part of the page height in which running heads and feet stand
FEW_LINES = 3  # and how many of the lines at either end may be such
WHITE = 250  # of 255, in all three colours
_BARE_NUMBER = re.compile(
    r"[-–— ]*(?:page|seite|p\.)?\s*(?:\d{1,4}|[ivxlc]{1,6})(?:\s*(?:of|/|von)\s*\d{1,4})?[-–— ]*", re.I
)
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})[-\u00ad\u2010\ufffe]$")
_END = re.compile(r"[.!?:;。؟۔][\"'”’)\]]*$")


@dataclass
class Line:
    """Words at one height. Places and sizes are in points from the lower left corner of the page."""

    text: str
    left: float
    right: float
    bottom: float
    size: float
    bold: bool
    page: int
    gaps: list[int] = field(default_factory=list)  # offsets in `text` of wide gaps: columns of a table


def read(data: bytes, out: Builder) -> None:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as exc:
        if getattr(exc, "err_code", None) == pdfium.FPDF_ERR_PASSWORD:
            raise Quarantined(
                "encrypted", "the PDF is locked with a password", hint="save it without a password"
            ) from exc
        raise DocumentError(
            "broken", "the PDF is cut short or damaged", hint="open it in a PDF viewer and save or print it again"
        ) from exc
    with document:
        if len(document) > MAX_PAGES:
            raise Quarantined("oversize", f"the PDF has more than {MAX_PAGES:,} pages", hint="split it")
        pages: list[list[Line]] = []
        pictures = 0
        for number in range(len(document)):
            lines, has_picture = _page(document, number, out)
            pictures += has_picture and not lines
            pages.append(lines)
        for value in document.get_metadata_dict(skip_empty=True).values():
            out.hide(value)
    if pictures and pictures * 2 >= len(pages):
        raise Quarantined(
            "scanned",
            f"{pictures} of {len(pages)} pages are pictures without text",
            hint="run text recognition (OCR) over it first",
        )
    _write(_without_running(pages), out)


def _page(document: Any, number: int, out: Builder) -> tuple[list[Line], bool]:
    try:
        page = document[number]
    except pypdfium2.PdfiumError as exc:
        raise DocumentError("broken", f"page {number + 1} of the PDF is damaged", hint="print it to a new PDF") from exc
    text = page.get_textpage()
    lines = list(_Reader(page, text, number + 1, out).lines())
    has_picture = not lines and any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3))
    _annotations(page, out)
    text.close()
    page.close()
    return lines, has_picture


def _annotations(page: Any, out: Builder) -> None:
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), 200)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        length = pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
        if 2 < length < 100_000:
            buffer = ctypes.create_string_buffer(length)
            pdfium.FPDFAnnot_GetStringValue(
                annotation, b"Contents", ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length
            )
            out.hide(buffer.raw[: length - 2].decode("utf-16-le", errors="replace"))
        pdfium.FPDFPage_CloseAnnot(annotation)


class _Reader:
    """The visible lines of one page, in the order of the file, which is the reading order in all but odd PDFs."""

    def __init__(self, page: Any, text: Any, number: int, out: Builder) -> None:
        self.page, self.text, self.number, self.out = page, text, number, out
        self.left, self.bottom, self.right, self.top = page.get_bbox()
        self.seen: dict[int, bool] = {}
        self.dark: list[tuple[float, float, float, float]] | None = None
        self.box = pdfium.FS_RECTF()

    def lines(self) -> Iterator[Line]:
        """A line is what lies between two line ends that pdfium found; hidden words are taken out and reported."""
        count = self.text.count_chars()
        codes = [pdfium.FPDFText_GetUnicode(self.text, index) for index in range(count)]
        start = 0
        for index in range(count + 1):
            if index == count or codes[index] in (10, 13):
                if index > start and (line := self.line(start, codes[start:index])) is not None:
                    yield line
                start = index + 1

    def line(self, start: int, codes: list[int]) -> Line | None:
        words: list[str] = []
        gaps: list[int] = []
        hidden: list[str] = []
        sizes: list[float] = []
        left = bottom = right = 0.0
        length, position = 0, 0
        while position < len(codes):
            if codes[position] <= 32 or codes[position] == 160:
                position += 1
                continue
            end = position
            while end < len(codes) and codes[end] > 32 and codes[end] != 160:
                end += 1
            word = _characters(codes[position:end])
            first, last = self.place(start + position), self.place(start + end - 1)
            size = first[3] - first[1]
            if not self.visible(start + position, first, size):
                hidden.append(word)
            elif words:
                if first[0] - right > 1.6 * size and first[0] > right:
                    gaps.append(length)
                words.append(word)
                length += len(word) + 1
                right = last[2]
                sizes.append(size)
            else:
                words, length = [word], len(word)
                left, bottom, right = first[0], first[1], last[2]
                sizes.append(size)
                sample = start + position
            position = end
        if hidden:
            self.out.hide(" ".join(hidden))
        if not words:
            return None
        weight = pdfium.FPDFText_GetFontWeight(self.text, sample)
        bold = weight >= 600 or "bold" in self.font(sample)
        return Line(" ".join(words), left, right, bottom, round(median(sizes), 1), bold, self.number, gaps)

    def place(self, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a character with the space of its font around it."""
        box = self.box
        if not pdfium.FPDFText_GetLooseCharBox(self.text, index, box):
            return (0.0, 0.0, 0.0, 0.0)
        return (box.left, box.bottom, box.right, box.top)

    def font(self, index: int) -> str:
        buffer = ctypes.create_string_buffer(128)
        flags = ctypes.c_int()
        pdfium.FPDFText_GetFontInfo(self.text, index, buffer, 128, flags)
        return buffer.value.decode("latin-1").lower()

    def visible(self, index: int, place: tuple[float, float, float, float], size: float) -> bool:
        left, bottom, right, top = place
        if max(size, right - left) < SMALLEST:
            return False
        x, y = (left + right) / 2, (bottom + top) / 2
        if not (self.left <= x <= self.right and self.bottom <= y <= self.top):
            return False
        shape = pdfium.FPDFText_GetTextObject(self.text, index)
        if not shape:
            return True
        address = ctypes.cast(shape, ctypes.c_void_p).value or 0
        if address not in self.seen:
            self.seen[address] = self.painted(shape)
        return self.seen[address] or self.on_dark(x, y)

    @staticmethod
    def painted(shape: Any) -> bool:
        """Whether letters are painted at all, and in a colour other than that of the paper."""
        mode = pdfium.FPDFTextObj_GetTextRenderMode(shape)
        if mode in (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP):
            return False
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        get = pdfium.FPDFPageObj_GetFillColor
        if mode in (pdfium.FPDF_TEXTRENDERMODE_STROKE, pdfium.FPDF_TEXTRENDERMODE_STROKE_CLIP):
            get = pdfium.FPDFPageObj_GetStrokeColor
        if not get(shape, red, green, blue, alpha):
            return True
        return alpha.value > 10 and min(red.value, green.value, blue.value) < WHITE

    def on_dark(self, x: float, y: float) -> bool:
        """Whether something that is not white is painted at this place: white letters are read on it."""
        if self.dark is None:
            self.dark = [area for area in map(_dark_area, self.page.get_objects(max_depth=3)) if area is not None]
        return any(left <= x <= right and bottom <= y <= top for left, bottom, right, top in self.dark)


def _dark_area(shape: Any) -> tuple[float, float, float, float] | None:
    if shape.type == pdfium.FPDF_PAGEOBJ_PATH:
        mode, stroke = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDFPath_GetDrawMode(shape, mode, stroke)
        if not mode.value:
            return None
        red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
        known = pdfium.FPDFPageObj_GetFillColor(shape, red, green, blue, alpha)
        if known and (alpha.value <= 10 or min(red.value, green.value, blue.value) >= WHITE):
            return None
    elif shape.type not in (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING):
        return None
    left, bottom, right, top = shape.get_bounds()
    return (left, bottom, right, top)


def _characters(codes: list[int]) -> str:
    """Text of UTF-16 units or code points, as pdfium gives either."""
    if any(0xD800 <= code < 0xE000 for code in codes):
        return b"".join(code.to_bytes(2, "little") for code in codes if code < 0x10000).decode("utf-16-le", "replace")
    return "".join(map(chr, codes))


def _without_running(pages: list[list[Line]]) -> list[list[Line]]:
    """Without lines at the edge that repeat from page to page, and without bare page numbers."""
    if len(pages) < 2:
        return pages
    edges = [_edges(lines) for lines in pages]
    repeated = Counter(_pattern(line) for lines in edges for line in lines)
    often = max(2 if len(pages) < 4 else 3, len(pages) * 0.4)
    kept = []
    for lines, edge in zip(pages, edges, strict=True):
        dropped = {id(e) for e in edge if repeated[_pattern(e)] >= often or _BARE_NUMBER.fullmatch(e.text)}
        kept.append([line for line in lines if id(line) not in dropped])
    return kept


def _edges(lines: list[Line]) -> list[Line]:
    """The first and last few lines by height, where they stand apart from the body of the page."""
    ordered = sorted(lines, key=lambda line: -line.bottom)
    if len(ordered) <= 2:
        return [line for line in ordered if _BARE_NUMBER.fullmatch(line.text)]
    found = []
    for side in (ordered, ordered[::-1]):
        apart = 0
        for index in range(min(FEW_LINES, len(side) - 1)):
            gap = abs(side[index].bottom - side[index + 1].bottom)
            if gap > 1.8 * max(side[index].size, side[index + 1].size):
                apart = index + 1
        found += side[:apart]
    return found


def _pattern(line: Line) -> tuple[str, int]:
    return re.sub(r"\d+", "#", line.text), round(line.bottom / 4)


def _write(pages: list[list[Line]], out: Builder) -> None:
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
    body = sizes.most_common(1)[0][0] if sizes else 0.0
    levels: dict[float, int] = {}
    level, last = 0, 0.0
    for size in sorted((size for size in sizes if size > body * 1.12), reverse=True):
        if abs(last - size) > 0.6:  # less is rounding, not another level
            level, last = level + 1, size
        levels[size] = min(3, level)
    # A paragraph may run over the end of a page: it belongs to the page where it begins.
    paragraph: list[Line] = []
    for lines in pages:
        pitch, right = _pitch(lines), max((line.right for line in lines), default=0.0)
        for index, line in enumerate(lines):
            above = paragraph[-1] if paragraph else None
            if above is not None and not _continues(above, line, pitch, right, levels):
                _block(paragraph, levels, out)
                paragraph = []
            paragraph.append(line)
            if index + 1 == len(lines) and (_END.search(line.text) or line.right < right * 0.85):
                _block(paragraph, levels, out)
                paragraph = []
    if paragraph:
        _block(paragraph, levels, out)


def _pitch(lines: list[Line]) -> float:
    """The usual distance between lines of the page, in points."""
    steps = [a.bottom - b.bottom for a, b in pairwise(lines) if 0 < a.bottom - b.bottom < 60]
    return median(steps) if steps else 0.0


def _continues(above: Line, line: Line, pitch: float, right: float, levels: dict[float, int]) -> bool:
    """Whether `line` belongs to the paragraph that `above` is in."""
    if MARK.match(line.text) or above.gaps or line.gaps or abs(above.size - line.size) > 0.6:
        return False
    if above.page != line.page:
        return not _END.search(above.text) and line.text[:1].islower()
    step = above.bottom - line.bottom
    if step < -2 or step > max(1.35 * pitch, 1.9 * line.size) or (pitch and step > 1.35 * pitch):
        return False  # the next column, or a gap
    if above.size in levels:
        return True  # a heading of two lines
    if above.bold != line.bold and (above.bold and _heading_like(above.text)):
        return False
    # A line that ends early, after a full stop, ends its paragraph.
    return not (_END.search(above.text) and above.right < above.left + 0.8 * (right - above.left))


def _heading_like(text: str) -> bool:
    return len(text) <= 100 and not text.endswith((".", ",", ";")) and any(letter.isalpha() for letter in text)


def _block(lines: list[Line], levels: dict[float, int], out: Builder) -> None:
    out.page = lines[0].page
    first, text = lines[0], _joined(lines)
    numbered = NUMBERED.match(text)
    if len(lines) <= 3 and first.size in levels and len(text) <= 200 and any(letter.isalpha() for letter in text):
        out.heading(text, levels[first.size])
    elif len(lines) == 1 and first.bold and _heading_like(text) and not first.gaps:
        depth = (numbered.group(1) or "").count(".") if numbered else 0
        out.heading(text, max(levels.values(), default=0) + 1 + depth)
    elif len(lines) == 1 and numbered and numbered.group(1) and "." in numbered.group(1) and _heading_like(text):
        out.heading(text, max(levels.values(), default=0) + 1 + numbered.group(1).count("."))
    elif MARK.match(text):
        out.items([(0, text)])
    else:
        out.paragraph(_cells(first) if len(lines) == 1 and first.gaps else text)


def _cells(line: Line) -> str:
    """A line with wide gaps, as a row of a table."""
    bounds = [0, *line.gaps, len(line.text)]
    return " | ".join(line.text[start:end].strip() for start, end in pairwise(bounds))


def _joined(lines: list[Line]) -> str:
    """One line of text: words divided at a line end are put together where the next line goes on in small letters."""
    text = lines[0].text
    for line in lines[1:]:
        if _HYPHEN.search(text) and line.text[:1].islower():
            text = text[:-1] + line.text
        else:
            text += " " + line.text
    return text
