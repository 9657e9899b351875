"""Tables whose cells are drawn: borders divide what stands close together, ticks are values, a frame is no table."""

import io
import re
from collections.abc import Sequence

import pytest
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

from graph.errors import Quarantined
from graph.knowledge.loaders import load
from graph.knowledge.loaders.pdf import _numbered

BODY = getSampleStyleSheet()["BodyText"]
GRID = ("GRID", (0, 0), (-1, -1), 0.5, "black")
BOLD = ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold")


def read(*parts: Flowable) -> str:
    stream = io.BytesIO()
    SimpleDocTemplate(stream).build(list(parts))
    return load(stream.getvalue(), "a.pdf").text


def test_a_border_divides_words_that_stand_close_together() -> None:
    rows = [["No", "Task", "Low", "High"], ["SP1", "Assign a sponsor", "N/A", "yes"], ["SP2", "Tell it", "N/A", "yes"]]
    tight = [GRID, BOLD, ("LEFTPADDING", (0, 0), (-1, -1), 1), ("RIGHTPADDING", (0, 0), (-1, -1), 1)]
    text = read(Table(rows, colWidths=[24, 82, 24, 24], style=tight))
    assert text.split("\n") == [
        "No: SP1; Task: Assign a sponsor; Low: N/A; High: yes",
        "No: SP2; Task: Tell it; Low: N/A; High: yes",
    ]


def test_a_cell_in_the_middle_of_its_row_belongs_to_it_and_one_row_is_enough() -> None:
    said = (
        "Workers with low impact need no identity of their own. Where a policy demands one, the moderate level holds."
    )
    text = read(Table([["Key point", Paragraph(said, BODY)]], colWidths=[80, 300], style=[GRID, ("VALIGN", (0, 0), (-1, -1), "MIDDLE")]))  # fmt: skip
    assert text == f"Key point: {said}"


def test_headings_hold_on_the_next_page_and_change_with_the_next_bold_row() -> None:
    rows = [["Software", "State"], ["Product", "done"], ["Sources", "open"], ["Tooling", "Result"], ["Scanner", "none"]]
    style = [GRID, BOLD, ("FONTNAME", (0, 3), (-1, 3), "Helvetica-Bold"), ("BOTTOMPADDING", (0, 0), (-1, -1), 130)]
    lines = read(Table(rows, colWidths=[150, 100], style=style)).split("\n")
    assert [line for line in lines if line] == [
        "Software: Product; State: done",
        "Software: Sources; State: open",
        "Tooling: Scanner; Result: none",
    ]


def test_lines_at_the_same_heights_in_all_cells_of_a_box_are_rows() -> None:
    days, places = "Monday\nTuesday\nWednesday", "upper arm of either side\nback\nright or left thigh"
    style = [GRID, BOLD, ("VALIGN", (0, 0), (-1, -1), "TOP")]
    lines = read(Table([["Day", "Place"], [days, places]], colWidths=[70, 150], style=style)).split("\n")
    assert lines == [
        "Day: Monday; Place: upper arm of either side",
        "Day: Tuesday; Place: back",
        "Day: Wednesday; Place: right or left thigh",
    ]
    one = read(Table([["Day", "Place"], [days, "upper arm\nback"]], colWidths=[70, 150], style=style))
    assert one == "Day: Monday Tuesday Wednesday; Place: upper arm back"


def test_a_cell_broken_because_it_is_full_stays_one() -> None:
    cells = [Paragraph(words, BODY) for words in ("Dry kiln in the north hall", "Mia Lindqvist or Jo Brandt there")]
    style = [GRID, BOLD, ("VALIGN", (0, 0), (-1, -1), "TOP")]
    text = read(Table([["Device", "Keeper"], cells], colWidths=[62, 80], style=style))
    assert text == "Device: Dry kiln in the north hall; Keeper: Mia Lindqvist or Jo Brandt there"


def test_numbers_below_a_line_without_any_are_of_its_parts() -> None:
    rows = [
        ["", "Placebo (N=86)", "Low (N=84)"],
        ["Age, mean (range)", "75.2 (52-89)", "75.7 (51-88)"],
        ["Gender (%)\n  Male\n  Female", "\n38%\n62%", "\n40%\n60%"],
    ]
    text = read(Table(rows, colWidths=[110, 90, 90], style=[GRID, ("VALIGN", (0, 0), (-1, -1), "TOP")]))
    assert text.split("\n") == [
        "Age, mean (range); Placebo (N=86): 75.2 (52-89); Low (N=84): 75.7 (51-88)",
        "Gender (%) Male; Placebo (N=86): 38%; Low (N=84): 40%",
        "Gender (%) Female; Placebo (N=86): 62%; Low (N=84): 60%",
    ]


def test_a_box_that_is_ticked_is_a_value() -> None:
    rows = [["Role", "May read", "May write"], ["Guest", "■", ""], ["Owner", "■", "■"], ["Clerk", "", "□"]]
    text = read(Table(rows, colWidths=[80, 80, 80], style=[GRID, BOLD]))
    if "■" not in text:  # the font of the test has no such sign
        pytest.fail(text)
    assert "Role: Owner; May read: ■; May write: ■" in text and "Role: Guest; May read: ■" in text


def test_columns_of_running_text_in_a_frame_are_no_row() -> None:
    left = "The kiln may be used by all members who were shown how it is fired. " * 12
    right = "Glazes are kept in the cellar on the shelf that is nearest to the door. " * 12
    text = read(Table([[Paragraph(left, BODY), Paragraph(right, BODY)]], colWidths=[220, 220], style=[GRID]))
    assert "kiln" in text and "; Glazes" not in text and not re.search(r"fired\. Glazes", text)


def drawn(*pages: Sequence[tuple[float, float, str]]) -> str:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for words in pages:
        canvas.setFont("Helvetica", 11)
        for x, y, text in words:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return load(stream.getvalue(), "a.pdf").text


def test_a_bold_number_and_its_heading_below_a_note_are_no_row() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream)
    for at, (font, number, words) in enumerate([
        ("Helvetica", "1", "the first group"), ("Helvetica", "2", "the second group"),
        ("Helvetica", "a", "The formulation was given twice."), ("Helvetica-Bold", "2.2", "Trial design"),
        ("Helvetica", "", "The following diagram shows the design of the trial and its arms."),
    ]):  # fmt: skip
        canvas.setFont(font, 11)
        canvas.drawString(72, 700 - 18 * at, number)
        canvas.drawString(110 if number else 72, 700 - 18 * at, words)
    canvas.save()
    lines = load(stream.getvalue(), "a.pdf").text.split("\n")
    assert "# 2.2 Trial design" in " ".join(lines), lines


def test_a_foot_of_several_cells_that_repeats_is_left_out() -> None:
    foot = [(72, 60, "Screening form"), (72, 47, "Structure of the house"), (72, 34, "by means of malt")]
    foot += [(430, 52, "v22.4 of May"), (520, 43, "Unit of brewing")]
    bodies = ["Take off all rings before you go in.", "Leave your keys at the desk.", "Say how much you weigh."]
    text = drawn(*([(72, 700, said), (72, 686, "It is for your safety."), *foot] for said in bodies))
    assert all(said in text for said in bodies)
    assert "Screening" not in text and "Structure" not in text and "Unit of brewing" not in text


def test_names_one_below_another_stay_on_their_lines() -> None:
    names = ["anat-T1w__mprage_tra", "fmap-epi_acq-bold_AP", "fmap-epi_acq-bold_PA", "func-bold_task-rest"]
    text = drawn([(72, 700 - 13 * at, name) for at, name in enumerate(names)])
    assert text.split("\n") == names


@pytest.mark.parametrize(
    "text",
    [
        "úĝěĞďĜħ ýģĘėĢġģäĕĠĝģĞ ĄĠēġēĜĢēĠ ČģęėäāďđĖėĒď",
        "tvv k\x8fz\x90 \x91z\x86z ^tz\x84z\x88^ c|kz \x8duzz||u " * 9,
    ],
)
def test_numbers_of_glyphs_are_told_from_letters(text: str) -> None:
    assert _numbered(text)


@pytest.mark.parametrize(
    "text",
    [
        "Příliš žluťoučký kůň úpěl ďábelské ódy. " * 5,
        "Mọi người đều có quyền tự do đi lại và tự do cư trú. " * 5,
        "Yağız şoför çölde öğüt ütüledi, içli bir türkü söyledi. " * 5,
        "x = {'a': [1, 2], 'b': f(x) | ~y}; print(x['a'][0] ** 2)\n" * 9,
        "| 1,500.00 | 20 | 12:30 | 2024-05-03 | 33.5% |\n" * 9,
        "TR TE FoV SPAIR T1w PD 3T GRE SNR " * 9,
        "ABC-123/45.6; XK-99(2): " * 9,
    ],
)
def test_languages_with_accents_code_and_tables_are_letters(text: str) -> None:
    assert not _numbered(text)


def test_a_page_of_glyph_numbers_alone_is_refused_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.knowledge.loaders.pdf._numbered", lambda text: True)
    with pytest.raises(Quarantined, match="letters that cannot be told"):
        drawn([(72, 700, "Take off all rings.")])


def test_a_running_head_close_to_the_text_on_some_pages_goes_there_too() -> None:
    def page(number: int, top: float) -> list[tuple[float, float, str]]:
        words = ["kiln", "valve", "cellar", "boiler", "ladder"]
        body = [(72, top - 14 * at, f"The {words[number]} of house {word} is shut.") for at, word in enumerate(words)]
        return [(72, 780, f"{number} Rules of the house of brewers"), *body]

    text = drawn(*(page(number, 740 if number < 4 else 766) for number in range(5)))
    assert "ladder of house" in text and "Rules of the house" not in text


@pytest.mark.parametrize(
    ("head", "left_out"), [("Protocol of the trial", True), ("Table 7. Doses of the trial", False)]
)
def test_a_running_head_of_a_part_of_the_file_goes_too(head: str, left_out: bool) -> None:
    words = ["kiln", "valve", "cellar", "boiler", "ladder", "hatch", "pump", "hose", "tank"]
    pages = [[(72, 780, head), (72, 740, f"The {word} is shut."), (72, 726, "Nobody opens it.")] for word in words]
    others = [
        [(72, 740, f"Room {number} of the {word} is dry."), (72, 726, "Sweep it."), (72, 712, "Lock it.")]
        for number in range(4)
        for word in words
    ]
    text = drawn(*pages, *others)
    assert (head not in text) is left_out
    assert all(f"The {word} is shut." in text for word in words)


def test_letters_and_dashes_within_a_sentence_begin_no_item() -> None:
    lines = ["Our examples are of firms (a) in the trade, (b) in the middle of the chain and", "(c) that ship goods to all of their own customers."]  # fmt: skip
    said = drawn([(72, 700 - 13 * at, line) for at, line in enumerate(lines)])
    assert said == " ".join(lines)
    lines = ["• The tool shows what is done throughout the audit of the whole firm", "– particularly when several of them are made at once.", "• It is free."]  # fmt: skip
    said = drawn([(72, 700 - 13 * at, line) for at, line in enumerate(lines)])
    assert said.split("\n") == [f"- {lines[0][2:]} {lines[1]}", "- It is free."]
    lines = ["The firm has to", "(a) pay the fee of the year;", "(b) send the form."]
    assert drawn([(72, 700 - 13 * at, line) for at, line in enumerate(lines)]).count("\n") >= 2


def test_two_drawn_tables_beside_one_another_are_two() -> None:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    left = [["Berth", "Depth"], ["A1", "2.4"], ["A2", "3.1"]]
    right = [["Task", "Who"], ["Mooring", "Mia"], ["Fuel", "Jonas"], ["Waste", "Ada"]]
    for x, height, rows in ((60, 30, left), (320, 21, right)):
        grid = Table(rows, colWidths=[90, 90], rowHeights=[height] * len(rows), style=[GRID, BOLD])
        _, high = grid.wrapOn(canvas, 300, 300)
        grid.drawOn(canvas, x, 700 - high)
    canvas.setLineWidth(1)
    canvas.line(50, 720, 545, 720)  # a rule over both
    canvas.save()
    lines = load(stream.getvalue(), "a.pdf").text.split("\n")
    for line in ("Berth: A1; Depth: 2.4", "Task: Fuel; Who: Jonas", "Task: Waste; Who: Ada"):
        assert line in lines
