import io
from collections.abc import Sequence

import pytest
from reportlab.lib import colors
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import ListFlowable, PageBreak, Paragraph, SimpleDocTemplate, Table

from graph.errors import DocumentError
from graph.knowledge.document import Document
from graph.knowledge.loaders import load

STYLES = getSampleStyleSheet()
LONG = "The laboratory keeps all samples at minus eighty degrees and records every deviation in the log. " * 5


def blocks(document: Document) -> list[tuple[str, int | None, str]]:
    return [(block.kind, block.page, document.text[block.start : block.end]) for block in document.blocks]


def reason(data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        load(data, "a.pdf")
    return caught.value.reason


def drawn(*pages: Sequence[tuple[float, float, str]], **options: object) -> bytes:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842), **options)
    for page in pages:
        for x, y, text in page:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return stream.getvalue()


def manual() -> bytes:
    def frame(canvas: Canvas, _: object) -> None:
        canvas.drawString(72, 810, "Manual - for internal use")
        canvas.drawString(290, 25, f"Page {canvas.getPageNumber()} of 3")

    parts: list[object] = [Paragraph("Safety manual", STYLES["Title"])]
    for number in (1, 2, 3):
        rows = [["Instrument", "Room", "Rate"], ["SP8", "B-12", "1,500 PKR"], ["Zeiss LSM", "B-13", "900 PKR"]]
        parts += [
            Paragraph(f"{number}. Part", STYLES["Heading1"]),
            Paragraph(LONG, STYLES["BodyText"]),
            Paragraph("Storage", STYLES["Heading2"]),
            ListFlowable(
                [Paragraph(text, STYLES["BodyText"]) for text in ("wear gloves", "wash hands")], bulletType="bullet"
            ),
            Table(
                rows, style=[("BACKGROUND", (0, 0), (-1, 0), colors.navy), ("TEXTCOLOR", (0, 0), (-1, 0), colors.white)]
            ),
            PageBreak(),
        ]
    stream = io.BytesIO()
    SimpleDocTemplate(stream, title="metadata title").build(parts, onFirstPage=frame, onLaterPages=frame)
    return stream.getvalue()


def test_a_pdf_is_put_together_from_its_lines() -> None:
    document = load(manual(), "manual.pdf")
    assert document.title == "Safety manual"
    assert blocks(document)[:8] == [
        ("heading", 1, "# Safety manual"),
        ("heading", 1, "# 1. Part"),
        ("paragraph", 1, LONG.strip()),
        ("heading", 1, "## Storage"),
        ("list", 1, "- wear gloves\n- wash hands"),
        ("row", 1, "Instrument: SP8; Room: B-12; Rate: 1,500 PKR"),
        ("row", 1, "Instrument: Zeiss LSM; Room: B-13; Rate: 900 PKR"),
        ("heading", 2, "# 2. Part"),
    ]
    assert "internal use" not in document.text and "of 3" not in document.text
    assert document.blocks[4].section.endswith("1. Part > Storage")
    assert document.hidden[0] == "metadata title"


def test_words_divided_at_a_line_end_are_joined_and_dashes_of_names_kept() -> None:
    lines = [
        "The temperature of this freezer is mea-",
        "sured by the COVID-",
        "19 group of a well-",
        "known lab, well and known.",
    ]
    document = load(drawn([(72, 700 - 14 * i, line) for i, line in enumerate(lines)]), "a.pdf")
    assert (
        document.text
        == "The temperature of this freezer is measured by the COVID-19 group of a well-known lab, well and known."
    )


def test_a_paragraph_goes_on_over_the_end_of_a_page() -> None:
    document = load(drawn([(72, 700, "It begins on the first page and")], [(72, 700, "ends on the second.")]), "a.pdf")
    assert blocks(document) == [("paragraph", 1, "It begins on the first page and ends on the second.")]


def test_what_a_reader_cannot_see_is_hidden() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    canvas.drawString(72, 700, "Everybody sees this.")
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(72, 650, "white on white")
    canvas.setFillColorRGB(0, 0, 0.4)
    canvas.rect(60, 590, 300, 30, fill=1)
    canvas.setFillColorRGB(1, 1, 1)
    canvas.drawString(72, 600, "White on blue.")
    canvas.setFillColorRGB(0, 0, 0)
    canvas.setFont("Helvetica", 1)
    canvas.drawString(72, 550, "tiny letters")
    canvas.setFont("Helvetica", 12)
    canvas.drawString(1500, 500, "off the page")
    text = canvas.beginText(72, 450)
    text.setTextRenderMode(3)
    text.textLine("painted with nothing")
    canvas.drawText(text)
    canvas.textAnnotation("a sticky note", [10, 10, 30, 30])
    canvas.save()
    document = load(stream.getvalue(), "a.pdf")
    assert document.text == "Everybody sees this.\n\nWhite on blue."
    hidden = " | ".join(document.hidden)
    for words in ("white on white", "tiny letters", "off the page", "painted with nothing", "a sticky note"):
        assert words in hidden, words


def test_an_encrypted_pdf_is_refused_and_one_open_to_readers_is_read() -> None:
    page = [(72, 700, "Some text to read.")]
    assert reason(drawn(page, encrypt=StandardEncryption("secret", canPrint=0))) == "encrypted"
    assert load(drawn(page, encrypt=StandardEncryption("", "owner")), "a.pdf").text == "Some text to read."


@pytest.mark.parametrize("part", [0.1, 0.5])
def test_a_pdf_cut_short_is_refused_or_read_as_far_as_it_goes(part: float) -> None:
    data = manual()
    assert reason(data[: int(len(data) * part)]) in ("broken", "empty")


def test_garbage_after_the_signature_is_broken() -> None:
    assert reason(b"%PDF-1.7\n" + bytes(range(256)) * 20) == "broken"


def test_a_pdf_of_pictures_needs_text_recognition() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream)
    for _ in range(3):
        canvas.drawInlineImage(_picture(), 0, 0, 500, 700)
        canvas.showPage()
    canvas.save()
    assert reason(stream.getvalue()) == "scanned"


def test_a_pdf_of_empty_pages_is_empty() -> None:
    assert reason(drawn([], [])) == "empty"


def _picture() -> object:
    from PIL import Image

    return Image.new("RGB", (40, 60), "grey")


def test_bullets_are_a_list_with_its_levels_and_wraps() -> None:
    lines = [
        (72, "You need the following:"), (72, "●"), (84, "gloves of the right"), (84, "Size 4 for you"),
        (96, "○ thin"), (72, "❏ goggles"),
    ]  # fmt: skip
    page = [(x, 700.0 - 14 * at, text) for at, (x, text) in enumerate(lines)]
    page[1] = (72, page[2][1], "●")
    text = load(drawn(page, [(72, 700, "End of it.")]), "a.pdf").text
    assert text == "You need the following:\n\n- gloves of the right Size 4 for you\n  - thin\n- goggles\n\nEnd of it."


def test_the_wrapped_words_of_a_narrow_cell_are_one_paragraph() -> None:
    cell = ["The organization states", "who may open the", "freezer at night."]
    page = [(72.0, 700.0 - 13 * at, line) for at, line in enumerate(cell)]
    wide = [(72.0, 600.0, "This line of the same page is much wider than the cell above it, as lines of text are.")]
    assert load(drawn(page + wide), "a.pdf").text.startswith(
        "The organization states who may open the freezer at night."
    )


def test_what_is_printed_across_every_page_and_a_table_of_contents_are_left_out() -> None:
    page = [(200.0, 400.0, "VOID")]
    contents = [
        (72.0, 700.0, "Contents"),
        (72.0, 680.0, "Storage ................ 2"),
        (72.0, 660.0, "Rates . . . . . . 3"),
    ]
    document = load(
        drawn(
            *(
                page + [(72.0, 500.0, f"Page number {n} says one thing.")] + (contents if n == 1 else [])
                for n in (1, 2, 3)
            )
        ),
        "a.pdf",
    )
    assert "VOID" not in document.text and "Storage" not in document.text and "Rates" not in document.text
    assert document.text.count("says one thing") == 3


def test_a_table_of_two_columns_is_names_and_values() -> None:
    rows = [("Slabs", "1 piece"), ("Distance", "20 mm"), ("Position", "centre")]
    page = [
        (x, 700.0 - 14 * at, text) for at, row in enumerate(rows) for x, text in zip((72.0, 300.0), row, strict=True)
    ]
    assert load(drawn(page), "a.pdf").text == "Slabs: 1 piece\nDistance: 20 mm\nPosition: centre"


def test_words_set_wide_to_fill_a_line_are_no_table() -> None:
    words = "An initial training course was delivered".split()
    page = [(72.0 + 80 * at, 700.0, word) for at, word in enumerate(words)] + [(72.0, 686.0, "to everybody.")]
    assert load(drawn(page), "a.pdf").text == "An initial training course was delivered to everybody."


def placed(document: Document, words: str) -> list[int | None]:
    start = document.text.index(words)
    return [page for _, page, _ in document.places(start, start + len(words))]


def test_every_sentence_item_and_row_is_on_its_own_page() -> None:
    texts = drawn(
        [(72.0, 700.0, "A notice. It begins here and goes on the"), (72.0, 686.0, "next page, which is mea-")],
        [(72.0, 700.0, "sured anew. The second page says this.")],
    )
    document = load(texts, "a.pdf")
    assert len(document.blocks) == 1 and "measured anew" in document.text
    assert placed(document, "A notice.") == [1]
    assert placed(document, "The second page says this.") == [2]
    items = drawn(
        [(72.0, 700.0, "- wear gloves"), (72.0, 686.0, "- wash hands in")],
        [(72.0, 700.0, "cold water"), (72.0, 686.0, "- sign out")],
    )
    document = load(items, "a.pdf")
    assert document.text == "- wear gloves\n- wash hands in cold water\n- sign out"
    assert [placed(document, words) for words in ("- wear gloves", "cold", "- sign out")] == [[1], [2], [2]]
    rows = drawn(
        [(72.0, 700.0, "Slabs"), (300.0, 700.0, "1 piece")], [(72.0, 700.0, "Feet"), (300.0, 700.0, "4 pieces")]
    )
    document = load(rows, "a.pdf")
    assert [placed(document, words) for words in ("Slabs: 1 piece", "Feet: 4 pieces")] == [[1], [2]]


def test_no_line_of_a_short_document_of_few_lines_is_taken_for_a_running_one() -> None:
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliet".split()
    pages = [
        [(72, 760 - 90 * at, f"The {word} rule stands here.") for at, word in enumerate(words[n : n + 5])]
        for n in (0, 5)
    ]
    text = load(drawn(*pages), "rules.pdf").text
    assert all(word in text for word in words)
