"""Long reports as word processors write them: an annex in small print, cells over several rows, shaded rows, rows that a
page end cuts in two, a title page."""

import io
import itertools

from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table

from graph.knowledge.document import Document
from graph.knowledge.loaders import load

LARGE = ParagraphStyle("large", fontName="Times-Roman", fontSize=12, leading=14, spaceAfter=8, alignment=TA_JUSTIFY)
SMALL = ParagraphStyle("small", fontName="Times-Roman", fontSize=9, leading=10.5, spaceAfter=5)
BOLD = ParagraphStyle("bold", parent=LARGE, fontName="Times-Bold")
CENTRED = ParagraphStyle("centred", parent=BOLD, alignment=TA_CENTER, spaceAfter=20)
TEXT = "The registry keeps what each clinic of the region reports of a treatment, and a person may leave it again. " * 8
GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")


def read(*parts: Flowable) -> Document:
    stream = io.BytesIO()
    SimpleDocTemplate(stream).build(list(parts))
    return load(stream.getvalue(), "a.pdf")


def test_an_annex_in_small_print_makes_no_headings_of_the_text_before_it() -> None:
    items = [f"{n}. new users of drug {n}" for n in range(1, 5)]
    document = read(
        Paragraph("Study groups", BOLD),
        Paragraph(TEXT, LARGE),
        Paragraph("Four groups are formed:", LARGE),
        *(Paragraph(item, LARGE) for item in items),
        Paragraph(TEXT, LARGE),
        PageBreak(),
        *(Paragraph(TEXT, SMALL) for _ in range(6)),
    )
    kinds = {document.text[block.start : block.end]: block.kind for block in document.blocks}
    assert [kind for kind in kinds.values() if kind == "heading"] == ["heading"]
    assert kinds["\n".join(items)] == "list" and kinds["Four groups are formed:"] == "paragraph"


def test_two_blanks_after_a_sentence_that_fill_the_line_are_no_column() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    first = "The clinics report each treatment by its code and by the day"
    canvas.drawString(72, 700, first)
    canvas.drawString(72, 686, "on which it began, for all of them.")
    canvas.drawRightString(72 + stringWidth(first, "Helvetica", 12), 686, "A person may leave the")
    canvas.drawString(72, 672, "registry again, and nothing of that person is read after this.")
    canvas.save()
    text = load(stream.getvalue(), "a.pdf").text
    assert text.startswith("The clinics") and ";" not in text and ": " not in text


def test_a_cell_over_several_rows_stands_in_each_of_them() -> None:
    rows = [
        ["Drug", "Group", "Patients"],
        ["Alpha", "all", "78,541"],
        ["", "heart", "19,440"],
        ["Beta", "all", "35,586"],
        ["", "heart", "9,415"],
    ]
    spans = [("SPAN", (0, 1), (0, 2)), ("SPAN", (0, 3), (0, 4)), ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]
    style = [GRID, ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"), *spans]
    assert read(Table(rows, colWidths=[90, 60, 70], style=style)).text.split("\n") == [
        "Drug: Alpha; Group: all; Patients: 78,541",
        "Drug: Alpha; Group: heart; Patients: 19,440",
        "Drug: Beta; Group: all; Patients: 35,586",
        "Drug: Beta; Group: heart; Patients: 9,415",
    ]


def test_many_words_over_several_rows_are_not_repeated() -> None:
    rows = [[Paragraph("hornbeam " * 130, SMALL), f"row {n}", str(n)] for n in range(8)]
    text = read(Table(rows, colWidths=[250, 60, 40], style=[GRID, ("SPAN", (0, 0), (0, 7))])).text
    assert text.count("hornbeam") == 130 and "row 7" in text


def test_a_shaded_paragraph_in_a_shaded_cell_divides_no_row() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    lefts = [60, 160, 260]
    cells = [(["Number of", "patients"], ["Power"]), (["191"], ["80%"]), (["256"], ["90%"])]
    top = 700
    for lines in cells:
        height = 40 if lines[0][0].startswith("Number") else 18
        for left, words in zip(lefts, lines, strict=False):
            canvas.setFillColor("orange")
            canvas.rect(left, top - height, 100, height, stroke=0, fill=1)
            for at in range(len(words)):
                canvas.rect(left + 1, top - 14 * (at + 1) - 4, 98, 14, stroke=0, fill=1)
            canvas.setFillColor("black")
            canvas.setFont("Helvetica-Bold" if height == 40 else "Helvetica", 10)
            for at, word in enumerate(words):
                canvas.drawString(left + 4, top - 14 * (at + 1), word)
            for side in (left, left + 100):
                canvas.line(side, top - height, side, top)
        canvas.line(lefts[0], top, lefts[-1], top)
        top -= height
        canvas.line(lefts[0], top, lefts[-1], top)
    canvas.save()
    assert load(stream.getvalue(), "a.pdf").text.split("\n") == [
        "Number of patients: 191; Power: 80%",
        "Number of patients: 256; Power: 90%",
    ]


def shaded(canvas: Canvas, top: float, rows: list[tuple[list[str], list[str]]]) -> None:
    """A table without a line between its columns, every other row shaded, the values at the last line of a name."""
    edges = [60, 260, 320, 380]
    for at, (name, values) in enumerate(rows):
        height = 14 * max(1, len(name)) + 4
        canvas.line(edges[0], top, edges[-1], top)
        for left, right in itertools.pairwise(edges):
            canvas.setFillColor("steelblue" if at == 0 else "lightblue")
            if at % 2 == 0:
                canvas.rect(left, top - height, right - left, height, stroke=0, fill=1)
        canvas.setFillColor("black")
        canvas.setFont("Helvetica-Bold" if at == 0 else "Helvetica", 10)
        for line, words in enumerate(name):
            canvas.drawString(edges[0] + 4, top - 14 * (line + 1), words)
        for right, value in zip(edges[2:], values, strict=False):
            if at == 0:
                canvas.drawString(right - 56, top - height + 4, value)
            else:
                canvas.drawRightString(right - 4, top - height + 4, value)
        top -= height
    canvas.line(edges[0], top, edges[-1], top)


def test_rows_between_shaded_ones_stand_under_the_headings_and_go_on_over_the_page_end() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    head = (["Group of new users"], ["CCAE", "MDCD"])
    first = [
        (["of drug A"], ["78541", "97"]),
        (["of drug B or any other drug, or", "TZD, SU, insulin"], ["9", "187"]),
        (["of drug C, with at least one earlier", "Exposure to another drug"], ["48226", "1104"]),
        (["of drug D"], []),
    ]
    shaded(canvas, 300, [head, *first])
    canvas.showPage()
    shaded(canvas, 780, [head, ([], ["35586", "549"]), (["of drug E"], ["3", "40"]), (["of drug F"], ["5", "60"])])
    canvas.save()
    lines = [line for line in load(stream.getvalue(), "a.pdf").text.split("\n") if line]
    assert lines == [
        "Group of new users: of drug A; CCAE: 78541; MDCD: 97",
        "Group of new users: of drug B or any other drug, or TZD, SU, insulin; CCAE: 9; MDCD: 187",
        "Group of new users: of drug C, with at least one earlier Exposure to another drug; CCAE: 48226; MDCD: 1104",
        "Group of new users: of drug D; CCAE: 35586; MDCD: 549",
        "Group of new users: of drug E; CCAE: 3; MDCD: 40",
        "Group of new users: of drug F; CCAE: 5; MDCD: 60",
    ]


def test_headings_that_run_up_the_page_stand_over_their_columns() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    heads = [["of alendronate"], ["of alendronate with a", "disease of the heart"], ["of raloxifene"]]
    lefts, top = [60, 160, 210, 260, 310], 700
    for left in lefts:
        canvas.line(left, top - 176, left, top)
    for height in (0, 140, 158, 176):
        canvas.line(lefts[0], top - height, lefts[-1], top - height)
    canvas.setFont("Helvetica-Bold", 10)
    canvas.drawString(64, top - 14, "Earlier drug")
    for left, lines in zip(lefts[1:], heads, strict=False):
        for at, line in enumerate(lines):
            canvas.saveState()
            canvas.translate(left + 16 + 12 * at, top - 136)
            canvas.rotate(90)
            canvas.drawString(0, 0, line)
            canvas.restoreState()
    canvas.setFont("Helvetica", 10)
    for at, (name, values) in enumerate([("glipizide", ["20%", "", "19%"]), ("glyburide", ["13%", "15%", ""])]):
        canvas.drawString(64, top - 153 - 18 * at, name)
        for left, value in zip(lefts[1:], values, strict=False):
            canvas.drawString(left + 12, top - 153 - 18 * at, value)
    canvas.drawString(60, 460, "The shares are of all new users in the year before the first day of the drug.")
    canvas.save()
    assert load(stream.getvalue(), "a.pdf").text.split("\n")[:2] == [
        "Earlier drug: glipizide; of alendronate: 20%; of raloxifene: 19%",
        "Earlier drug: glyburide; of alendronate: 13%; of alendronate with a disease of the heart: 15%",
    ]


def test_white_letters_that_run_up_the_page_are_hidden() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    canvas.drawString(72, 700, "The fee is due in May, and the secretary sends a bill to each of the members.")
    canvas.translate(40, 300)
    canvas.rotate(90)
    canvas.drawString(0, 0, "Draft of May")
    canvas.setFillColor("white")
    canvas.drawString(75, 0, "say that the fee is waived")
    canvas.save()
    document = load(stream.getvalue(), "a.pdf")
    assert "Draft of May" in document.text and "waived" not in document.text
    assert any("waived" in words for words in document.hidden)


def test_the_title_of_a_title_page_is_not_the_organisation_above_it() -> None:
    title = "Comparison of Two Drugs and of the Usual Care in Patients with a Condition of the Heart that Lasts"
    document = read(
        Paragraph("Harbour Research Ltd", CENTRED),
        Paragraph(title, CENTRED),
        Paragraph("Protocol HR-12", CENTRED),
        Spacer(1, 40),
        Paragraph(TEXT, LARGE),
    )
    assert document.title == title


def test_a_table_of_contents_is_left_out_with_its_wrapped_entries_and_names_no_document() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    canvas.setFont("Helvetica-Bold", 12)
    canvas.drawString(72, 780, "Table of contents")
    canvas.setFont("Helvetica", 11)
    entries = ["1. Scope", "2. Duties", "2.1 Of the secretary and of the office of", "reports", "3. Fees", "4. Leave"]
    for at, entry in enumerate(entries):
        dots = "" if entry.endswith(" of") else " " + "." * 40 + f" {at + 1}"
        canvas.drawString(72, 750 - 14 * at, entry + dots)
    canvas.drawString(72, 620, "The society was founded in 1912 and has had no other name since then.")
    canvas.save()
    document = load(stream.getvalue(), "2 rules of the society.pdf")
    assert document.title == "2 rules of the society"
    assert "secretary" not in document.text and "founded in 1912" in document.text


def drawn(*lines: tuple[float, float, float, str]) -> Document:
    """A page with lines (left, height, size, text) in the order of the file."""
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for left, height, size, text in lines:
        canvas.setFont("Helvetica", size)
        canvas.drawString(left, height, text)
    canvas.save()
    return load(stream.getvalue(), "a.pdf")


BODY = [(43.0, 600.0 - 11 * at, 9.0, f"The clerk keeps the books of shop {at} and counts the till") for at in range(9)]


def test_the_title_is_what_stands_above_though_the_file_has_it_later() -> None:
    document = drawn((43, 676, 11, "Certificate"), (43, 725, 22, "Accounts Clerk"), *BODY)
    assert document.title == "Accounts Clerk" and document.text.index("Clerk") < document.text.index("Certificate")
    below = drawn((43, 676, 11, "Certificate"), (43, 300, 22, "Accounts Clerk"), *BODY)
    assert below.text.index("Certificate") < below.text.index("Accounts Clerk")


def test_a_long_line_with_an_address_is_no_heading_though_it_is_larger() -> None:
    whom = "For the northern house ask Ada Berg at 604-555-0140 or write to ada@harbour.example"
    document = drawn((43, 725, 22, "Courses"), (43, 650, 11, whom), *BODY)
    assert [document.text[b.start : b.end] for b in document.blocks if b.kind == "heading"] == ["# Courses"]


def test_a_square_before_words_is_a_bullet_and_before_a_number_a_section() -> None:
    listed = drawn(*BODY, (43, 400, 9, "§ Typing"), (43, 389, 9, "§ Sorting"), (43, 378, 9, "§ Counting"))
    assert "- Typing\n- Sorting\n- Counting" in listed.text
    law = drawn(*BODY, (43, 400, 9, "§ 12 of the act holds."), (43, 380, 9, "§ 14 of the act does not hold."))
    assert "§ 12 of the act" in law.text


def test_the_last_column_of_a_table_may_have_no_heading() -> None:
    rows = [
        ["Course", "Weeks", "Cost", ""],
        *([f"Course {n}", f"{n} weeks", f"${n},100", "Sheet"] for n in range(2, 7)),
    ]
    text = read(Table(rows, style=[GRID])).text
    assert "Course: Course 2; Weeks: 2 weeks; Cost: $2,100; Sheet" in text


def test_paragraphs_that_the_file_has_at_its_end_are_read_where_they_stand() -> None:
    heads = [
        (72.0, 700.0 - 60 * at, 11.0, f"The part with the number {at} is about the mills of the town.")
        for at in range(4)
    ]
    letters = [
        (72.0, 670.0 - 60 * at, 11.0, f"A. The owner of mill {at} reports to the clerk once a year.") for at in range(4)
    ]
    text = drawn(*heads, *letters).text
    assert [text.index(f"number {at}") < text.index(f"mill {at}") for at in range(4)] == [True] * 4
    assert text.index("mill 0") < text.index("number 1") and text.index("mill 2") < text.index("number 3")
    beside = [(330.0, height, size, line.replace("mill", "boat")) for _, height, size, line in letters]
    text = drawn(*letters, *beside).text  # two columns stay as the file has them
    assert text.index("mill 3") < text.index("boat 0")


def test_a_document_is_called_by_its_own_name() -> None:
    towns = drawn(
        (72, 760, 14, "Amended at: ATM 5-22-2021"), (72, 740, 14, "Approved by the court: 8-26-2021"),
        (72, 690, 14, "BYLAWS OF MILL BAY"), (72, 660, 14, "ARTICLE 1"), *BODY,
    )  # fmt: skip
    assert towns.title == "BYLAWS OF MILL BAY"
    named = drawn((72, 760, 12, "MILL BAY SOCIETY"), (72, 720, 18, "The Constitution"), *BODY)
    assert named.title == "MILL BAY SOCIETY: The Constitution"  # two words alone say little
    longer = drawn((72, 760, 12, "MILL BAY SOCIETY"), (72, 720, 18, "Rules for the use of boats"), *BODY)
    assert longer.title == "Rules for the use of boats"
    headed = drawn((72, 720, 18, "Approved vendors 2024"), *BODY)
    assert headed.title == "Approved vendors 2024"


def test_a_bold_section_sign_with_a_title_is_a_heading() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for at in range(3):
        canvas.setFont("Helvetica-Bold", 9)
        canvas.drawString(43, 700 - 60 * at, f"§ 10-10{at}. Effect of repeal.")
        canvas.setFont("Helvetica", 9)
        canvas.drawString(43, 680 - 60 * at, "The repeal of any bylaw does not affect what was done before it.")
    canvas.save()
    document = load(stream.getvalue(), "a.pdf")
    assert [block.kind for block in document.blocks] == ["heading", "paragraph"] * 3
