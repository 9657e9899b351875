"""What is drawn on a PDF page: lines across and upright ones, the edges of boxes, shaded cells."""

import ctypes
from collections import deque
from typing import Any

import pypdfium2.raw as pdfium

from graph.knowledge.loaders.pdf_grids import Upright
from graph.knowledge.loaders.pdf_tables import Rule

MAX_SHAPES = 3_000  # of one page that are looked at for rules
SHORTEST_RULE = 15.0  # points
SHORTEST_UPRIGHT = 8.0  # points: the border of a cell of one line
THIN = 3.0  # points
NEAR = 8  # boxes drawn before one, in which it may lie
WHITE = 250  # of 255, in all three colours
_Place = tuple[float, float, float, float]  # left, bottom, right, top
_Colour = tuple[int, int, int, int]  # red, green, blue, opacity


def drawn(page: Any) -> tuple[list[Rule], list[Upright], list[Upright]]:
    """What is drawn across, thin lines and the edges of boxes, the thin lines that stand upright, and the sides of
    shaded boxes that stand side by side. None of a page that is a drawing itself. A box in another of its
    colour, as the paragraphs of a shaded cell have, is not seen."""
    count = pdfium.FPDFPage_CountObjects(page)
    across: list[Rule] = []
    uprights: list[Upright] = []
    sides: list[Upright] = []
    filled: deque[tuple[_Place, _Colour]] = deque(maxlen=NEAR)
    for index in range(count if count <= MAX_SHAPES else 0):
        shape = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(shape) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = place = _bounds(shape)
        colour = _filled(shape) if min(right - left, top - bottom) > THIN else None
        if colour and any(colour == other and _within(place, around) for around, other in filled):
            continue
        if colour and min(colour[:3]) < WHITE:
            for other in (other for other, _ in filled if _adjoin(other, place)):
                sides += [(x, bottom, top) for x in (other[0], left, right)]
        if colour:
            filled.append((place, colour))
        if right - left >= SHORTEST_RULE:
            heights = (bottom, top) if top - bottom > THIN else (bottom,)
            across += [Rule(left, right, one) for one in heights]
        elif right - left <= THIN and top - bottom >= SHORTEST_UPRIGHT:
            uprights.append(((left + right) / 2, bottom, top))
    return across, sorted(uprights), sides[:MAX_SHAPES]


def _bounds(shape: Any) -> _Place:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    pdfium.FPDFPageObj_GetBounds(shape, left, bottom, right, top)
    return left.value, bottom.value, right.value, top.value


def _filled(shape: Any) -> _Colour | None:
    """The colour that a box is filled with; None where it has a border, or no filling."""
    mode, stroked = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(shape, mode, stroked)
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if stroked.value or not mode.value or not pdfium.FPDFPageObj_GetFillColor(shape, red, green, blue, alpha):
        return None
    return red.value, green.value, blue.value, alpha.value


def _adjoin(left: _Place, right: _Place) -> bool:
    """Whether two boxes of one height stand side by side."""
    heights = abs(left[1] - right[1]) < 1 and abs(left[3] - right[3]) < 1
    return heights and abs(left[2] - right[0]) < 2


def _within(place: _Place, around: _Place) -> bool:
    inner = place[0] >= around[0] - 1 and place[1] >= around[1] - 1
    return inner and place[2] <= around[2] + 1 and place[3] <= around[3] + 1
