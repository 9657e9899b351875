import io

import pytest
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate, Table

from graph.knowledge.loaders import load

BODY = getSampleStyleSheet()["BodyText"]


def cell(text: str) -> Paragraph:
    return Paragraph(text, BODY)


def read(*parts: Flowable) -> str:
    stream = io.BytesIO()
    SimpleDocTemplate(stream).build(list(parts))
    return load(stream.getvalue(), "a.pdf").text


def columns(left: list[str], right: list[str], *, heading: str = "") -> str:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    canvas.setFont("Helvetica", 18)
    canvas.drawString(72, 740, heading)
    canvas.setFont("Helvetica", 11)
    for at, (one, other) in enumerate(zip(left, right, strict=True)):
        canvas.drawString(72, 700 - 14 * at, one)
        canvas.drawString(310, 700 - 14 * at, other)
    canvas.save()
    return load(stream.getvalue(), "a.pdf").text


LEFT = ["The kiln may be used by all", "members who were shown how it", "is fired. It is locked at night,", "and the key is with the porter."]  # fmt: skip
RIGHT = ["Glazes are kept in the cellar", "on the shelf that is nearest to", "the door. Nobody takes them home", "without a word to the warden."]  # fmt: skip


def test_columns_that_the_file_has_side_by_side_are_read_one_after_the_other() -> None:
    assert columns(LEFT, RIGHT, heading="House rules") == f"# House rules\n\n{' '.join(LEFT)}\n\n{' '.join(RIGHT)}"


def test_names_and_values_stay_a_table() -> None:
    names, values = ["Owner", "Version", "Status", "Review"], ["QA unit", "3.2", "In force", "May 2027"]
    assert columns(names, values) == "Owner: QA unit\nVersion: 3.2\nStatus: In force\nReview: May 2027"


@pytest.mark.parametrize("style", [[], [("GRID", (0, 0), (-1, -1), 0.5, "black")], [("VALIGN", (0, 0), (-1, -1), "TOP")]])  # fmt: skip
def test_a_wrapped_cell_is_one_cell_of_its_row(style: list[tuple[object, ...]]) -> None:
    rows = [
        ["Step", "What to do", "Who"],
        ["1", cell("Open the valve slowly and wait until the needle stands still for one minute"), "Operator"],
        ["2", cell("Write the value into the log"), cell("The shift leader of the night team")],
        ["3", cell("Close it"), ""],
    ]
    assert read(Table(rows, colWidths=[50, 200, 110], style=style)).split("\n") == [
        "Step: 1; What to do: Open the valve slowly and wait until the needle stands still for one minute; Who: Operator",
        "Step: 2; What to do: Write the value into the log; Who: The shift leader of the night team",
        "Step: 3; What to do: Close it",
    ]


def test_cells_stand_under_their_own_headings_where_others_are_empty() -> None:
    rows = [["Item", "Unit price", "Stock"], ["Gloves", "1,500.00", "20"], ["Goggles", "", "5"], ["Coats", "12.50", ""]]
    text = read(Table(rows, colWidths=[150, 100, 80], style=[("ALIGN", (1, 0), (-1, -1), "RIGHT")]))
    assert text.split("\n") == [
        "Item: Gloves; Unit price: 1,500.00; Stock: 20",
        "Item: Goggles; Stock: 5",
        "Item: Coats; Unit price: 12.50",
    ]


def test_several_names_and_values_in_a_row() -> None:
    rows = [["Title:", "Cleaning of glassware", "Number:", "SOP-12"], ["Version:", "3.2", "Owner:", "QA unit"]]
    text = read(Table(rows, colWidths=[60, 150, 60, 100]))
    assert text == "Title: Cleaning of glassware; Number: SOP-12\nVersion: 3.2; Owner: QA unit"


def test_text_on_both_sides_of_a_table_stays_with_its_row() -> None:
    rows = [
        ["Requirement", "Response"],
        [cell("The supplier shall hold a certificate that is not older than two years"), cell("We hold one, and it was renewed in May of this year by the body")],
        [cell("The supplier names a contact for security who answers within a day"), cell("The contact is the head of operations, who is there all day")],
        [cell("The supplier keeps records for five years in a place that is safe"), cell("Records are kept for seven years in the archive in the cellar")],
    ]  # fmt: skip
    lines = read(Table(rows, colWidths=[200, 200])).split("\n")
    assert len(lines) == 3 and lines[1].startswith("Requirement: The supplier names a contact for security who")
    assert lines[1].endswith("; Response: The contact is the head of operations, who is there all day")


def test_headings_in_the_middle_of_their_columns_name_the_cells_below_them() -> None:
    rows = [
        ["Task", "When it is due in the year"],
        ["Order the filters of the pumps", "March"],
        ["Clean the tanks of the cellar", "Yearly"],
    ]
    rows = [[row[0], "Stores" if at else "Who", row[1]] for at, row in enumerate(rows)]
    style = [
        ("ALIGN", (2, 0), (2, 0), "RIGHT"),
        ("ALIGN", (2, 1), (2, -1), "LEFT"),
        ("LEFTPADDING", (2, 1), (2, -1), 0),
    ]
    text = read(Table(rows, colWidths=[200, 60, 200], style=style))
    assert text.split("\n")[0] == (
        "Task: Order the filters of the pumps; Who: Stores; When it is due in the year: March"
    )


def test_a_word_divided_in_a_wrapped_cell_is_put_together() -> None:
    rows = [["Stage", "Action", "Limit"], ["One", "Time for verifi-<br/>cation by the pilots", "3 days"], ["Two", "Upgrade of<br/>all machines", "9 days"]]  # fmt: skip
    style = [("GRID", (0, 0), (-1, -1), 0.5, "black"), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    text = read(Table([[cell(one) for one in row] for row in rows], [60, 150, 80], style=style))
    assert "Stage: One; Action: Time for verification by the pilots; Limit: 3 days" in text
