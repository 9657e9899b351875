"""What the rows of a table say of it: headings, names and values, titles; and numbers in their formats."""

import datetime
import io
import time
from collections.abc import Sequence

import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment

from graph.knowledge.document import Document
from graph.knowledge.loaders import load, number_formats, table, xlsx
from graph.knowledge.loaders.front_matter import shown

Rows = Sequence[Sequence[str]]


def read(rows: Rows, header: bool | None = None) -> list[str]:
    return [sentence for _, sentence in table.sentences(rows, header=header)]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param(
            [["Title", "Cleaning of the mill"], ["Number", "SP-114"], ["Version", "3.2"], ["Valid from", "1 March 2024"]],
            ["Title: Cleaning of the mill", "Number: SP-114", "Version: 3.2", "Valid from: 1 March 2024"],
            id="names and values",
        ),
        pytest.param(
            [["Owner:", "Ana"], ["Deputy:", "Jo"], ["Clerk:", "Mia"]],
            ["Owner: Ana", "Deputy: Jo", "Clerk: Mia"],
            id="names with colons",
        ),
        pytest.param(
            [["Owner", "Soil group", "Version", "3.2"], ["From", "2024-03-01", "Scope", "staff"], ["Room", "B4", "Use", "oil"]],
            ["Owner: Soil group; Version: 3.2", "From: 2024-03-01; Scope: staff", "Room: B4; Use: oil"],
            id="names and values twice in three rows",
        ),
        pytest.param(
            [["Device", "Keeper"], ["Kiln", "Mia"], ["Press", "Jonas"]],
            ["Device: Kiln; Keeper: Mia", "Device: Press; Keeper: Jonas"],
            id="headings over words",
        ),
        pytest.param(
            [["Item", "Price"], ["Boat", "12"], ["Oar", "EUR 3.50"]],
            ["Item: Boat; Price: 12", "Item: Oar; Price: EUR 3.50"],
            id="headings over numbers",
        ),
        pytest.param(
            [["Question", "Answer"], ["Where is the tea?", "In the cupboard over the sink."], ["Who locks?", "The last one."]],
            ["Question: Where is the tea?; Answer: In the cupboard over the sink.", "Question: Who locks?; Answer: The last one."],
            id="questions are no names",
        ),
        pytest.param(
            [["", "2022", "2023"], ["Visitors", "41,200", "47,850"]],
            ["Visitors; 2022: 41,200; 2023: 47,850"],
            id="years as headings, and names of rows",
        ),
        pytest.param(
            [["Year", "Visitors"], ["2022", "41,200"], ["2023", "47,850"]],
            ["Year: 2022; Visitors: 41,200", "Year: 2023; Visitors: 47,850"],
            id="years as values",
        ),
        pytest.param(
            [["", "2024", "", "2025", ""], ["Site", "Visits", "Income", "Visits", "Income"], ["Mill", "1", "2", "3", "4"]],
            ["Site: Mill; 2024 Visits: 1; 2024 Income: 2; 2025 Visits: 3; 2025 Income: 4"],
            id="two rows of headings",
        ),
        pytest.param(
            [["Inventory"], ["As of March"], ["Device", "Keeper", "Room"], ["Kiln", "Mia", "4"]],
            ["Inventory", "As of March", "Device: Kiln; Keeper: Mia; Room: 4"],
            id="titles above",
        ),
        pytest.param(
            [["Kiln", "Mia", "4"], ["Press", "Jonas", "5"]], ["Kiln; Mia; 4", "Press; Jonas; 5"], id="no headings"
        ),
    ],
)  # fmt: skip
def test_rows_say_how_a_table_is_read(rows: Rows, expected: list[str]) -> None:
    assert read(rows) == expected


def test_headings_that_are_marked_stay_headings() -> None:
    assert read([["Setting", "Value"], ["port", "80"], ["host", "x.example"]], header=True) == [
        "Setting: port; Value: 80",
        "Setting: host; Value: x.example",
    ]


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (734, "00000", "00734"), (19.5, '[$€-407] #,##0.00', "€ 19.50"), (1500, '"PKR" #,##0', "PKR 1,500"),
        (1500, '#,##0.00 [$EUR]', "1,500.00 EUR"), (-1200, '#,##0;(#,##0)', "(1,200)"), (-3, "0.0", "-3.0"),
        (0.125, "0.0%", "12.5%"), (0.5, '0.0 "mg"', "0.5 mg"), (1234567, '#,##0.0,,"M"', "1.2M"),
        (0.00012, "0.00E+00", "1.20E-04"), (1.75, "# ?/?", "1 3/4"), (12.5, "0.##", "12.5"), (7, "0.##", "7"),
        (5, "General", "5"), (2.5, "@", "2.5"), (3, "", "3"), (1200, "_-* #,##0.00 €_-", "1,200.00 €"),
        (0, '0;-0;"none"', "none"), (1500, '[>=1000000]0.0,,"M";0.0,"K"', "1500"), (0.5, "# ??/12", "0.5"),
        (3001234567, "000-000-0000", "3001234567"), (0, '_($* "-"??_)', "$-"), (8, "[Red]0", "8"), (8, '"' * 500, "8"), (1e300, "0" * 150, f"{1e300:.0f}"),
    ],
)  # fmt: skip
def test_a_number_is_shown_in_its_format(value: float, form: str, expected: str) -> None:
    assert number_formats.shown(value, form) == expected


def workbook(*cells: tuple[str, object, str]) -> Document:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for place, value, form in cells:
        sheet[place] = value
        sheet[place].number_format = form
    return saved(book)


def saved(book: Workbook) -> Document:
    stream = io.BytesIO()
    book.save(stream)
    return load(stream.getvalue(), "a.xlsx")


def test_hours_beyond_a_day_stay_hours() -> None:
    document = workbook(
        ("A1", "Task", "General"), ("B1", "Time", "General"), ("A2", "Oil", "General"),
        ("B2", datetime.timedelta(hours=27, minutes=15), "[h]:mm"),
    )  # fmt: skip
    assert document.text.endswith("Task: Oil; Time: 27:15")


def test_what_a_workbook_has_beside_its_cells_is_told() -> None:
    book = Workbook()
    data = book.active
    assert data is not None
    for row in (["Device", "Keeper", "Sum"], ["Kiln", "Mia", "=1+1"], ["Press", "Jo", "=2+2"]):
        data.append(row)
    data["B2"].comment = Comment("From May it is Ana.", "x")
    book.create_chartsheet("Chart")
    book.create_sheet("Secret").sheet_state = "hidden"
    document = saved(book)
    assert document.notes == ("1 chart sheet", "1 hidden sheet", "2 formulas without a value")
    assert "Device: Kiln; Keeper: Mia; Note: From May it is Ana." in document.text


def test_two_tables_beside_one_another_are_two_tables() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    left = [["Task", "Who"], ["Mooring", "Ilse"], ["Fuel", "Bram"], ["Oil", "Ana"]]
    right = [["Berth", "Depth"], ["A1", "2.4"], ["A2", "3.1"]]
    for number, row in enumerate(left, 1):
        for at, cell in enumerate(row, 1):
            sheet.cell(number, at, cell)
    for number, row in enumerate(right, 2):
        for at, cell in enumerate(row, 4):
            sheet.cell(number, at, cell)
    text = saved(book).text
    assert "Task: Fuel; Who: Bram\nTask: Oil; Who: Ana" in text
    assert "Berth: A1; Depth: 2.4\nBerth: A2; Depth: 3.1" in text


def test_a_column_left_blank_inside_one_table_does_not_divide_it() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (
        ["Task", "Who", None, "Day", "Hour"],
        ["Oil", "Ana", None, "Monday", "9"],
        ["Fuel", "Jo", None, "Friday", "8"],
    ):
        sheet.append(row)
    assert "Task: Oil; Who: Ana; Day: Monday; Hour: 9" in saved(book).text


def test_the_line_in_which_excel_tells_its_delimiter_is_no_row() -> None:
    document = load(b"sep=;\r\nDevice;Keeper\r\nKiln;Mia, Jo\r\n", "a.csv")
    assert document.text == "Device: Kiln; Keeper: Mia, Jo"
    assert document.blocks[0].row == 3


def test_front_matter_for_readers_is_read_and_that_for_site_builders_is_not() -> None:
    document = load(
        b"---\ntitle: Cold storage\nlayout: page\nowner: Soil group\nversion: '3.2'\nreview-date: 2026-03-01 # yearly\n"
        b"tags: [a, b]\nreviewers:\n  - The board\n  - The clerk\nsidebar:\n  owner_menu: yes\nstatus: draft\n---\n# Cold storage\n\nKeep it cold.\n",
        "a.md",
    )
    assert document.fields == (
        ("Owner", "Soil group"), ("Version", "3.2"), ("Review date", "2026-03-01"),
        ("Reviewers", "The board, The clerk"), ("Status", "draft"),
    )  # fmt: skip
    assert document.text.startswith("Owner: Soil group\nVersion: 3.2\nReview date: 2026-03-01")
    assert "layout" not in document.text and document.title == "Cold storage"
    assert any("layout: page" in hidden for hidden in document.hidden)


def test_toml_and_odd_front_matter() -> None:
    assert [*shown('owner = "Ana"\nstatus = "in force"\nempty = ""\n')] == [("Owner", "Ana"), ("Status", "in force")]
    assert [*shown("owner: &a\n- *a\n" + "owner: x\n" * 500)]


def test_a_line_across_a_table_is_no_second_row_of_headings() -> None:
    rows = [["Factor", "", "Points"], ["", "Factor 1", ""], ["Reach", "wide", "3"], ["Depth", "low", "1"]]
    assert read(rows, header=True)[-1] == "Factor: Depth; low; Points: 1"


def test_formulas_that_are_never_closed_are_counted_in_linear_time() -> None:
    def seconds(times: int) -> float:
        sheet = b"<f/>" + b" " * times + b"<v>" + b" " * times + b"<f/>" * times
        start = time.process_time()
        xlsx._NO_VALUE.findall(sheet)
        return time.process_time() - start

    assert seconds(40_000) < 20 * max(seconds(4_000), 0.001)
