"""In a child process: one page of a PDF as a picture that shows only what is known.

Known are the letters of the text layer, lines across, and boxes. Everything else that a page can show may hold words
that no layer of text tells of: pictures, drawings, shadings, letters without a meaning, comments and form fields. They
are painted over before the page is drawn, or are not drawn at all.
"""

import ctypes
import json
import struct
import zlib
from math import sqrt
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from graph.errors import DocumentError, Quarantined
from graph.knowledge.loaders.pdf_glyphs import letters, unread
from graph.knowledge.sandbox import refusal

WIDTH, MOST_PIXELS, MOST_SCALE = 1_100, 2_500_000, 4.0  # of a picture; pixels a point
MOST_CHARACTERS, MOST_OBJECTS = 20_000, 60_000  # of a page; a page of a newspaper has 15,000 letters
MOST_PAGES, MOST_LETTERS = 500, 500_000  # of a document whose letters are read all at once
LEAST_WIDE = 24.0  # points; what is narrower may be a part of a letter, or of a code of bars
HAIR = 3.0  # points; what is thinner covers no words
GREY, BLACK = 175, 20  # of 255; black and white letters can be read on the grey
YELLOW = (255, 230, 90)  # what white becomes where a quote is marked
MARGIN = 0.12  # of a letter's height: how far it may reach beyond its box
_BLANK = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_SHADING)

Box = tuple[float, float, float, float]  # left, bottom, right, top, in points
_open: dict[str, Any] = {}  # the document and the page that the child was given


def answer(data: bytes, request: dict[str, Any]) -> bytes:
    """`do` is `letters`, with the file: what each page says, as JSON, a code for each letter; or `text`, with the file:
    the same of one page; then `picture`: this page as PNG, with ranges of its letters painted `black` and others
    `marked`; before it, in 8 bytes, how far down the first mark begins, as a share of the height, and -1 without one.
    """
    try:
        if request["do"] == "letters":
            return b"D" + json.dumps(_letters(data)).encode()
        if request["do"] == "text":
            return b"D" + json.dumps(_text(data, request["page"])).encode()
        return b"D" + _picture(request["black"], request["marked"])
    except (DocumentError, MemoryError) as error:
        return refusal(error)


def _letters(data: bytes) -> list[list[int]]:
    try:
        document = pypdfium2.PdfDocument(data)
        codes: list[list[int]] = []
        for page in document:
            text = page.get_textpage()
            codes.append(letters(text))
            if len(codes) > MOST_PAGES or sum(map(len, codes)) > MOST_LETTERS:
                raise Quarantined(
                    "oversize", "the document has too much on its pages to be drawn", hint="read its text"
                )
    except pypdfium2.PdfiumError as exc:
        raise DocumentError("broken", "its pages cannot be read", hint="read its text") from exc
    return codes


def _text(data: bytes, number: int) -> dict[str, Any]:
    try:
        document = pypdfium2.PdfDocument(data)
        if not 1 <= number <= len(document):
            raise Quarantined("page", f"the document has {len(document)} pages", hint="name one of them")
        page = document[number - 1]
        text = page.get_textpage()
    except pypdfium2.PdfiumError as exc:
        raise DocumentError("broken", f"page {number} cannot be read", hint="open the file in a PDF viewer") from exc
    count = text.count_chars()
    if count > MOST_CHARACTERS or pdfium.FPDFPage_CountObjects(page) > MOST_OBJECTS:
        raise Quarantined("oversize", f"page {number} has too much on it to be drawn", hint="read its text")
    _open.update(document=document, page=page, text=text)
    codes = letters(text)
    if count and not any(_painted(text, at) for at in range(count)):
        raise Quarantined("scanned", f"page {number} is a picture of text", hint="read its text")
    return {"codes": codes, "pages": len(document)}


def _painted(text: Any, at: int) -> bool:
    """Whether this letter is drawn: those that text recognition laid over a scan are not."""
    shape = pdfium.FPDFText_GetTextObject(text, at)
    hidden = (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)
    return bool(shape) and pdfium.FPDFTextObj_GetTextRenderMode(shape) not in hidden


def _picture(black: list[list[int]], marked: list[list[int]]) -> bytes:
    page, text = _open["page"], _open["text"]
    count = text.count_chars()
    unknown = [[at, at + 1] for at in unread(text)]
    areas = [
        (_boxes(text, ranges), colour) for ranges, colour in ((marked, "mark"), (unknown, "grey"), (black, "black"))
    ]
    _blank_the_unknown(page, {_address(pdfium.FPDFText_GetTextObject(text, at)) for at in range(count)})
    width, height = page.get_size()
    scale = min(WIDTH / width, sqrt(MOST_PIXELS / (width * height)), MOST_SCALE)
    drawn = page.render(scale=scale, may_draw_forms=False, draw_annots=False, rev_byteorder=True)
    pixels = bytearray(drawn.buffer)
    tops = []
    for boxes, colour in areas:
        for box in boxes:
            place = _place(page, drawn, box)
            tops += [place[1]] if colour == "mark" else []
            _paint(pixels, drawn, place, colour)
    at = struct.pack(">d", min(tops) / drawn.height if tops else -1.0)
    return at + _png(pixels, drawn.width, drawn.height, drawn.stride)


# -- letters ----------------------------------------------------------------------------------------------------------


def _boxes(text: Any, ranges: list[list[int]]) -> list[Box]:
    """One for each run of letters on a line: the boxes of single letters would tell which they are."""
    boxes: list[Box] = []
    for start, end in ranges:
        run: Box | None = None
        for at in range(start, end):
            box = _box(text, at)
            if box is None:
                continue
            if run is not None and _beside(run, box):
                run = (min(run[0], box[0]), min(run[1], box[1]), max(run[2], box[2]), max(run[3], box[3]))
            else:
                boxes += [run] if run else []
                run = box
        boxes += [run] if run else []
    return boxes


def _box(text: Any, at: int) -> Box | None:
    """All that a letter may cover: its ink, the room of its font, and a margin. None for blanks that are not drawn."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    loose = pdfium.FS_RECTF()
    ink = pdfium.FPDFText_GetCharBox(text, at, left, right, bottom, top)
    room = pdfium.FPDFText_GetLooseCharBox(text, at, loose)
    sides = [(left.value, bottom.value, right.value, top.value)] if ink else []
    sides += [(loose.left, min(loose.bottom, loose.top), loose.right, max(loose.bottom, loose.top))] if room else []
    if not sides or pdfium.FPDFText_IsGenerated(text, at) == 1:
        return None
    x0, y0 = min(side[0] for side in sides), min(side[1] for side in sides)
    x1, y1 = max(side[2] for side in sides), max(side[3] for side in sides)
    more = MARGIN * max(y1 - y0, x1 - x0)
    return (x0 - more, y0 - more, x1 + more, y1 + more)


def _beside(run: Box, letter: Box) -> bool:
    """Whether a letter goes on with the line of these."""
    low, high = max(run[1], letter[1]), min(run[3], letter[3])
    height = min(run[3] - run[1], letter[3] - letter[1])
    return high - low > 0.5 * height and -height < letter[0] - run[2] < 2 * height


# -- what is not known ------------------------------------------------------------------------------------------------


def _blank_the_unknown(page: Any, known: set[int]) -> None:
    """Takes what may hold words that no text layer tells of out of the page. A grey box stays in its place, as deep, so
    that nothing comes to light that was painted over."""
    for index in reversed(range(pdfium.FPDFPage_CountObjects(page))):
        shape = pdfium.FPDFPage_GetObject(page, index)
        if _harmless(shape, known):
            continue
        area = _cover(shape)
        pdfium.FPDFPage_RemoveObject(page, shape)
        pdfium.FPDFPageObj_Destroy(shape)
        if area is not None:
            pdfium.FPDFPage_InsertObjectAtIndex(page, _grey(area), index)


def _harmless(shape: Any, known: set[int], depth: int = 0) -> bool:
    kind = pdfium.FPDFPageObj_GetType(shape)
    if kind == pdfium.FPDF_PAGEOBJ_TEXT:
        return _address(shape) in known
    if kind == pdfium.FPDF_PAGEOBJ_FORM:
        count = pdfium.FPDFFormObj_CountObjects(shape)
        inside = (pdfium.FPDFFormObj_GetObject(shape, index) for index in range(max(count, 0)))
        return depth < 5 and count <= MOST_OBJECTS and all(_harmless(one, known, depth + 1) for one in inside)
    return kind == pdfium.FPDF_PAGEOBJ_PATH and _is_box(shape) and _plainly_cut(shape)


def _is_box(shape: Any) -> bool:
    """Whether a path is one line across, or one upright box of some width."""
    count = pdfium.FPDFPath_CountSegments(shape)
    left, _, right, _ = _bounds(shape)
    if not 2 <= count <= 6 or right - left < LEAST_WIDE:
        return False
    segments = [pdfium.FPDFPath_GetPathSegment(shape, index) for index in range(count)]
    kinds = [pdfium.FPDFPathSegment_GetType(segment) for segment in segments]
    if kinds[0] != pdfium.FPDF_SEGMENT_MOVETO or pdfium.FPDF_SEGMENT_BEZIERTO in kinds:
        return False
    points = [_point(segment) for segment in segments]
    return all(
        kind == pdfium.FPDF_SEGMENT_MOVETO or abs(a[0] - b[0]) < 0.5 or abs(a[1] - b[1]) < 0.5
        for a, b, kind in zip(points, points[1:], kinds[1:], strict=False)
    )


def _point(segment: Any) -> tuple[float, float]:
    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(segment, x, y)
    return x.value, y.value


def _plainly_cut(shape: Any) -> bool:
    """Whether nothing, or a box, cuts it out: letters can be cut out of a box."""
    clip = pdfium.FPDFPageObj_GetClipPath(shape)
    count = pdfium.FPDFClipPath_CountPaths(clip) if clip else 0
    for path in range(max(count, 0)):
        length = pdfium.FPDFClipPath_CountPathSegments(clip, path)
        kinds = {
            pdfium.FPDFPathSegment_GetType(pdfium.FPDFClipPath_GetPathSegment(clip, path, index))
            for index in range(min(max(length, 0), 6))
        }
        if length > 6 or pdfium.FPDF_SEGMENT_BEZIERTO in kinds:
            return False
    return count <= 8


def _cover(shape: Any) -> Box | None:
    """Where grey takes its place: none for what is too thin to cover words, and for letters that nobody can read."""
    left, bottom, right, top = _bounds(shape)
    if pdfium.FPDFPageObj_GetType(shape) == pdfium.FPDF_PAGEOBJ_TEXT or min(right - left, top - bottom) < HAIR:
        return None
    more = 0 if pdfium.FPDFPageObj_GetType(shape) in _BLANK else 1 + min(right - left, top - bottom, 20) / 2
    return (left - more, bottom - more, right + more, top + more)


def _bounds(shape: Any) -> Box:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not pdfium.FPDFPageObj_GetBounds(shape, left, bottom, right, top):
        return (0.0, 0.0, 0.0, 0.0)
    return (left.value, bottom.value, right.value, top.value)


def _grey(area: Box) -> Any:
    box = pdfium.FPDFPageObj_CreateNewRect(area[0], area[1], area[2] - area[0], area[3] - area[1])
    pdfium.FPDFPageObj_SetFillColor(box, GREY, GREY, GREY, 255)
    pdfium.FPDFPath_SetDrawMode(box, pdfium.FPDF_FILLMODE_WINDING, 0)
    return box


def _address(shape: Any) -> int:
    return ctypes.cast(shape, ctypes.c_void_p).value or 0


# -- the picture ------------------------------------------------------------------------------------------------------


def _place(page: Any, drawn: Any, box: Box) -> tuple[int, int, int, int]:
    """Left, top, right and bottom in pixels, whole ones, inside the picture."""
    x, y = ctypes.c_int(), ctypes.c_int()
    corners = []
    for px, py in ((box[0], box[1]), (box[2], box[3])):
        pdfium.FPDF_PageToDevice(page, 0, 0, drawn.width, drawn.height, 0, px, py, x, y)
        corners.append((x.value, y.value))
    (x0, y0), (x1, y1) = corners
    left, right = max(min(x0, x1) - 1, 0), min(max(x0, x1) + 2, drawn.width)
    top, bottom = max(min(y0, y1) - 1, 0), min(max(y0, y1) + 2, drawn.height)
    return left, top, right, bottom


_TINTS = [bytes(min(value, most) for value in range(256)) for most in YELLOW]


def _paint(pixels: bytearray, drawn: Any, place: tuple[int, int, int, int], colour: str) -> None:
    left, top, right, bottom = place
    for row in range(top, bottom if right > left else top):
        start, end = row * drawn.stride + 3 * left, row * drawn.stride + 3 * right
        if colour == "mark":
            for channel, tint in enumerate(_TINTS):
                pixels[start + channel : end : 3] = pixels[start + channel : end : 3].translate(tint)
        else:
            pixels[start:end] = bytes([GREY if colour == "grey" else BLACK]) * (end - start)


def _png(pixels: bytearray, width: int, height: int, stride: int) -> bytes:
    rows = b"".join(b"\0" + pixels[row * stride : row * stride + 3 * width] for row in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 5)), (b"IEND", b""))
    chunks = (struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in parts)
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
