"""Manuals and policies as offices write them: numbered to four places, with footers, signs for bullets, and tables
without borders."""

import io
from collections.abc import Iterable, Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from graph.knowledge.document import Document
from graph.knowledge.loaders import load

REGULAR, BOLD = "Helvetica", "Helvetica-Bold"
TEXT = ["The committee of the mill looks at these figures in every month of the year,", "and the warden signs them."]
Word = tuple[float, float, str, str]  # x, y, font, text


def document(*pages: Iterable[Word], sizes: dict[str, int] | None = None) -> Document:
    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=(595, 842))
    for words in pages:
        for x, y, font, text in words:
            canvas.setFont(font, (sizes or {}).get(text, 11))
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return load(stream.getvalue(), "a.pdf")


def column(lines: Iterable[str | Sequence[str]], x: float = 72, top: float = 700, step: float = 14) -> list[Word]:
    """Lines one below another; a pair is a font and its line."""
    pairs = [(REGULAR, line) if isinstance(line, str) else line for line in lines]
    return [(x, top - step * at, font, line) for at, (font, line) in enumerate(pairs) if line]


def by_height(words: Iterable[Word]) -> list[Word]:
    return sorted(words, key=lambda word: (-word[1], word[0]))


def running(page: int) -> list[Word]:
    """A page of text that no other page has."""
    grain = ("barley", "oats", "wheat", "rye")[page]
    return column([line for _ in range(8) for line in [f"Of {grain} {TEXT[0]}", f"for {grain} {TEXT[1]}", ""]])


def headings(read: Document) -> list[str]:
    return [block.section for block in read.blocks if block.kind == "heading"]


def test_items_with_numbers_of_four_parts_are_one_list() -> None:
    read = document(
        column(
            [
                "Each month the committee looks at:",
                "",
                "7.2.2.1. Stocks",
                "7.2.2.2. Grain prices against those of the market square and the two mills down",
                "the river",
                "7.2.2.3. Flour sold",
                "7.2.2.4. Other reports",
                "",
                *TEXT,
            ]
        )
    )
    assert [(block.kind, read.text[block.start : block.end]) for block in read.blocks] == [
        ("paragraph", "Each month the committee looks at:"),
        (
            "list",
            "\n".join(
                [
                    "7.2.2.1. Stocks",
                    "7.2.2.2. Grain prices against those of the market square and the two mills down the river",
                    "7.2.2.3. Flour sold",
                    "7.2.2.4. Other reports",
                ]
            ),
        ),
        ("paragraph", " ".join(TEXT)),
    ]


def test_numbered_headings_with_text_below_them_stay_headings() -> None:
    lines = ["7.1. Grain", "", *TEXT, "", "7.2. Flour", "", *TEXT, "", "7.3. Bran", "", *TEXT]
    assert headings(document(column(lines))) == ["7.1. Grain", "7.2. Flour", "7.3. Bran"]


def test_a_heading_stands_beside_the_one_with_the_number_before_it() -> None:
    """The first page has nothing but headings and a table, so that they look larger than its text."""
    first = [(72, 700, BOLD, "2. Updates"), *column(["Number", "1", "2"], 72, 670), *column(["Day", "3 May", "4 May"], 200, 670)]  # fmt: skip
    text = [line for _ in range(4) for line in [*TEXT, ""]]
    second = [(72, 740, BOLD, "3. Terms"), *column(text, top=710)]
    sizes = dict.fromkeys(("2. Updates", "3. Terms", *TEXT), 14)
    assert headings(document(first, second, sizes=sizes)) == ["2. Updates", "3. Terms"]


@pytest.mark.parametrize("numeral", ["II.", "III.", "IV.", "VII."])
def test_a_bold_heading_set_out_behind_its_roman_number(numeral: str) -> None:
    page = [*column(TEXT), (72, 640, BOLD, numeral), (120, 640, BOLD, "Conflicts of Interest"), *column(TEXT, top=610)]
    assert headings(document(page)) == [f"{numeral} Conflicts of Interest"]


def test_a_bold_title_with_a_stop_is_a_heading_and_a_bold_sentence_is_none() -> None:
    lines = [(BOLD, "Hours of Operation."), *TEXT, "", (BOLD, "No smoking in the mill."), "", (BOLD, "Fees."), *TEXT]
    assert headings(document(column(lines))) == ["Hours of Operation", "Fees"]


def test_labels_and_lines_in_capitals_head_the_text_below_them_on_the_page_where_they_stand() -> None:
    lines = ["Physical Address Requirements:", "", *TEXT, "", "HOURS OF THE GATE", "", *TEXT, "", "Date:", "", "3 May", "", "Please see this:", "", *TEXT]  # fmt: skip
    read = document(column(lines), column(["Fees and Rents:"], top=740), column(TEXT))
    assert headings(read) == ["Physical Address Requirements:", "HOURS OF THE GATE", "HOURS OF THE GATE > Fees and Rents:"]  # fmt: skip
    assert [block.page for block in read.blocks if block.kind == "heading"] == [1, 1, 2]


def test_a_numbered_bold_heading_of_two_lines() -> None:
    lines = [*TEXT, "", (BOLD, "8.1.4 Trading, Use of Derivatives and Synthetic Instruments of the Mill and"), (BOLD, "Hedging"), "", *TEXT]  # fmt: skip
    assert headings(document(column(lines))) == [
        "8.1.4 Trading, Use of Derivatives and Synthetic Instruments of the Mill and Hedging"
    ]


def test_nothing_stands_below_a_table_of_contents() -> None:
    entries = [f"{at}. Part {at} {'.' * 60} {at}" for at in range(1, 7)]
    first = [(72, 740, BOLD, "Policy"), (72, 710, BOLD, "Table of Contents"), *column(entries, top=680)]
    second = [(72, 740, BOLD, "Grain"), *column(TEXT, top=710)]
    sizes = {"Policy": 20, "Table of Contents": 16}
    assert headings(document(first, second, sizes=sizes)) == ["Policy", "Policy > Table of Contents", "Policy > Grain"]


@pytest.mark.parametrize("sign", ["$", "<", "~"])
def test_a_sign_that_stands_for_a_bullet(sign: str) -> None:
    items = ["not advance their own interests, or those of others with", "whom they do business;", "tell the Board of what they know."]  # fmt: skip
    page = by_height([*column([sign, "", sign], 108), *column(items, 140)])
    assert document([*column(["Directors of the mill:"], top=740), *page]).text.split("\n\n")[1].split("\n") == [
        f"- {items[0]} {items[1]}",
        f"- {items[2]}",
    ]


def test_a_sign_of_money_stays_before_its_amounts() -> None:
    names, values = ["Grain", "Flour", "Bran"], ["1,500", "2,250", "75"]
    page = [*column(names), *column(["$"] * 3, 200), *column(values, 230)]
    assert "•" not in document(page).text and "- 1,500" not in document(page).text


def test_a_footer_with_the_page_of_its_part_is_said_once() -> None:
    pages = [[*running(at), (72, 40, REGULAR, "Approved 7/23/2013"), (300, 40, REGULAR, f"23-{at}")] for at in (1, 2, 3)]  # fmt: skip
    read = document(*pages)
    assert read.text.count("Approved 7/23/2013") == 1 and "23-" not in read.text


def test_a_running_head_of_names_and_values_is_said_once_a_line_each() -> None:
    head = [*column(["OPERATIONS MANUAL", "SECTION: Grain"], 200, 780), *column(["Date: 08-2013", "Replaces:", "05-2008"], 440, 781, 11)]  # fmt: skip
    read = document(*([*head, *running(at)] for at in range(3)))
    assert dict(read.fields) == {"Date": "08-2013", "Replaces": "05-2008"}
    assert [read.text.count(words) for words in ("SECTION: Grain", "08-2013", "05-2008")] == [1, 1, 1]


def test_a_running_head_is_known_on_a_page_where_it_stands_lower() -> None:
    def head(top: float) -> list[Word]:
        return column(["Protocol of the mill, second part", "Approved, Date: 20 March 2018"], 72, top, 12)

    read = document(*([*head(790), *running(at)] for at in range(3)), [*head(760), *running(3)])
    assert [read.text.count(words) for words in ("Protocol of the mill", "Approved, Date")] == [0, 1]


def test_headings_of_several_lines_over_values_without_borders() -> None:
    heads = [["Change in", "Interest Rates", "(in points)"], ["", "Permissible", "Change"], ["", "Minimum", "Ratio"]]
    values = [["+300", "+200", "-100"], ["-40%", "-30%", "-20%"], ["6%", "8%", "10%"]]
    page = [word for x, head, own in zip((72, 190, 300), heads, values, strict=True) for word in column([*head, *own], x, step=13)]  # fmt: skip
    assert document([*column(TEXT, top=760), *by_height(page)]).text.split("\n\n")[1].split("\n") == [
        "Change in Interest Rates (in points): +300; Permissible Change: -40%; Minimum Ratio: 6%",
        "Change in Interest Rates (in points): +200; Permissible Change: -30%; Minimum Ratio: 8%",
        "Change in Interest Rates (in points): -100; Permissible Change: -20%; Minimum Ratio: 10%",
    ]


def test_headings_that_the_file_has_one_after_another_serve_the_groups_below() -> None:
    heads = [*column([(BOLD, "Securities")], 50, 685), *column([(BOLD, line) for line in ("Maximum", "% of", "Portfolio")], 420), *column([(BOLD, line) for line in ("Maximum", "% of", "Capital")], 510)]  # fmt: skip

    def group(name: str, rows: list[tuple[str, str, str]], top: float) -> list[Word]:
        words: list[Word] = [(50, top, BOLD, name)]
        for at, row in enumerate(rows, 1):
            words += [(x, top - 15 * at, REGULAR, cell) for x, cell in zip((50, 430, 520), row, strict=True)]
        return words

    bills = [("Treasury bills", "100%", "NA"), ("Notes", "50%", "25%")]
    funds = [("Funds sold", "NA", "200%"), ("Paper", "10%", "50%")]
    first = group("Guaranteed by the United States Government and its agencies, whatever their rating", bills, 655)  # fmt: skip
    second = group("Money market", funds, 590)
    rows = [block for block in document([*heads, *first, *second]).blocks if block.kind == "row"]
    text = document([*heads, *first, *second]).text
    assert [text[block.start : block.end] for block in rows] == [
        f"Securities: {name}; Maximum % of Portfolio: {one}; Maximum % of Capital: {other}"
        for name, one, other in (*bills, *funds)
    ]


def test_names_and_values_of_which_the_first_are_words_have_no_headings() -> None:
    names = ["Position", "Orientation", "Rotation", "Width", "Height"]
    values = ["Isocenter", "Transversal", "0.00 deg", "263 mm", "350 mm"]
    page = [word for pair in zip(column(names), column(values, 200), strict=True) for word in pair]
    assert document(page).text == "\n".join(f"{name}: {value}" for name, value in zip(names, values, strict=True))


def test_rows_a_little_below_their_headings_are_rows_though_a_number_begins_with_a_letter() -> None:
    heads = [("Employee", 36), ("Post", 158), ("Home", 252), ("Work", 360), ("Cell", 468)]
    people = [("Mill, Jo", "Warden", "x 305", "300-0741"), ("Weir, Ann", "Treasurer", "x 209", "300-5296"), ("Pond, Max", "Baker", "x 228", "877-7287")]  # fmt: skip
    page = [(float(x), 620.0, BOLD, name) for name, x in heads]
    for at, row in enumerate(people):
        page += [(float(x), 602.0 - 15 * at, REGULAR, cell) for x, cell in zip((36, 158, 365, 468), row, strict=True)]
    assert document(page).text.split("\n") == [
        f"Employee: {name}; Post: {post}; Work: {work}; Cell: {cell}" for name, post, work, cell in people
    ]
    wrapped = [word for word in page if word[1] != 587.0]
    second = [(x, y - 12.3 if y < 600 else y, font, text) for x, y, font, text in wrapped]
    second += [(158.0, 589.7, REGULAR, "of the yard"), *((x, 575.65, font, text) for x, y, font, text in page if y == 587.0)]  # fmt: skip
    text = document(by_height(second)).text.split("\n")
    assert text[0] == "Employee: Mill, Jo; Post: Warden of the yard; Work: x 305; Cell: 300-0741"
    assert text[1].startswith("Employee: Weir, Ann; Post: Treasurer;")


def test_days_on_two_lines_are_headings_of_the_amounts_below_them() -> None:
    """As statements of accounts have them, the title of the table above, the unit beside the first line."""
    page = [
        (72, 654, BOLD, "Sources of Cash"), (72, 642, REGULAR, "($ in billions)"), (350, 642, BOLD, "March 31,"), (375, 631, BOLD, "2012"),
        (427, 642, BOLD, "December 31,"), (470, 631, BOLD, "2011"),
        (72, 607, REGULAR, "Parent company"), (376, 607, REGULAR, "129"), (476, 607, REGULAR, "125"),
        (72, 595, REGULAR, "Subsidiaries"), (376, 595, REGULAR, "250"), (476, 595, REGULAR, "222"),
    ]  # fmt: skip
    read = document(page)
    assert headings(read) == ["Sources of Cash"]
    assert read.text.split("\n\n")[1].split("\n") == [
        "($ in billions): Parent company; March 31, 2012: 129; December 31, 2011: 125",
        "($ in billions): Subsidiaries; March 31, 2012: 250; December 31, 2011: 222",
    ]
