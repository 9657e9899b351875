"""What the rows of a table say of it: headings, names and values, titles; and numbers in their formats."""

import datetime
import io
import zipfile
from collections.abc import Sequence
from typing import Any

import pytest
from openpyxl import Workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table

from graph.knowledge.document import Document
from graph.knowledge.loaders import load, number_formats, table, xlsx
from graph.knowledge.loaders.front_matter import shown
from tests.support.cpu import seconds

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
        pytest.param(
            [["Version", "3.2"], ["Owner", "Soil group"]], ["Version: 3.2", "Owner: Soil group"], id="two names, two values"
        ),
        pytest.param(
            [["Document no.", "SOP-12", "Version", "4"], ["Author", "M. Weber", "Date", "2024-05-06"]],
            ["Document no.: SOP-12; Version: 4", "Author: M. Weber; Date: 2024-05-06"],
            id="names that are shortened, two beside one another",
        ),
        pytest.param(
            [["No.", "SOP-12", "Version", "4", "Page", "1 of 3"], ["Author", "Ana", "Date", "2024-05-06", "Status", "in force"]],
            ["No.: SOP-12; Version: 4; Page: 1 of 3", "Author: Ana; Date: 2024-05-06; Status: in force"],
            id="three names and values in a row",
        ),
        pytest.param(
            [["Length", "12.5 m"], ["Draught", "1.1 m"], ["Weight (kg)", "500"], ["Berths", "4"]],
            ["Length: 12.5 m", "Draught: 1.1 m", "Weight (kg): 500", "Berths: 4"],
            id="names of measures",
        ),
        pytest.param(
            [["Approver", "Dr Lind"], ["Approver", "M. Weber"], ["Version", "3.2"], ["Date", "2024-05-06"]],
            ["Approver: Dr Lind", "Approver: M. Weber", "Version: 3.2", "Date: 2024-05-06"],
            id="a name twice",
        ),
        pytest.param(
            [["Name", "Phone", "Phone"], ["Ana", "020 7946 0001", "020 7946 0002"], ["Jo", "020 7946 0003", "020 7946 0004"]],
            ["Name: Ana; Phone: 020 7946 0001; Phone: 020 7946 0002", "Name: Jo; Phone: 020 7946 0003; Phone: 020 7946 0004"],
            id="a heading twice",
        ),
        pytest.param(
            [["Sample", "Mass", "Length"], ["", "mg", "(mm)"], ["S1", "1.2", "4"], ["S2", "1.4", "5"]],
            ["Sample: S1; Mass (mg): 1.2; Length (mm): 4", "Sample: S2; Mass (mg): 1.4; Length (mm): 5"],
            id="a row of units",
        ),
        pytest.param(
            [["Item", "Price", "Rent"], ["Oar", "free", "none"], ["Boat", "12", "3"], ["Sail", "40", "9"], ["Jib", "4", "2"], ["Mast", "9", "1"]],
            ["Item: Oar; Price: free; Rent: none", "Item: Boat; Price: 12; Rent: 3", "Item: Sail; Price: 40; Rent: 9", "Item: Jib; Price: 4; Rent: 2", "Item: Mast; Price: 9; Rent: 1"],
            id="words where others have numbers are no units",
        ),
        pytest.param(
            [["", "North", "", "", ""], ["", "2023", "", "2024", ""], ["Item", "Plan", "Real", "Plan", "Real"], ["Oil", "1", "2", "3", "4"]],
            ["Item: Oil; North 2023 Plan: 1; North 2023 Real: 2; North 2024 Plan: 3; North 2024 Real: 4"],
            id="three rows of headings",
        ),
        pytest.param(
            [["Item", "2024-01", "2024-02"], ["Wood", "1", "2"], ["Oil", "4", "5"]],
            ["Item: Wood; 2024-01: 1; 2024-02: 2", "Item: Oil; 2024-01: 4; 2024-02: 5"],
            id="months as headings",
        ),
        pytest.param(
            [["Shift", "1", "2", "3"], ["Ana", "early", "late", "off"], ["Jo", "late", "early", "off"]],
            ["Shift: Ana; 1: early; 2: late; 3: off", "Shift: Jo; 1: late; 2: early; 3: off"],
            id="numbers that count on as headings",
        ),
        pytest.param(
            [["Drug", "5 mg", "10 mg"], ["Alpha", "yes", "no"], ["Beta", "no", "no"]],
            ["Drug: Alpha; 5 mg: yes; 10 mg: no", "Drug: Beta; 5 mg: no; 10 mg: no"],
            id="doses as headings",
        ),
        pytest.param(
            [["Bus", "08:00", "09:00"], ["A", "yes", "no"], ["B", "no", "yes"]],
            ["Bus: A; 08:00: yes; 09:00: no", "Bus: B; 08:00: no; 09:00: yes"],
            id="times as headings",
        ),
        pytest.param(
            [["Name", "Value", "Unit", "Remark"], ["port", "80", "", "usual"], ["host", "x.example", "", ""], ["wait", "30", "s", "long"]],
            ["Name: port; Value: 80; Remark: usual", "Name: host; Value: x.example", "Name: wait; Value: 30; Unit: s; Remark: long"],
            id="four columns that are not names and values",
        ),
        pytest.param(
            [["Monday", "9:00-17:00"], ["Tuesday", "9:00-17:00"], ["Sunday", "closed"]],
            ["Monday: 9:00-17:00", "Tuesday: 9:00-17:00", "Sunday: closed"],
            id="values that repeat",
        ),
        pytest.param(
            [["Prepared by", "Ana", "Date", "2024-01-01"], ["Approved by", "Dr Lind", "Date", "2024-01-02"]],
            ["Prepared by: Ana; Date: 2024-01-01", "Approved by: Dr Lind; Date: 2024-01-02"],
            id="a name in each row",
        ),
        pytest.param(
            [["Port", "Spring", ""], ["Port", "High", "Low"], ["Varn", "06:10", "12:25"], ["Skeld", "07:10", "13:25"]],
            ["Port: Varn; Spring High: 06:10; Spring Low: 12:25", "Port: Skeld; Spring High: 07:10; Spring Low: 13:25"],
            id="one group of columns",
        ),
        pytest.param(
            [["", "2023", "2023", "2024"], ["Site", "Visits", "Income", "Visits"], ["Mill", "1", "2", "3"], ["Barn", "5", "6", "7"]],
            ["Site: Mill; 2023 Visits: 1; 2023 Income: 2; 2024 Visits: 3", "Site: Barn; 2023 Visits: 5; 2023 Income: 6; 2024 Visits: 7"],
            id="groups named over each of their columns",
        ),
        pytest.param(
            [["Loan", "0-30 days", "Over 60"], ["A", "5", "7"], ["B", "1", "3"]],
            ["Loan: A; 0-30 days: 5; Over 60: 7", "Loan: B; 0-30 days: 1; Over 60: 3"],
            id="spans as headings",
        ),
        pytest.param(
            [["Item", "Price 2024"], ["Boat", "12"], ["Oar", "4"]],
            ["Item: Boat; Price 2024: 12", "Item: Oar; Price 2024: 4"],
            id="a heading that ends with a year",
        ),
        pytest.param(
            [["Report", "Inventory"], ["Date", "2024-03-01"], [], ["Device", "Keeper", "Room"], ["Kiln", "Mia", "Hall"], ["Saw", "Jo", "Attic"]],
            ["Report: Inventory", "Date: 2024-03-01", "Device: Kiln; Keeper: Mia; Room: Hall", "Device: Saw; Keeper: Jo; Room: Attic"],
            id="names and values above a table",
        ),
        pytest.param(
            [["Device", "Keeper"], ["Kiln", "Mia"], ["Saw", "Jo"], [], ["Berth", "Depth"], ["A1", "2.4"], ["A2", "3.1"]],
            ["Device: Kiln; Keeper: Mia", "Device: Saw; Keeper: Jo", "Berth: A1; Depth: 2.4", "Berth: A2; Depth: 3.1"],
            id="a second table below",
        ),
        pytest.param(
            [["Device", "Keeper"], ["Kiln", "Mia"], ["Saw", "Jo"], [], ["Lathe", "Ana"], ["Press", "Tom"]],
            ["Device: Kiln; Keeper: Mia", "Device: Saw; Keeper: Jo", "Device: Lathe; Keeper: Ana", "Device: Press; Keeper: Tom"],
            id="a table that goes on below a blank row",
        ),
        pytest.param(
            [["Timestamp", "How was it? " * 15], ["2024-01-01 10:00", "Fine"], ["2024-01-02 10:00", "Dull"]],
            [f"Timestamp: 2024-01-0{day} 10:00; {('How was it? ' * 15)[:150].strip()}: {said}" for day, said in ((1, "Fine"), (2, "Dull"))],
            id="questions of a form as headings",
        ),
        (
            [["AE", "Adverse Event"], ["CRF", "Case Report Form"], ["SAP", "Statistical Analysis Plan"]],
            ["AE: Adverse Event", "CRF: Case Report Form", "SAP: Statistical Analysis Plan"],
        ),
        (
            [["Acronym", "Translation"], ["CRF", "Case Report Form"], ["SAP", "Statistical Analysis Plan"]],
            ["Acronym: CRF; Translation: Case Report Form", "Acronym: SAP; Translation: Statistical Analysis Plan"],
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
    ("rows", "last"),
    [
        # Markdown has no table without headings: the first of the rows stands there.
        (["Tapes | 1 year", "Logs | 4 years", "Notices | 60 days", "Deeds | 2 years", "Box records | 7 years"],
         "Box records: 7 years"),
        (["Kind | Kept", "Logs | 4 years", "Notices | 60 days", "Box records | 7 years"], "Kind: Box records; Kept: 7 years"),
        (["Strain | 24 h | 48 h", "A | 3 mg | 4 mg", "B | 3 mg | 5 mg", "C | 2 mg | 6 mg"], "Strain: C; 24 h: 2 mg; 48 h: 6 mg"),
        (["Site | 2023", "A | 10", "B | 12", "C | 14"], "Site: C; 2023: 14"),
        (["Tapes | 1 year", "Logs | 4 years"], "Tapes: Logs; 1 year: 4 years"),
    ],
)  # fmt: skip
def test_headings_that_are_one_of_the_rows_are_a_row(rows: list[str], last: str) -> None:
    cells = [row.split(" | ") for row in rows]
    assert read(cells, header=True)[-1] == last


def test_a_blank_row_where_the_headings_would_stand_leaves_names_and_values() -> None:
    text = load(b"| | |\n|---|---|\n| Title | Cleaning |\n| Version | 3.2 |\n| Owner | Soil group |\n", "a.md").text
    assert text == "Title: Cleaning\nVersion: 3.2\nOwner: Soil group"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(
            "<thead><tr><th rowspan=3>Port</th><th colspan=4>Tides</th></tr><tr><th colspan=2>Spring</th><th colspan=2>Neap</th></tr>"
            "<tr><th>High</th><th>Low</th><th>High</th><th>Low</th></tr></thead><tr><td>Varn</td><td>a</td><td>b</td><td>c</td><td>d</td></tr>",
            "Port: Varn; Tides Spring High: a; Tides Spring Low: b; Tides Neap High: c; Tides Neap Low: d",
            id="three rows of headings over words",
        ),
        pytest.param(
            "<tr><th colspan=2>Stock</th></tr><tr><th>Device</th><th>Room</th></tr><tr><td>Kiln</td><td>Hall</td></tr>",
            "Stock\nDevice: Kiln; Room: Hall",
            id="a title among the headings",
        ),
        pytest.param(
            "<tr><th><h3>Step</h3></th><th><h3>Do</h3></th></tr><tr><td>One</td><td>a</td></tr><tr><td>Two</td><td>b</td></tr>",
            "Step: One; Do: a\nStep: Two; Do: b",
            id="headings of the page as headings of the table",
        ),
        pytest.param(
            "<tr><td><b>Step</b></td><td><p><strong>Do</strong></p></td></tr><tr><td>One</td><td><ul><li>a</li><li>b</li></ul></td></tr>",
            "Step: One; Do: a b",
            id="bold headings over lists",
        ),
        pytest.param(
            "<tr><td><b>Owner</b></td><td>Ana</td></tr><tr><td><b>Room</b></td><td>Attic</td></tr>",
            "Owner: Ana\nRoom: Attic",
            id="names in bold",
        ),
        pytest.param(
            "<tr><th>No</th><td>SOP-12</td><th>State</th><td>valid</td></tr><tr><th>Author</th><td>Weber</td><th>Site</th><td>Mill</td></tr>",
            "No: SOP-12; State: valid\nAuthor: Weber; Site: Mill",
            id="names and values twice in a row",
        ),
    ],
)  # fmt: skip
def test_a_table_of_a_page_is_read_as_it_is_marked(source: str, expected: str) -> None:
    assert load(f"<main><h1>T</h1><table>{source}</table></main>".encode(), "a.html").text == f"# T\n\n{expected}"


def test_long_texts_below_bold_names_stay_texts() -> None:
    cell = f"<p>{'One sentence of many words. ' * 30}</p><p>And one more.</p>"
    page = f"<table><tr><td><b>Ask</b></td><td><b>Reply</b></td></tr><tr><td>Why?</td><td>{cell}</td></tr></table>"
    assert "\n\nAnd one more." in load(f"<main><h1>T</h1>{page}</main>".encode(), "a.html").text
    page = page.replace("td><b>", "th><b>").replace("</b></td>", "</b></th>")
    assert "Ask: Why?; Reply: One sentence" in load(f"<main><h1>T</h1>{page}</main>".encode(), "a.html").text


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (734, "00000", "00734"), (19.5, '[$€-407] #,##0.00', "€ 19.50"), (1500, '"PKR" #,##0', "PKR 1,500"),
        (1500, '#,##0.00 [$EUR]', "1,500.00 EUR"), (-1200, '#,##0;(#,##0)', "(1,200)"), (-3, "0.0", "-3.0"),
        (0.125, "0.0%", "12.5%"), (0.5, '0.0 "mg"', "0.5 mg"), (1234567, '#,##0.0,,"M"', "1.2M"),
        (0.00012, "0.00E+00", "1.20E-04"), (1.75, "# ?/?", "1 3/4"), (12.5, "0.##", "12.5"), (7, "0.##", "7"),
        (5, "General", "5"), (2.5, "@", "2.5"), (3, "", "3"), (1200, "_-* #,##0.00 €_-", "1,200.00 €"),
        (0, '0;-0;"none"', "none"), (1500, '[>=1000000]0.0,,"M";0.0,"K"', "1.5K"), (0.5, "# ??/12", "6/12"),
        (3001234567, "000-000-0000", "300-123-4567"), (5551234567, "(000) 000-0000", "(555) 123-4567"),
        (7, '00":"00', "00:07"), (2_500_000, '[>=1000000]0.0,,"M";0.0,"K"', "2.5M"), (9, '[=1]"one";0" many"', "9 many"),
        (3, '[<5]"low";"high"', "low"), (2, "[>5]0", "2"), (100, '0" %"', "100 %"), (2.25, "# ?/4", "2 1/4"), (2.75, "?/?", "11/4"),
        (1e-7, "General", "1E-07"), (3, ";;;", ""), (0, "#,##0;;", ""), (-2, "#,##0;;", ""), (0, '"Yes";"Yes";"No"', "No"),
        (1.5, "000-000", "000-002"), (-7, "@", "-7"), (float("1e308"), "0-0", "1E+308"), (0, '_($* "-"??_)', "$-"), (8, "[Red]0", "8"), (8, '"' * 500, "8"), (1e300, "0" * 150, f"{1e300:.0f}"),
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


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [
        (datetime.timedelta(minutes=95, seconds=3), "[mm]:ss", "95:03"), (datetime.time(9, 5), "h:mm", "09:05"),
        (datetime.date(2024, 3, 1), "mmm yyyy", "2024-03"), (datetime.date(2024, 3, 1), "yyyy", "2024"),
        (datetime.date(2024, 3, 5), "d mmm", "2024-03-05"), (datetime.date(2024, 3, 5), '[$-409]d" day of "mmmm', "2024-03-05"),
        (datetime.datetime(2024, 3, 5, 14, 30), "hh:mm", "14:30"),
        (datetime.datetime(2024, 3, 5, 14, 30), "d/m/yy h:mm AM/PM", "2024-03-05 14:30:00"),
        ("SP-1", '"Doc "@', "Doc SP-1"), ("plain", "0.00", "plain"), ("as is", '0;-0;0;"Doc "@', "Doc as is"), ("gone", ";;;", ""),
    ],
)  # fmt: skip
def test_dates_times_and_texts_are_shown_as_their_format_says(value: object, form: str, expected: str) -> None:
    document = workbook(
        ("A1", "Item", "General"), ("B1", "Size", "General"), ("C1", "Value", "General"),
        ("A2", "Oil", "General"), ("B2", 4, "General"), ("C2", value, form),
    )  # fmt: skip
    assert document.text.endswith(f"Item: Oil; Size: 4; Value: {expected}" if expected else "Item: Oil; Size: 4")
    assert ("gone" in document.hidden) == (value == "gone")


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


@pytest.mark.filterwarnings("ignore:DrawingML")  # openpyxl reads none itself
def test_boxes_and_pictures_on_a_sheet_are_read_or_told() -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in (["Item", "Price"], ["Boat", 12]):
        page.append(row)
    chart = BarChart()
    chart.add_data(Reference(page, min_col=2, min_row=1, max_row=2), titles_from_data=True)
    page.add_chart(chart, "E5")
    stream = io.BytesIO()
    book.save(stream)
    box = '<xdr:sp><xdr:nvSpPr><xdr:cNvPr id="{}" name="b" {}/></xdr:nvSpPr><xdr:txBody>{}</xdr:txBody></xdr:sp>'
    words = "<a:p><a:r><a:t>Prices hold </a:t></a:r><a:r><a:t>until May.</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>Ask Ana.</a:t></a:r></a:p>"
    secret = "<a:p><a:r><a:t>secret</a:t></a:r></a:p>"
    drawn = (
        '<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><xdr:twoCellAnchor>'
        + box.format(2, "", words)
        + box.format(3, 'hidden="1"', secret)
        + '<xdr:pic><xdr:nvPicPr><xdr:cNvPr id="4" name="p"/></xdr:nvPicPr></xdr:pic></xdr:twoCellAnchor></xdr:wsDr>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(stream) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            target.writestr(name, drawn if name == "xl/drawings/drawing1.xml" else source.read(name))
    document = load(made.getvalue(), "a.xlsx")
    assert document.text == "# Sheet\n\nItem: Boat; Price: 12\n\nPrices hold until May.\nAsk Ana."
    assert document.notes == ("1 picture",) and document.blocks[-1].sheet == "Sheet"


def test_a_thread_of_comments_is_read_without_the_words_for_older_programs() -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in (["Item", "Price"], ["Boat", 12]):
        page.append(row)
    page["B2"].comment = Comment(
        "[Threaded comment]\n\nYour version of Excel reads this.\n\nComment:\n    From May 14.", "x"
    )
    assert saved(book).text.endswith("Item: Boat; Price: 12; Note: From May 14.")


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


def sheet(rows: Sequence[Any], bold: Sequence[str] = (), merged: Sequence[str] = ()) -> str:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in rows:
        page.append(row)
    for place in bold:
        page[place].font = Font(bold=True)
    for area in merged:
        page.merge_cells(area)
    return saved(book).text.removeprefix("# Sheet\n\n")


def test_names_and_values_above_a_table_of_a_sheet() -> None:
    rows = [
        ["Owner", "Soil group"],
        ["Version", 3.2],
        ["Date", "2024-03-01"],
        [],
        ["Device", "Room"],
        ["Kiln", 4],
        ["Saw", 9],
    ]
    expected = "Owner: Soil group\nVersion: 3.2\nDate: 2024-03-01\nDevice: Kiln; Room: 4\nDevice: Saw; Room: 9"
    assert sheet(rows).replace("\n\n", "\n") == expected
    assert sheet(rows, bold=["A5", "B5"]).replace("\n\n", "\n") == expected
    rows = [*rows[:4], ["Device", "Keeper", "Room"], ["Kiln", "Mia", 4], ["Saw", "Jo", 9]]
    expected = "Date: 2024-03-01\nDevice: Kiln; Keeper: Mia; Room: 4\nDevice: Saw; Keeper: Jo; Room: 9"
    assert sheet(rows).replace("\n\n", "\n").endswith(expected)


def test_a_table_of_a_sheet_goes_on_below_a_blank_row_and_another_begins() -> None:
    rows = [
        ["Device", "Price"],
        ["Kiln", 3],
        ["Saw", 4],
        [],
        ["Lathe", 5],
        ["Press", 6],
        [],
        ["Berth", "Depth"],
        ["A1", 2.4],
        ["A2", 3.1],
    ]
    assert sheet(rows).split("\n") == [
        "Device: Kiln; Price: 3", "Device: Saw; Price: 4", "Device: Lathe; Price: 5", "Device: Press; Price: 6", "",
        "Berth: A1; Depth: 2.4", "Berth: A2; Depth: 3.1",
    ]  # fmt: skip


@pytest.mark.parametrize("way", ["table", "filter"])
def test_headings_that_excel_knows_are_headings(way: str) -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in (["Stock of May"], [], ["Field", "Value"], ["Colour", "red"], ["Date", "2024-01-01"], ["Weight", "12"]):
        page.append(row)
    if way == "table":
        page.add_table(Table(displayName="Stock", ref="A3:B6"))
    else:
        page.auto_filter.ref = "A3:B6"
    assert "Field: Colour; Value: red\nField: Date; Value: 2024-01-01" in saved(book).text


def test_rows_that_a_filter_hides_do_not_divide_a_table() -> None:
    book = Workbook()
    page = book.active
    assert page is not None
    for row in (
        ["Tool", "Owner", "Day"],
        ["Kiln", "x", "z"],
        ["Saw", "Mia", "Monday"],
        ["Lathe", "y", "z"],
        ["Rate", "Value", "Unit"],
        ["Oil", 3, 4],
        ["Gas", 4, 5],
    ):
        page.append(row)
    for number in (2, 4):
        page.row_dimensions[number].hidden = True
    assert (
        "Tool: Saw; Owner: Mia; Day: Monday\nTool: Rate; Owner: Value; Day: Unit\nTool: Oil; Owner: 3"
        in saved(book).text
    )


def test_merged_and_bold_headings_over_words() -> None:
    rows = [
        ["Port", "Spring", None, "Autumn", None],
        [None, "High", "Low", "High", "Low"],
        ["Varn", "early", "late", "noon", "dusk"],
    ]
    expected = "Port: Varn; Spring High: early; Spring Low: late; Autumn High: noon; Autumn Low: dusk"
    assert sheet(rows, merged=["A1:A2", "B1:C1", "D1:E1"]) == expected


def test_bold_numbers_and_groups_are_headings() -> None:
    rows = [["Size", 36, 37], ["Stock", 4, 0], ["Orders", 1, 2]]
    assert sheet(rows, bold=["A1", "B1", "C1"]) == "Size: Stock; 36: 4; 37: 0\nSize: Orders; 36: 1; 37: 2"
    rows = [
        ["Item", "North", None, None, None], [None, "2023", None, "2024", None], [None, "Plan", "Real", "Plan", "Real"],
        ["Oil", "a", "b", "c", "d"], ["Gas", "e", "f", "g", "h"],
    ]  # fmt: skip
    merged = ["A1:A3", "B1:E1", "B2:C2", "D2:E2"]
    expected = "Item: Oil; North 2023 Plan: a; North 2023 Real: b; North 2024 Plan: c; North 2024 Real: d\n"
    assert sheet(rows, merged=merged).startswith(expected)


def test_two_blank_columns_divide_tables_of_one_height() -> None:
    rows = [
        ["Task", "Who", None, None, "Berth", "Depth"],
        ["Oil", "Ana", None, None, "A1", 2],
        ["Fuel", "Jo", None, None, "A2", 3],
    ]
    assert sheet(rows) == "Task: Oil; Who: Ana\nTask: Fuel; Who: Jo\n\nBerth: A1; Depth: 2\nBerth: A2; Depth: 3"


def test_grid_tables_of_markdown() -> None:
    grid = (
        "+------+----------+\n| Item | Remark   |\n+======+==========+\n| Boat | needs    |\n|      | *paint*  |\n"
        "+------+----------+\n| Oar  | - one    |\n|      | - two    |\n+------+----------+\n"
    )
    text = load(f"Above.\n\n{grid}\nBelow.\n".encode(), "a.md").text
    assert text == "Above.\n\nItem: Boat; Remark: needs paint\nItem: Oar; Remark: one two\n\nBelow."
    assert load(grid.replace("needs    |", "needs      |").encode(), "a.md").text.startswith(
        "Item: Boat; Remark: needs paint\n"
    )
    assert load(f"```\n{grid}```\n".encode(), "a.md").blocks[0].kind == "code"
    assert "+---+" in load(b"Text\n+---+\n| x |\n", "a.md").text


def test_broken_grid_tables_take_linear_time() -> None:
    def spent(times: int) -> float:
        return seconds(lambda: load(b"+--+\n|ab|\n+---+\n|abc\n" * times, "a.md"))

    assert spent(4_000) < 40 * max(spent(400), 0.01)


def test_bold_tells_headings_from_names() -> None:
    rows = [["Item", "State"], ["boat", "12"], ["oar", "lost"]]
    assert sheet(rows, bold=["A1", "B1"]) == "Item: boat; State: 12\nItem: oar; State: lost"
    rows = [["Owner", "Ana"], ["Deputy", "Jo"], ["Room", "Attic"]]
    assert sheet(rows, bold=["A1", "A2", "A3"]) == "Owner: Ana\nDeputy: Jo\nRoom: Attic"


def test_a_board_and_a_form_in_a_sheet() -> None:
    board = [["A plan of the year"], [], ["TO DO", "DOING"], [None, "Dig"], ["Sow", "Mow"]]
    assert sheet(board).endswith("DOING: Dig\nTO DO: Sow; DOING: Mow")
    form = [
        ["Please answer:"],
        ["1) How many of the servers that you run are out of date today and why are they?"],
        ["2) Others?", "0"],
    ]
    assert "Please answer::" not in sheet(form) and "Please answer: " not in sheet(form)


@pytest.mark.parametrize("first", ["sep=|", '"sep=|"', "SEP=|", "\ufeffsep=|", "sep=|||"])
def test_a_line_that_tells_the_delimiter_is_none_of_the_table(first: str) -> None:
    assert load(f"{first}\r\nTool|Owner\r\nSaw|Ada\r\n".encode(), "a.csv").text == "Tool: Saw; Owner: Ada"


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


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("approvedBy: Dr Lind\nreview-date: 2026-03-01\n\"Document Owner\": Jo", [("Approved by", "Dr Lind"), ("Review date", "2026-03-01"), ("Document owner", "Jo")]),
        ("owner:\n  name: Ana Lind\n  mail: a@x.example\nsop_number: SP-1", [("Owner", "Ana Lind, a@x.example"), ("SOP number", "SP-1")]),
        ("authors:\n  - name: Ana\n  - name: Jo\nreviewers: [\"Lind, Eva\", Tom]", [("Authors", "Ana, Jo"), ("Reviewers", "Lind, Eva, Tom")]),
        ("scope: >\n  All rooms of\n  the group.\npurpose: |\n  One\n  two", [("Scope", "All rooms of the group."), ("Purpose", "One two")]),
        ("document_control:\n  version: 2\n  next_review_due: 2026-01-01\n  nav: {owner: x}", [("Version", "2"), ("Next review due", "2026-01-01")]),
        ("process_owner: Ana\nlastmod: 2024-02-02\nreview_frequency: yearly", [("Process owner", "Ana"), ("Lastmod", "2024-02-02"), ("Review frequency", "yearly")]),
        ("sidebar: {owner: x}\nlayout: page\ntype: post\nowner_menu: y\nstatus: true\nweight: 3\npermalink: /a/\nhome: https://a.example/b", []),
        ("type: chemical\ncas: 1609-47-8\nlocation: Shelf 2\nlead: \"[[ada-lind|Ada Lind]]\"", [("Type", "chemical"), ("CAS", "1609-47-8"), ("Location", "Shelf 2"), ("Lead", "Ada Lind")]),
        ("card:\n  title: Pay\n  what: Money for a talk.\nlinks:\n  - {text: A, href: b}", [("What", "Money for a talk.")]),
        ("subnav:\n  - text: A\n    href: '#a'\nsource: docs/a.md", []),
        ("owner: Ana: the clerk\nversion: 2 # of three", [("Owner", "Ana: the clerk"), ("Version", "2")]),
        ("owner: {{ site.owner }}\nversion: 2", [("Version", "2")]),
        ("owner: &a\n- *a\n" + "owner: x\n" * 500, None),
        ("owner: " + "[" * 5_000, None),
    ],
)  # fmt: skip
def test_fields_of_yaml(source: str, expected: list[tuple[str, str]] | None) -> None:
    assert expected is None or [*shown(source)] == expected


def test_fields_of_toml() -> None:
    source = 'owner = "Ana"\nstatus = "in force"\nempty = ""\ndate = 2024-03-01\nauthors = ["Ana", "Jo"]\n[extra]\nreview_date = 2026-01-01\n'
    assert [*shown(source, toml=True)] == [
        ("Owner", "Ana"), ("Status", "in force"), ("Date", "2024-03-01"), ("Authors", "Ana, Jo"), ("Review date", "2026-01-01"),
    ]  # fmt: skip
    assert [*shown('owner = "Ana\nversion = 3', toml=True)] == [("Owner", "Ana"), ("Version", "3")]
    assert load(b'+++\nowner = "Ana"\n+++\nText.\n', "a.md").fields == (("Owner", "Ana"),)
    assert len([*shown("owner = " + "[" * 50_000, toml=True)]) < 2  # nor does it fail


def test_a_line_across_a_table_is_no_second_row_of_headings() -> None:
    rows = [["Factor", "", "Points"], ["", "Factor 1", ""], ["Reach", "wide", "3"], ["Depth", "low", "1"]]
    assert read(rows, header=True)[-1] == "Factor: Depth; low; Points: 1"


def test_formulas_that_are_never_closed_are_counted_in_linear_time() -> None:
    def spent(times: int) -> float:
        sheet = b"<f/>" + b" " * times + b"<v>" + b" " * times + b"<f/>" * times
        return seconds(lambda: xlsx._NO_VALUE.findall(sheet))

    assert spent(40_000) < 20 * max(spent(4_000), 0.001)


def test_amounts_with_long_units_are_values_so_two_rows_of_names_stay_pairs() -> None:
    rows = [["Maximum", "1,180 degrees"], ["Ramp", "90 degrees an hour"]]
    assert [said for _, said in table.sentences(rows)] == ["Maximum: 1,180 degrees", "Ramp: 90 degrees an hour"]


def test_a_row_that_says_nothing_without_the_name_of_its_part_ends_with_it() -> None:
    rows = [
        ["Stay", "Adult", "Child"],
        ["Summer", "", ""], ["One night", "$40", "$20"], ["A week", "$200", "$90"],
        ["Winter", "", ""], ["One night", "$30", "$15"], ["A week", "$150", "$70"],
    ]  # fmt: skip
    assert read(rows, header=True) == [
        "Stay: Summer",
        "Stay: One night; Adult: $40; Child: $20; Summer",
        "Stay: A week; Adult: $200; Child: $90; Summer",
        "Stay: Winter",
        "Stay: One night; Adult: $30; Child: $15; Winter",
        "Stay: A week; Adult: $150; Child: $70; Winter",
    ]


def test_a_name_without_values_is_no_part() -> None:
    people = [["Name", "Room", "Phone"], ["Ana", "", ""], ["Jo", "4", "12"], ["Mia", "", ""], ["Tom", "5", "14"]]
    assert read(people, header=True)[1] == "Name: Jo; Room: 4; Phone: 12"


FUNDS = [
    ["Sources of funds", None, None, "Limit", "Balance", "Free"],
    [None, "1. Bank", None, 7117, 1405, 5712],
    [None, "2. Reserve", None, 0, 0, 0],
    [None, "3. Bonds", None, 1500, 200, 1300],
    ["Total of funds", None, None, 8617, 1605, 7012],
]


def test_numbers_beside_a_blank_column_are_those_of_the_names_left_of_it() -> None:
    rows = sheet([["All in thousands"], *FUNDS]).split("\n")
    assert "1. Bank; Limit: 7117; Balance: 1405; Free: 5712" in rows
    assert any(row.endswith("Total of funds; Limit: 8617; Balance: 1605; Free: 7012") for row in rows)


def test_a_row_of_words_over_numbers_names_their_columns_anew() -> None:
    rows = [
        *FUNDS,
        [None, "When they come", None, "At once", "30 days", "Later"],
        [None, "1. Bank", None, 10, 20, 30],
        [None, "2. Reserve", None, 11, 21, 31],
    ]
    text = sheet([["All in thousands"], *rows]).split("\n")
    assert "1. Bank; Limit: 7117; Balance: 1405; Free: 5712" in text
    assert "When they come" in text
    assert text[-2:] == [
        "1. Bank; At once: 10; 30 days: 20; Later: 30",
        "2. Reserve; At once: 11; 30 days: 21; Later: 31",
    ]


def test_two_words_among_numbers_name_no_columns() -> None:
    rows = [["Tool", "Price", "Count"], ["Saw", 12, 3], ["Drill", "on request", "many"], ["File", 4, 8]]
    assert sheet(rows).split("\n")[-2:] == [
        "Tool: Drill; Price: on request; Count: many",
        "Tool: File; Price: 4; Count: 8",
    ]


def test_tables_beside_one_another_with_names_of_their_own_stay_two() -> None:
    rows = [
        ["Tool", "Price", None, "Room", "Seats"],
        ["Saw", 12, None, "Hall", 90],
        ["File", 4, None, "Attic", 4],
        ["Awl", 3, None],
    ]
    assert "Room: Hall; Seats: 90" in sheet(rows).split("\n")


def test_a_title_block_gives_the_fields_of_its_document() -> None:
    source = (
        "# Patch procedure\n**A.8.8 | Version 1.2**\n**Owner:** Ops Lead / Ada Lind\n**Approved by:** The board | May 2025\n\n"
        "## Steps\n\n| Step | Owner |\n|---|---|\n| Read | Jo |\n| Patch | Bo |\n\nThe owner: somebody who reads this.\n"
    )
    assert load(source.encode(), "a.md").fields == (
        ("Owner", "Ops Lead / Ada Lind"), ("Approved by", "The board"), ("Version", "1.2"),
    )  # fmt: skip
    table = "# Rooms\n\n| Room | Owner | Status |\n|---|---|---|\n| Hall | Jo | open |\n| Attic | Bo | shut |\n"
    assert load(table.encode(), "a.md").fields == ()  # of its rows, not of the document
    assert load(b"# Letter\n\nHere is the purpose: to write. See the status: none.\n", "a.md").fields == ()


def test_bold_marks_nothing_in_a_sheet_that_is_bold_throughout() -> None:
    """Names without values are rows like the others, and no row of words is a heading once more."""
    named = [["System", "Service", "Restored in"], ["Gate", "Opens the yard", "4 hours"], ["Lantern"], ["Mill", "Grinds", "1 day"], ["Pump"], ["Bell", "Rings", "unknown"], ["Weir", "Holds the river", "5 days"]]  # fmt: skip
    rows = [["Priority" if row[0] == "System" else None, *row] for row in named]
    bold = [f"{column}{row}" for row in range(1, 8) for column in "ABCD"]
    assert sheet(rows, bold).split("\n") == [
        "System: Gate; Service: Opens the yard; Restored in: 4 hours",
        "System: Lantern",
        "System: Mill; Service: Grinds; Restored in: 1 day",
        "System: Pump",
        "System: Bell; Service: Rings; Restored in: unknown",
        "System: Weir; Service: Holds the river; Restored in: 5 days",
    ]
