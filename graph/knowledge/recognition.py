"""Text recognition (OCR) of pages that are pictures, in a child process of its own: the extra `ocr`.

A page is drawn with at most MOST_PIXELS, and read within the time that a file may take. What comes back are lines with
their places, which the loaders lay out as they do those of a text layer.
"""

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from math import sqrt
from typing import Any

from graph.errors import DocumentError, Quarantined
from graph.knowledge.sandbox import Child, Limits, refusal

MOST_PAGES = 50  # of one file
MOST_PIXELS, LARGEST = 4_000_000, 100_000_000  # of a page as it is read; of a picture that is opened
MEMORY = 3 * 2**30  # bytes of address space
DPI = 200
SUREST = 0.5  # how sure of a line the recognition must be
_POINT = 72 / DPI

Recognised = list[tuple[str, float, float, float, float]]  # text, left, bottom, right, height: points
_state: dict[str, Any] = {}  # in the child: the engine, and the file that was sent last


def available() -> bool:
    """Whether the extra `ocr` is installed."""
    return find_spec("rapidocr") is not None


class Recogniser(Child):
    """A child that reads one page after another, each within the time of `limits`."""

    work = __name__
    numerical = True

    def __init__(self, limits: Limits) -> None:
        super().__init__(replace(limits, memory=MEMORY))

    def read(self, data: bytes, filename: str, pages: Sequence[int]) -> dict[int, Recognised]:
        """The lines of these pages, from 1, as far as they could be read; of a picture file without a number of pages
        (an empty list) all of them. A page that fails is left out; raises DocumentError where that is the first of a
        picture file."""
        by_page: dict[int, Recognised] = {}
        sent = False
        for page in list(pages)[:MOST_PAGES] or range(1, MOST_PAGES + 1):
            try:
                reply = json.loads(self.ask({"page": page}, b"" if sent else data, filename))
            except DocumentError:
                if not by_page and not pages:
                    raise
                sent = False
                continue
            sent = True
            by_page[page] = [(str(text), *map(float, place)) for text, *place in reply["lines"]]  # type: ignore[misc]
            if not pages and page >= reply["pages"]:
                break
        return by_page


def answer(data: bytes, request: dict[str, Any]) -> bytes:
    """In the child: the lines of a page and how many pages there are, as JSON. A file is sent with its first page."""
    try:
        if data:
            _state.pop("file", None)
            _state["file"] = data
        picture, scale, pages = _page(_state["file"], request["page"])
        return b"D" + json.dumps({"lines": _lines(picture, scale), "pages": pages}).encode()
    except (DocumentError, MemoryError) as error:
        return refusal(error)


def _page(data: bytes, number: int) -> tuple[Any, float, int]:
    """A page as a picture, the points of a pixel, and how many pages there are. Raises DocumentError."""
    from PIL import Image, ImageOps

    try:
        if b"%PDF-" in data[:1024]:
            import pypdfium2

            with pypdfium2.PdfDocument(data) as document:
                page = document[number - 1]
                width, height = page.get_size()
                scale = min(DPI / 72, sqrt(MOST_PIXELS / (width * height)))
                return page.render(scale=scale).to_pil().convert("RGB"), 1 / scale, len(document)
        Image.MAX_IMAGE_PIXELS = LARGEST // 2  # twice as many raise an error
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "TIFF")) as image:
            pages = getattr(image, "n_frames", 1)
            image.seek(number - 1)
            if image.width * image.height > LARGEST:
                raise Quarantined("oversize", "the picture is too large to be read", hint="scan it at 200 dpi")
            shrunk = min(1.0, sqrt(MOST_PIXELS / (image.width * image.height)))
            size = (max(1, int(image.width * shrunk)), max(1, int(image.height * shrunk)))
            return ImageOps.exif_transpose(image.convert("RGB").resize(size)), _POINT, pages
    except Quarantined:
        raise
    except Exception as exc:  # the libraries raise anything on a damaged file
        raise DocumentError("broken", f"page {number} cannot be drawn", hint="save it again, or as a PDF") from exc


def _lines(picture: Any, scale: float) -> Recognised:
    import numpy as np

    result = _engine()(np.asarray(picture)[:, :, ::-1])
    lines: Recognised = []
    boxes = result.boxes if result.boxes is not None else ()  # an array, which has no truth of its own
    for text, sure, box in zip(result.txts or (), result.scores or (), boxes, strict=False):
        left, top = (float(min(corner[axis] for corner in box)) * scale for axis in (0, 1))
        right, low = (float(max(corner[axis] for corner in box)) * scale for axis in (0, 1))
        if sure >= SUREST and text.strip():
            lines.append((text.strip(), left, picture.height * scale - low, right, low - top))
    return lines


def _engine() -> Any:
    if "engine" not in _state:
        import cv2
        from rapidocr import RapidOCR

        cv2.setNumThreads(1)
        threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
        _state["engine"] = RapidOCR(params={**threads, "Global.log_level": "error"})
    return _state["engine"]
