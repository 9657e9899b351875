"""PDF: the lines on each page that a reader sees, and what is there besides."""

import ctypes
import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise, takewhile
from operator import itemgetter
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders import picture, symbol_fonts
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.normalise import BULLETS
from graph.knowledge.loaders.pdf_annotations import Annotations
from graph.knowledge.loaders.pdf_columns import from_the_top, in_reading_order, title_first
from graph.knowledge.loaders.pdf_drawn import WHITE, drawn
from graph.knowledge.loaders.pdf_glyphs import letters
from graph.knowledge.loaders.pdf_grids import Upright, in_rows
from graph.knowledge.loaders.pdf_layout import justified, write
from graph.knowledge.loaders.pdf_line_numbers import without_line_numbers
from graph.knowledge.loaders.pdf_lines import WIDE, Line, hangs, same_row, with_bullets
from graph.knowledge.loaders.pdf_margins import SMALLER, put_back, set_apart
from graph.knowledge.loaders.pdf_raised import without_raised
from graph.knowledge.loaders.pdf_running import without_running
from graph.knowledge.loaders.pdf_tables import Rule, joined

MAX_PAGES = 5_000
ADVICE = "install cordon[ocr], or run text recognition (OCR) over it first"
LINE_END_HYPHEN = 2  # what pdfium gives for a hyphen and the line end after it
_BEHIND = frozenset(".,;:)]}\"'”’!?")
_Place = tuple[float, float, float, float]  # left, bottom, right, top
ASCENT, DESCENT = 0.8, 0.2  # of the size: where letters end in fonts that do not say so
OTHER_HEIGHT = 0.6  # of the size: words so far above or below the one before stand in another line
BACK = 4  # times the size: a word so far to the left of the one before begins another line
FAR = 8  # times the size: no number is set out so far from its text
LINE_HEIGHT = 0.85  # of the size: from the lowest to the highest place of letters, at least
TIMES_A_LETTER = 4  # the size of a font is no more times the width or height of any of its letters
SMALLEST = 4.0  # points; nobody reads smaller letters
_NO_LETTER = re.compile(rf"(?![{BULLETS}])[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff]")
_ACCENTED, _PLAIN = re.compile("[\u00a1-\u024f]"), re.compile("[A-Za-z]")

_SMALL_CAPITALS = re.compile(r"small ?cap|[-_](?:[a-z]+)?sc\d*$|^(?:[a-z]+\+)?[a-z]*csc\d+$")  # in the names of fonts
_SIGNS = re.compile("symbol|wingding|dingbat")  # in the names of fonts
PRIVATE = range(0xF020, 0xF100)  # the letters of symbol fonts


@dataclass
class _Sheet:
    """The visible lines of a page, and what is drawn on it."""

    lines: list[Line]
    rules: list[Rule] = field(default_factory=list)
    uprights: list[Upright] = field(default_factory=list)
    sides: list[Upright] = field(default_factory=list)  # of shaded cells


def read(data: bytes, out: Builder) -> None:
    """In reading order, without running heads and feet, cells of tables put together."""
    sheets = _sheets(data, out)
    pages = with_bullets(without_line_numbers([sheet.lines for sheet in sheets]))
    lines = without_running([[without_raised(line) for line in own] for own in pages])
    lines = [title_first(from_the_top(own)) for own in lines]
    read = zip(lines, sheets, strict=True)
    write(
        [
            joined(in_reading_order(justified(in_rows(own, sheet.rules, sheet.uprights, sheet.sides))), sheet.rules)
            for own, sheet in read
        ],
        out,
    )


def pages(data: bytes, out: Builder) -> list[list[Line]]:
    """The visible lines of every page, as `_sheets` gives them."""
    return [sheet.lines for sheet in _sheets(data, out)]


def _sheets(data: bytes, out: Builder) -> list[_Sheet]:
    """What is visible on every page; hidden text goes to `out`. Raises Quarantined "scanned" for a pile of pictures."""
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
        if document.get_formtype() != pdfium.FORMTYPE_NONE:
            document.init_forms()
        annotations = Annotations(out, document.formenv)
        sheets: list[_Sheet] = []
        pictures: list[int] = []
        unmapped: list[int] = []
        for number in range(1, len(document) + 1):
            page = _opened(document, number)
            text = page.get_textpage()
            rules, uprights, sides = drawn(page)
            lines = list(_Reader(page, text, number, out, uprights).lines())
            if not lines and any(True for _ in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3)):
                pictures.append(number)
            elif _unmapped(lines):
                unmapped.append(number)
            annotations.page(page, lines, number)
            sheets.append(_Sheet(lines, rules, uprights, sides))
            text.close()
            page.close()
        annotations.report(document)
        for name in ("Title", "Subject", "Keywords", "Author"):
            out.hide(document.get_metadata_value(name))
    if out.recognised == {} and (pictures or unmapped):
        raise picture.Unrecognised(sorted(pictures + unmapped))
    if out.recognised:
        read = {number: own for number in out.recognised if (own := picture.lines(out, number))}
        for number in sorted(read):
            sheets[number - 1] = _Sheet(read[number])
        pictures, unmapped = ([n for n in pages if n not in read] for pages in (pictures, unmapped))
        if read:
            picture.tell(out, sorted(read))
    for number in unmapped:
        sheet = sheets[number - 1]
        sheet.lines = [line for line in sheet.lines if 2 * len(_NO_LETTER.findall(line.text)) <= len(line.text)]
        if _numbered("".join(line.text for line in sheet.lines)):
            sheets[number - 1] = _Sheet([])  # nothing of it can be read
    if pictures and len(pictures) * 2 >= len(sheets) and not out.recognised:
        raise Quarantined(
            "scanned",
            f"{len(pictures)} of {len(sheets)} pages are pictures without text: {ADVICE}",
            hint=ADVICE,
        )
    if unmapped and not any(sheet.lines for sheet in sheets):
        raise Quarantined(
            "scanned",
            f"letters that cannot be told on {len(unmapped)} of {len(sheets)} pages: {ADVICE}",
            hint=ADVICE,
        )
    if pictures:
        out.note(f"{len(pictures)} of {len(sheets)} pages are pictures without text: {_listed(pictures)}")
    if unmapped:
        out.note(f"letters that cannot be told on {len(unmapped)} of {len(sheets)} pages: {_listed(unmapped)}")
    return sheets


def _opened(document: Any, number: int) -> Any:
    try:
        return document[number - 1]
    except pypdfium2.PdfiumError as exc:
        raise DocumentError("broken", f"page {number} of the PDF is damaged", hint="print it to a new PDF") from exc


def _unmapped(lines: list[Line]) -> bool:
    """Whether one letter in twenty is a sign without a meaning: the font does not say which letters it draws."""
    text = "".join(line.text for line in lines)
    return len(_NO_LETTER.findall(text)) > max(3, len(text) // 20) or _numbered(text)


def _numbered(text: str) -> bool:
    """Whether letters are the numbers of glyphs: one in ten is no letter at all, or most have accents, as in no
    language."""
    lost, accented = len(_NO_LETTER.findall(text)), len(_ACCENTED.findall(text))
    return lost > max(20, len(text) // 10) or accented > max(20, len(_PLAIN.findall(text)))


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:12])) + (", ..." if len(numbers) > 12 else "")


class _Reader:
    """The visible lines of one page, in the order of the file, which is the reading order in all but odd PDFs."""

    def __init__(self, page: Any, text: Any, number: int, out: Builder, uprights: Sequence[Upright] = ()) -> None:
        """`uprights` in the order of the page, from left to right."""
        self.page, self.text, self.number, self.out, self.uprights = page, text, number, out, uprights
        self.left, self.bottom, self.right, self.top = page.get_bbox()
        self.seen: dict[int, bool] = {}
        self.drawings: dict[int, bool] = {}
        self.capitals: dict[int, bool] = {}
        self.dark: list[tuple[float, float, float, float]] | None = None
        self.box = pdfium.FS_RECTF()

    def lines(self) -> Iterator[Line]:
        """A line is what lies between two line ends that pdfium found; hidden words are taken out and reported."""
        codes = letters(self.text)
        turned = list(self.turned(codes))
        pieces, notes = set_apart([*self.pieces(codes)])
        yield from put_back([*self.rows(pieces)], notes)
        yield from turned

    def rows(self, pieces: Sequence[Line]) -> Iterator[Line]:
        """The lines, those side by side as one."""
        last: Line | None = None
        for line in pieces:
            if last is not None and same_row(last, line):
                # cells of a table, and small raised numbers
                last.append(line, self.bordered(last.right, line.left, line.bottom + line.size / 2))
                continue
            if last is not None:
                yield last
            last = line
        if last is not None:
            yield last

    def turned(self, codes: list[int]) -> Iterator[Line]:
        """The lines that run up or down the page, as headings of narrow columns do; in `codes` a line end is put in
        place of their letters, since pdfium divides them at any place. None of a page that is printed on its side."""
        letters = [at for at, code in enumerate(codes) if code > 32]
        starts = [at for at in letters if at == 0 or codes[at - 1] in (10, 13)]
        if not any(map(self.runs, starts)) or 2 * sum(map(bool, map(self.runs, letters))) > len(letters):
            return
        letters = [at for at in letters if self.runs(at)]
        line: list[int] = []
        hidden = ""
        for index in letters:
            place = self.place(index)
            if not self.visible(index, place, place[2] - place[0]):
                hidden += chr(codes[index])
                continue
            if line and not self.follows(line[-1], index):
                yield self.upright(line, codes)
                line = []
            line.append(index)
        if line:
            yield self.upright(line, codes)
        if hidden:
            self.out.hide(hidden)
        for index in letters:
            codes[index] = 10

    def follows(self, before: int, index: int) -> bool:
        """Whether a letter stands in the same line up or down the page as the one before it in the file."""
        size = self.place(before)[2] - self.place(before)[0]
        beside = abs(self.place(before)[0] - self.place(index)[0]) >= 0.4 * size
        return not beside and self.runs(before) == self.runs(index) and -size < self.between(before, index) < 2 * size

    def between(self, before: int, index: int) -> float:
        """Points between two letters of a line up or down the page."""
        (_, low, _, high), (_, bottom, _, top) = self.place(before), self.place(index)
        return bottom - high if self.runs(before) > 0 else low - top

    def upright(self, letters: list[int], codes: list[int]) -> Line:
        lefts, lows, rights, highs = zip(*map(self.place, letters), strict=True)
        size = round(max(rights) - min(lefts), 1)
        text = chr(codes[letters[0]])
        for before, index in pairwise(letters):
            text += (" " if self.between(before, index) > 0.15 * size else "") + chr(codes[index])
        bottom = (min(lows) + max(highs) - size) / 2
        line = Line(text, min(lefts), max(rights), bottom, size, self.bold(letters[0]), self.number)
        line.turned = self.runs(letters[0])
        return line

    def runs(self, index: int) -> int:
        """1 for a letter of a line that runs up the page, -1 for one that runs down, else 0."""
        sine = math.sin(pdfium.FPDFText_GetCharAngle(self.text, index))
        return round(-sine) if abs(sine) > 0.99 else 0

    def pieces(self, codes: list[int]) -> Iterator[Line]:
        count = len(codes)
        start = 0
        for index in range(count + 1):
            divided = index < count and codes[index] == LINE_END_HYPHEN
            if divided:
                codes[index] = ord("-")
            if index == count or divided or codes[index] in (10, 13):
                end = index + divided
                while start < end:
                    line, read = self.line(start, codes[start:end])
                    start += read
                    if line is not None:
                        yield line
                start = index + 1

    def line(self, start: int, codes: list[int]) -> tuple[Line | None, int]:
        """The words that stand at one height, and how many of the codes they take: pdfium gives a cell in the middle of
        several rows as one line with the row beside it."""
        words: list[str] = []
        gaps: list[int] = []
        edges: list[tuple[float, float]] = []
        raised: list[tuple[int, int]] = []
        scripts: list[tuple[int, int]] = []
        hidden: list[str] = []
        hung: tuple[int, float, float] | None = None
        sizes: list[float] = []
        cells: list[list[float]] = [[]]
        left = bottom = right = level = 0.0
        length, position, sample, final = 0, 0, start, start
        while position < len(codes):
            if codes[position] <= 32 or codes[position] == 160:
                position += 1
                continue
            end = position
            while end < len(codes) and codes[end] > 32 and codes[end] != 160:
                end += 1
            word = self.word(start + position, codes[position:end])
            first, last = self.place(start + position), self.place(start + end - 1)
            size = first[3] - first[1]
            if not self.visible(start + position, first, size):
                hidden.append(word)
            elif words:
                gap = first[0] - right
                other = size > 0.75 * sizes[-1] and abs(first[1] - level) > OTHER_HEIGHT * size
                if other and gap > 0.4 * size and words[-1] not in BULLETS:
                    break
                back = gap < -BACK * size and not SMALLER < size / sizes[-1] < 1 / SMALLER
                if back and not self.runs(start + position):
                    break  # a note below or beside the text, or what follows one
                if len(words) == 1 and self.bullet(sample, words[0], gap, size):
                    words = ["•"]
                number = " ".join(words) if len(words) <= 2 else ""
                beside = gap > FAR * size and size < SMALLER * sizes[-1]  # a note in the margin
                if gap > 0.4 * size and not beside and hangs(number, word):
                    hung = (len(number), right, first[0])
                    words = [f"{number}."] if number.isdecimal() else words
                    length = len(" ".join(words))
                elif gap > WIDE * size or self.bordered(right, first[0], (first[1] + first[3]) / 2):
                    gaps.append(length)
                    edges.append((right, first[0]))
                    cells.append([])
                cells[-1].append(size)
                words.append(word)
                final = start + position
                length += len(word) + 1
                right = last[2]
                level = first[1] if size > 0.75 * sizes[-1] else level
                sizes.append(size)
            else:
                words, length = [word], len(word)
                cells = [[size]]
                left, bottom, right = first[0], first[1], last[2]
                level = bottom
                sizes.append(size)
                sample = final = start + position
            if (
                word[:1] == "("
                and words
                and words[-1] == word
                and (digits := self.raised(start + position, word, size))
            ):
                raised.append((length - len(word) + 1, length - len(word) + 1 + digits))
            if words and words[-1] == word and (tail := self.tail(codes[position:end], start + position, first, last)):
                scripts.append((length - len(word) + tail[0], length - len(word) + tail[1]))
            position = end
        if hidden:
            self.out.hide(" ".join(hidden))
        if not words:
            return None, position
        bold = self.bold(sample) and self.bold(final)
        heads = words[0].isupper() or (len(words[0]) > 1 and self.small_capitals(sample + 1))
        bold = bold or (heads and self.small_capitals(final))
        if len(words) <= 2:  # the boxes of letters like "p" are taller in some fonts: take those of all letters
            places = [self.place(final + at) for at in range(min(len(words[-1]), 12))]
            size = round(median(place[3] - place[1] for place in places), 1)
            bottom = median(place[1] for place in places)
        else:
            size = round(median(sizes), 1)
        text = " ".join(words)
        line = Line(text, left, right, bottom, size, bold, self.number, gaps, raised, edges)
        line.scripts, line.hung = scripts, hung
        line.sizes = [round(median(own), 1) for own in cells]
        return line, position

    def bullet(self, index: int, mark: str, gap: float, size: float) -> bool:
        """Whether a letter with a gap behind it marks an item: "o", as word processors mark the second level, or any of
        a font of signs, which may call them as it likes."""
        alone = len(mark) == 1 and mark.isalpha() and gap > 0.4 * size
        return alone and ((mark == "o" and gap > 0.7 * size) or _SIGNS.search(self.font(index)) is not None)

    def word(self, index: int, codes: list[int]) -> str:
        """The characters from an index on; those of a symbol font as what it shows."""
        if not any(code in PRIVATE for code in codes):
            return _characters(codes)
        return "".join(
            symbol_fonts.sign(code, "symbol") if code in PRIVATE and "symbol" in self.font(index + at) else chr(code)
            for at, code in enumerate(codes)
        ).replace("\u2212", "-")

    def bordered(self, left: float, right: float, height: float) -> bool:
        """Whether the border of a cell stands between two places at a height."""
        start = bisect_left(self.uprights, left - 1, key=itemgetter(0))
        between = takewhile(lambda upright: upright[0] <= right + 1, islice(self.uprights, start, None))
        return any(foot <= height <= head for _, foot, head in between)

    def bold(self, index: int) -> bool:
        return pdfium.FPDFText_GetFontWeight(self.text, index) >= 600 or "bold" in self.font(index)

    def small_capitals(self, index: int) -> bool:
        """Whether letters are small capitals: their font says too little of their height, and a line of them heads."""
        address = ctypes.cast(self.font_of(index), ctypes.c_void_p).value or 0
        if address not in self.capitals:
            self.capitals[address] = _SMALL_CAPITALS.search(self.font(index)) is not None
        return self.capitals[address]

    def font_of(self, index: int) -> Any:
        shape = pdfium.FPDFText_GetTextObject(self.text, index)
        return pdfium.FPDFTextObj_GetFont(shape) if shape else None

    def raised(self, index: int, word: str, size: float) -> int:
        """How many digits follow the bracket that `word` opens with, when they are small and raised; else 0."""
        digits = len(word[1:]) - len(word[1:].lstrip("0123456789"))
        if not digits or word[digits + 1 : digits + 2] not in ("", ")"):
            return 0
        bracket, digit = self.place(index), self.place(index + 1)
        return digits if digit[3] - digit[1] < 0.75 * size and digit[1] > bracket[1] else 0

    def tail(self, codes: list[int], index: int, first: _Place, last: _Place) -> tuple[int, int] | None:
        """Where in a word its raised end begins and ends, before the stop or bracket behind it."""
        if len(codes) < 2 or max(codes) > 0xFFFF:
            return None
        end = len(codes)
        while end > 1 and chr(codes[end - 1]) in _BEHIND:
            end -= 1
        if end < 2 or not (chr(codes[end - 1]).isdigit() or chr(codes[end - 1]) in "*†‡§"):
            return None
        height = first[3] - first[1]
        at = end
        while at > 1 and end - at < 8:
            place = last if at == len(codes) else self.place(index + at - 1)
            if not (place[3] - place[1] < 0.8 * height and place[1] > first[1] + 0.1 * height):
                break
            at -= 1
        return (at, end) if at < end else None

    def place(self, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a character with the space of its font around it."""
        box = self.box
        if not pdfium.FPDFText_GetLooseCharBox(self.text, index, box):
            return (0.0, 0.0, 0.0, 0.0)
        if self.drawn(index) or self.small_capitals(index):
            x, y, matrix = ctypes.c_double(), ctypes.c_double(), pdfium.FS_MATRIX()
            if pdfium.FPDFText_GetCharOrigin(self.text, index, x, y) and pdfium.FPDFText_GetMatrix(
                self.text, index, matrix
            ):
                size = pdfium.FPDFText_GetFontSize(self.text, index) * math.hypot(matrix.c, matrix.d)
                # The font may draw far smaller than its size says: what nobody can see stays small.
                size = min(size, TIMES_A_LETTER * max(box.right - box.left, box.top - box.bottom))
                return (box.left, y.value - DESCENT * size, box.right, y.value + ASCENT * size)
        return (box.left, box.bottom, box.right, box.top)

    def drawn(self, index: int) -> bool:
        """Whether the font is a set of drawings (Type 3), as browsers make of some fonts of the web. It has no name,
        and pdfium takes the height of one or two of its letters for that of a line."""
        font = self.font_of(index)
        address = ctypes.cast(font, ctypes.c_void_p).value or 0
        if address not in self.drawings:
            ascent, descent = ctypes.c_float(), ctypes.c_float()
            if font:
                pdfium.FPDFFont_GetAscent(font, 1.0, ascent)
                pdfium.FPDFFont_GetDescent(font, 1.0, descent)
            low = ascent.value - descent.value < LINE_HEIGHT
            self.drawings[address] = bool(font) and low and not self.font(index)
        return self.drawings[address]

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
