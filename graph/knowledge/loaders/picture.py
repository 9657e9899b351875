"""Pictures of text (PNG, JPEG, TIFF), and pages of PDFs that are pictures: lines that text recognition read on them."""

from collections.abc import Sequence
from statistics import median

from graph.errors import Quarantined
from graph.knowledge.loaders.build import Builder
from graph.knowledge.loaders.pdf_columns import in_reading_order
from graph.knowledge.loaders.pdf_layout import write
from graph.knowledge.loaders.pdf_lines import Line, same_row
from graph.knowledge.loaders.pdf_tables import joined

ALIKE = 0.3  # letters whose heights differ by less are of one size: boxes are measured roughly


class Unrecognised(Quarantined):
    """Raised for pages, from 1, that are pictures, where text recognition can read them; none stands for all."""

    def __init__(self, pages: Sequence[int]) -> None:
        super().__init__("scanned", "its pages are pictures without text", hint="run text recognition (OCR) over it")
        self.pages = list(pages)


def read(data: bytes, out: Builder) -> None:
    """Raises Unrecognised as long as text recognition has read no page."""
    if not out.recognised:
        raise Unrecognised([])
    pages = sorted(out.recognised)
    write([joined(in_reading_order(lines(out, page)), []) for page in pages], out)
    tell(out, pages)


def lines(out: Builder, page: int) -> list[Line]:
    """What was recognised on a page, from top to bottom; pieces at one height are one line."""
    pieces = (out.recognised or {}).get(page, [])
    usual = median(size for *_, size in pieces) if pieces else 0.0
    merged: list[Line] = []
    for text, left, bottom, right, size in sorted(
        pieces, key=lambda piece: (-round(piece[2] / max(usual / 2, 1)), piece[1])
    ):
        height = usual if abs(size - usual) < ALIKE * usual else size
        line = Line(text, left, right, bottom, round(height, 1), False, page)
        if merged and same_row(merged[-1], line):
            merged[-1].append(line)
        else:
            merged.append(line)
    return merged


def tell(out: Builder, pages: Sequence[int]) -> None:
    """Note which pages text recognition has read."""
    named = ", ".join(map(str, pages[:12])) + (", ..." if len(pages) > 12 else "")
    out.note(f"read by text recognition (OCR), where letters can be wrong: page{'s'[: len(pages) != 1]} {named}")
