"""Scans and pictures of text: read by text recognition where the extra `ocr` is there, with their pages; told where not."""

import io
from pathlib import Path
from typing import Any

import pytest

from graph.errors import Quarantined
from graph.knowledge import recognition
from graph.knowledge.sandbox import Limits, parse_bytes

Image = pytest.importorskip("PIL.Image")
needs_ocr = pytest.mark.skipif(not recognition.available(), reason="needs the extra ocr: pip install 'cordon[ocr]'")


def drawn(*lines: str, size: tuple[int, int] = (1240, 500)) -> Any:
    from PIL import ImageDraw, ImageFont

    picture = Image.new("RGB", size, "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(30)
    for number, line in enumerate(lines):
        for column, cell in enumerate(line.split("|")):
            pen.text((80 + 450 * column, 60 + number * 60), cell, fill="black", font=font)
    return picture


def saved(kind: str, *pictures: Any) -> bytes:
    out = io.BytesIO()
    more: dict[str, Any] = (
        {"save_all": True, "append_images": [one.copy() for one in pictures[1:]]} if len(pictures) > 1 else {}
    )
    pictures[0].copy().save(out, kind, **more)
    return out.getvalue()


FIRST = drawn("The boiler is drained on the ninth of March.", "The porter keeps the key of the cellar.")
SECOND = drawn("The ferry leaves the north pier at noon.")


@needs_ocr
@pytest.mark.parametrize(("name", "kind"), [("scan.png", "PNG"), ("scan.jpg", "JPEG"), ("scan.tif", "TIFF")])
def test_a_picture_of_text_is_a_document(name: str, kind: str) -> None:
    document = parse_bytes(saved(kind, FIRST), name)
    assert "The boiler is drained on the ninth of March." in document.text
    assert document.notes == ("read by text recognition (OCR), where letters can be wrong: page 1",)


@needs_ocr
@pytest.mark.parametrize(("name", "kind"), [("scan.pdf", "PDF"), ("scan.tiff", "TIFF")])
def test_scanned_pages_are_read_with_their_pages(name: str, kind: str) -> None:
    document = parse_bytes(saved(kind, FIRST, SECOND), name)
    ferry = document.text.index("The ferry")
    assert document.places(ferry, ferry + 20) == [(0, 2, None)]
    assert "pages 1, 2" in document.notes[0]


@needs_ocr
def test_a_scanned_page_among_others_is_read() -> None:
    import pypdfium2

    reportlab = pytest.importorskip("reportlab.pdfgen.canvas")
    out = io.BytesIO()
    canvas = reportlab.Canvas(out)
    canvas.drawString(72, 720, "The museum opens at nine on weekdays.")
    canvas.save()
    both = pypdfium2.PdfDocument.new()
    for data in (out.getvalue(), saved("PDF", SECOND)):
        both.import_pages(pypdfium2.PdfDocument(data))
    joined = io.BytesIO()
    both.save(joined)
    document = parse_bytes(joined.getvalue(), "mixed.pdf")
    assert document.text == "The museum opens at nine on weekdays.\n\nThe ferry leaves the north pier at noon."
    assert [block.page for block in document.blocks] == [1, 2]


@needs_ocr
def test_a_table_of_a_scan_is_read_in_rows() -> None:
    table = drawn("Device|Keeper", "Kiln|Mia", "Press|Jonas")
    assert "Kiln: Mia\nPress: Jonas" in parse_bytes(saved("PNG", table), "table.png").text


@needs_ocr
@pytest.mark.parametrize("bad", [b"\x89PNG\r\n\x1a\n" + b"x" * 200, saved("PNG", FIRST)[:400]])
def test_a_damaged_picture_is_refused(bad: bytes) -> None:
    with pytest.raises(Exception, match="cannot be drawn") as caught:
        parse_bytes(bad, "scan.png")
    assert getattr(caught.value, "reason", "") == "broken"


@needs_ocr
def test_a_picture_without_text_is_empty() -> None:
    with pytest.raises(Quarantined, match="no text to read"):
        parse_bytes(saved("PNG", Image.new("RGB", (400, 300), "white")), "blank.png")


@needs_ocr
def test_recognition_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """In seconds for a page, and in pages of a file: what is left over is said."""
    with pytest.raises(Quarantined) as caught, recognition.Recogniser(Limits(seconds=0.05)) as recogniser:
        recogniser.read(saved("PNG", FIRST), "scan.png", [])
    assert caught.value.reason == "timeout"
    monkeypatch.setattr(recognition, "MOST_PAGES", 1)
    document = parse_bytes(saved("PDF", FIRST, SECOND), "scan.pdf")
    assert "ferry" not in document.text
    assert "1 of 2 pages are pictures without text: 2" in document.notes


def test_without_the_extra_scans_are_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(recognition, "available", lambda: False)
    for name, kind, reason in (("scan.pdf", "PDF", "scanned"), ("scan.png", "PNG", "unsupported")):
        with pytest.raises(Quarantined, match=r"install cordon\[ocr\]") as caught:
            parse_bytes(saved(kind, FIRST), name)
        assert caught.value.reason == reason
