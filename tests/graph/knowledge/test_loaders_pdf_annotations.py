import ctypes
import io
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium
from reportlab.pdfgen.canvas import Canvas

from graph.knowledge.document import Document
from graph.knowledge.loaders import load


def canvas_of(stream: io.BytesIO) -> Canvas:
    return Canvas(stream, pagesize=(595, 842))


def read(stream: io.BytesIO) -> Document:
    return load(stream.getvalue(), "form.pdf")


def annotate(page: Any, kind: int, text: str, place: tuple[float, float, float, float]) -> None:
    annotation = pdfium.FPDFPage_CreateAnnot(page, kind)
    left, bottom, right, top = place
    pdfium.FPDFAnnot_SetRect(annotation, pdfium.FS_RECTF(left, top, right, bottom))
    words = ctypes.create_string_buffer(text.encode("utf-16-le") + b"\0\0")
    pdfium.FPDFAnnot_SetStringValue(annotation, b"Contents", ctypes.cast(words, ctypes.POINTER(ctypes.c_ushort)))
    pdfium.FPDFPage_CloseAnnot(annotation)


def test_what_was_filled_in_stands_behind_its_label() -> None:
    stream = io.BytesIO()
    canvas = canvas_of(stream)
    form = canvas.acroForm
    canvas.drawString(72, 700, "Name:")
    form.textfield(name="f1", value="Jane Roe", x=130, y=694, width=120, height=18)
    canvas.drawString(300, 700, "Room")
    form.textfield(name="f2", value="B-12", x=350, y=694, width=60, height=18)
    canvas.drawString(72, 660, "Grade")
    form.choice(name="f3", value="Senior", options=["Junior", "Senior"], x=130, y=654, width=90, height=18)
    form.checkbox(name="f4", checked=True, x=72, y=620, size=12)
    canvas.drawString(90, 622, "Agreed")
    form.checkbox(name="f5", checked=False, x=72, y=590, size=12)
    canvas.drawString(90, 592, "I want the newsletter of the club.")
    form.radio(name="f6", value="cash", selected=False, x=72, y=560, size=12)
    canvas.drawString(90, 562, "Cash")
    form.radio(name="f6", value="card", selected=True, x=200, y=560, size=12)
    canvas.drawString(218, 562, "Card")
    form.textfield(name="Remark", value="Back on Monday", x=72, y=500, width=200, height=18)
    form.textfield(name="empty", value="", x=72, y=470, width=200, height=18)
    canvas.save()
    text = read(stream).text
    for words in ("Name: Jane Roe", "Room: B-12", "Grade: Senior", "Agreed: yes", "No: I want the newsletter"):
        assert words in text, words
    for words in ("Cash: no", "Card: yes", "Remark: Back on Monday"):
        assert words in text, words
    assert "empty" not in text


def test_a_visible_note_is_read_and_a_comment_is_counted() -> None:
    stream = io.BytesIO()
    canvas = canvas_of(stream)
    canvas.drawString(72, 700, "Everybody sees this.")
    canvas.drawString(72, 400, "And this.")
    canvas.save()
    with pypdfium2.PdfDocument(stream.getvalue()) as pdf:
        page = pdf[0]
        annotate(page, pdfium.FPDF_ANNOT_FREETEXT, "Closed on Mondays from May.", (72, 500, 300, 540))
        annotate(page, pdfium.FPDF_ANNOT_TEXT, "ask Bob", (400, 700, 420, 720))
        annotate(page, pdfium.FPDF_ANNOT_TEXT, "and Ann", (400, 600, 420, 620))
        pdf.new_attachment("rates.txt").set_data(b"1,500")
        written = io.BytesIO()
        pdf.save(written)
    document = read(written)
    assert document.text == "Everybody sees this.\n\nClosed on Mondays from May.\n\nAnd this."
    assert document.notes == ("2 comments", "1 attachment: rates.txt")
    assert "ask Bob" in document.hidden


def test_pages_that_are_pictures_and_letters_without_a_meaning_are_named() -> None:
    from PIL import Image

    stream = io.BytesIO()
    canvas = canvas_of(stream)
    for number in range(5):
        if number == 3:
            canvas.drawInlineImage(Image.new("RGB", (40, 60), "grey"), 0, 0, 500, 700)
        else:
            canvas.drawString(72, 700 - 40 * number, f"Page {number} has these words of its own.")
        canvas.showPage()
    canvas.save()
    assert read(stream).notes == ("1 of 5 pages are pictures without text: 4",)
