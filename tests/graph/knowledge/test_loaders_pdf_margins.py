"""Notes in the margin of a PDF, and headings in small capitals."""

import io

from reportlab.pdfgen.canvas import Canvas

from graph.knowledge.loaders import load
from tests.support.raw_pdf import assembled, stream

BODY = """The keeper of the mill writes down every visit of a guest, and who
brought the guest. A guest may stay for three days. Whoever wants to
stay longer asks the board of the mill, which decides within a week
and tells the keeper what it has decided in the matter at hand.
The fee for a night is twelve crowns, and is paid to the keeper
when the guest arrives. Children under seven pay nothing at all,
and neither do people who repair something in the mill or in the
yard. The board may waive the fee for a group that comes to learn
about grain, bread or water, and for the schools of the valley.""".split("\n")


def page(note: list[str], left: float, *, size: float = 7.5, step: float = 10) -> str:
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=(595, 842))
    for n, line in enumerate(BODY):
        canvas.setFont("Helvetica", 10)
        canvas.drawString(120, 700 - 14 * n, line)
        if n < len(note):  # a note of pdflatex comes in between the lines
            canvas.setFont("Helvetica", size)
            canvas.drawString(left, 700.5 - step * n, note[n])
    canvas.save()
    return load(data.getvalue(), "a.pdf").text


def test_a_note_in_the_margin_stands_behind_the_sentence_beside_it() -> None:
    for left in (460, 20):
        text = page(["NOTE: Dogs are", "guests, too, and", "wear a collar."], left)
        paragraphs = text.split("\n\n")
        assert "NOTE: Dogs are guests, too, and wear a collar." in paragraphs
        assert " ".join(one for one in paragraphs if not one.startswith("NOTE")) == " ".join(BODY)


def test_small_print_in_a_column_of_its_own_is_no_note() -> None:
    text = page(["Day", "Monday", "Tuesday"], 460, size=10, step=14)
    assert "Day" in text and "Monday" in text  # read as columns, or cells: nothing is lost


def test_numbers_of_lines_are_no_notes() -> None:
    text = page(["1", "2", "3"], 460)
    assert "1 2 3" not in text.split("\n\n")


def test_small_capitals_head_a_section() -> None:
    lines = b"".join(b"1 0 0 1 72 %d Tm (%b) Tj " % (660 - 14 * n, one.encode()) for n, one in enumerate(BODY))
    content = (
        b"BT /R 10 Tf 1 0 0 1 72 700 Tm (Guests come by the gate.) Tj "
        b"1 0 0 1 72 678 Tm (S) Tj /C 10 Tf (taying the night) Tj /R 10 Tf " + lines + b"ET"
    )
    fonts = b"<< /R << /Type /Font /Subtype /Type1 /BaseFont /Roman-Roma >> /C << /Type /Font /Subtype /Type1 /BaseFont /Roman-SC >> >>"
    data = assembled([
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font " + fonts + b" >> >>",
        stream(content),
    ])  # fmt: skip
    assert "# Staying the night\n\nThe keeper" in load(data, "a.pdf").text
