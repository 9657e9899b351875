"""What Word counts, repeats on each page, or shows by a sign: numbers, headers, boxes, symbols; and strict files."""

import io
import zipfile
from typing import Any

import pytest
from docx import Document as new_docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from graph.knowledge.document import Document
from graph.knowledge.loaders import load
from graph.knowledge.loaders.docx_numbering import Numbering, formatted
from graph.knowledge.loaders.symbol_fonts import sign

NS = nsdecls("w")


def read(file: Any) -> Document:
    stream = io.BytesIO()
    file.save(stream)
    return load(stream.getvalue(), "a.docx")


def level(depth: int, form: str, text: str, *more: str, start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{"".join(more)}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(*definitions: str, nums: str) -> Numbering:
    made = "".join(f'<w:abstractNum w:abstractNumId="{n}">{one}</w:abstractNum>' for n, one in enumerate(definitions))
    return Numbering(parse_xml(f"<w:numbering {NS}>{made}{nums}</w:numbering>"))


def num(number: int, definition: int, more: str = "") -> str:
    return f'<w:num w:numId="{number}"><w:abstractNumId w:val="{definition}"/>{more}</w:num>'


LEGAL = level(0, "decimal", "%1.") + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)")


def test_numbers_of_several_levels_are_those_that_word_prints() -> None:
    marks = numbering(LEGAL, nums=num(1, 0))
    asked = [0, 1, 1, 2, 2, 1, 2, 0, 2, 1]
    printed = ["1.", "1.1", "1.2", "(a)", "(b)", "1.3", "(a)", "2.", "(a)", "2.2"]
    assert [marks.mark("1", depth) for depth in asked] == printed


def test_two_lists_of_one_definition_count_on_unless_one_says_where_it_starts() -> None:
    again = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    marks = numbering(LEGAL, nums=num(1, 0) + num(2, 0) + num(3, 0, again))
    assert [marks.mark(n, 0) for n in ("1", "1", "2", "3", "3")] == ["1.", "2.", "3.", "1.", "2."]


def test_a_level_that_never_restarts_and_one_of_legal_numbers() -> None:
    one = level(0, "upperRoman", "Article %1") + level(
        1, "decimal", "Section %1.%2", '<w:lvlRestart w:val="0"/>', "<w:isLgl/>"
    )
    marks = numbering(one, nums=num(1, 0))
    assert [marks.mark("1", depth) for depth in (0, 1, 1, 0, 1)] == [
        "Article I", "Section 1.1", "Section 1.2", "Article II", "Section 2.3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "form", "expected"),
    [(28, "lowerLetter", "bb"), (14, "lowerRoman", "xiv"), (3, "decimalZero", "03"), (22, "ordinal", "22nd"),
     (11, "ordinal", "11th"), (4, "none", ""), (2, "chicago", "2")],
)  # fmt: skip
def test_forms_of_numbers(count: int, form: str, expected: str) -> None:
    assert formatted(count, form) == expected


def test_a_file_that_names_levels_and_lists_that_are_not_there_is_read() -> None:
    marks = numbering(level(3, "decimal", "%1.%9.%4", start=5), nums=num(1, 0) + num(2, 7))
    assert marks.mark("1", 3) == "1.1.5"
    assert marks.mark("1", 0) == marks.mark("2", 0) == marks.mark("99", 0) == "-"


def test_clauses_and_numbered_headings_carry_their_numbers() -> None:
    file = new_docx()
    root = file.part.numbering_part.element
    heads = level(0, "decimal", "%1", '<w:pStyle w:val="Heading1"/>') + level(1, "decimal", "%1.%2")
    root.insert(0, parse_xml(f'<w:abstractNum {NS} w:abstractNumId="900">{heads}</w:abstractNum>'))
    root.append(parse_xml(f'<w:num {NS} w:numId="900"><w:abstractNumId w:val="900"/></w:num>'))
    style = file.styles["Heading 1"].element.get_or_add_pPr()
    style.append(parse_xml(f'<w:numPr {NS}><w:numId w:val="900"/></w:numPr>'))

    def clause(text: str) -> None:
        properties = file.add_paragraph(text)._p.get_or_add_pPr()
        properties.append(parse_xml(f'<w:numPr {NS}><w:ilvl w:val="1"/><w:numId w:val="900"/></w:numPr>'))

    file.add_heading("Scope", 1)
    clause("These rules bind all keepers.")
    file.add_heading("Fees", 1)
    clause("The fee is due in May.")
    clause("Late fees bear interest.")
    document = read(file)
    assert document.text == (
        "# 1 Scope\n\n  1.1 These rules bind all keepers.\n\n# 2 Fees\n\n"
        "  2.1 The fee is due in May.\n  2.2 Late fees bear interest."
    )
    assert document.blocks[-1].section == "2 Fees"


def test_bullets_of_one_level_are_inside_each_other_as_far_as_they_stand_in() -> None:
    file = new_docx()
    for left, text in ((720, "Send the form:"), (1440, "by mail"), (1460, "or by hand"), (720, "Wait.")):
        paragraph = file.add_paragraph(text, style="List Bullet")
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<w:ind {NS} w:left="{left}" w:hanging="360"/>'))
    assert read(file).text == "- Send the form:\n  - by mail\n  - or by hand\n- Wait."
    file.add_paragraph("With no indent of its own", style="List Bullet")
    assert "- by mail" in read(file).text.split("\n")


def test_bullets_stand_in_as_far_as_their_list_or_style_says() -> None:
    file = new_docx()
    for style, text in (
        ("List Bullet", "The package has:"), ("List Bullet 2", "the data"), ("List Bullet 3", "of all arms"),
        ("List Bullet 2", "a report"), ("List Bullet", "Send it."),
    ):  # fmt: skip
        file.add_paragraph(text, style=style)
    assert read(file).text == "- The package has:\n  - the data\n    - of all arms\n  - a report\n- Send it."
    for paragraph in file.paragraphs:  # each says the same itself
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<w:ind {NS} w:left="360"/>'))
    assert read(file).text == "- The package has:\n- the data\n- of all arms\n- a report\n- Send it."


def test_headings_that_run_over_columns_and_down_rows_are_of_each_column() -> None:
    file = new_docx()
    table = file.add_table(rows=6, cols=6)
    table.cell(0, 0).merge(table.cell(3, 0)).text = "Group"
    table.cell(0, 1).merge(table.cell(3, 1)).text = "Dose"
    table.cell(0, 2).merge(table.cell(0, 5)).text = "Animals"
    table.cell(1, 2).merge(table.cell(1, 5)).text = "Main"
    for at, text in ((2, "Treated"), (4, "Recovery")):
        table.cell(2, at).merge(table.cell(2, at + 1)).text = text
    for at in range(2, 6):
        table.cell(3, at).text = "FM"[at % 2]
    for at, row in ((4, "low,2 mg,10,9,5,4"), (5, "high,200 mg,8,7,3,2")):
        for cell, text in zip(table.rows[at].cells, row.split(","), strict=True):
            cell.text = text
    assert read(file).text.split("\n")[1] == (
        "Group: high; Dose: 200 mg; Animals Main Treated F: 8; Animals Main Treated M: 7; "
        "Animals Main Recovery F: 3; Animals Main Recovery M: 2"
    )


def test_a_group_of_rows_at_the_top_is_no_heading() -> None:
    file = new_docx()
    table = file.add_table(rows=4, cols=3)
    table.cell(0, 0).merge(table.cell(1, 0)).text = "North"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "12"
    for at, row in ((1, (None, "7", "5")), (2, ("South", "3", "1")), (3, ("West", "2", "2"))):
        for cell, text in zip(table.rows[at].cells, row, strict=True):
            cell.text = cell.text if text is None else text
    assert read(file).text.split("\n")[:2] == ["North; 12", "North; 7; 5"]


def test_a_row_under_headings_over_several_columns_names_these() -> None:
    file = new_docx()
    table = file.add_table(rows=4, cols=3)
    table.cell(0, 0).text, table.cell(1, 0).text = "Group", "CODE"
    table.cell(0, 1).merge(table.cell(0, 2)).text = "Arm"
    rows = (("CODE", "NR", "NAME"), ("low", "1", "control"), ("high", "2", "treated"))
    for at, row in enumerate(rows, 1):
        for cell, text in zip(table.rows[at].cells, row, strict=True):
            cell.text = text
    table.rows[0]._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {NS}/>"))
    assert read(file).text.split("\n")[1] == "Group CODE: high; Arm NR: 2; Arm NAME: treated"
    table.cell(0, 1).merge(table.cell(0, 2)).text = ""
    table.cell(1, 1).text, table.cell(1, 2).text = "3", "old"  # a row of values is no heading
    assert "CODE" in read(file).text.split("\n")[0]


def test_a_form_that_nobody_filled_in_has_no_headings() -> None:
    file = new_docx()
    table = file.add_table(rows=3, cols=2)
    for row, text in zip(table.rows, ("Agency", "System name", "Approved by"), strict=True):
        row.cells[0].text = text
    assert read(file).text == "Agency\nSystem name\nApproved by"


def test_headers_and_footers_are_read_once_without_page_numbers_and_the_title_stays() -> None:
    file = new_docx()
    section = file.sections[0]
    section.header.paragraphs[0].text = "SP-114\tversion 3.2"
    section.different_first_page_header_footer = True
    section.first_page_header.paragraphs[0].text = "SP-114\tversion 3.2"
    foot = section.footer.paragraphs[0]
    for word, field in (("Page ", "PAGE"), (" of ", "NUMPAGES")):
        foot.add_run(word)
        foot._p.append(parse_xml(f'<w:fldSimple {NS} w:instr=" {field} "><w:r><w:t>7</w:t></w:r></w:fldSimple>'))
    file.add_heading("Cleaning the mill", 1)
    file.add_paragraph("The mill is cleaned after each soil.")
    document = read(file)
    assert document.text == "SP-114 version 3.2\n\n# Cleaning the mill\n\nThe mill is cleaned after each soil."
    assert document.title == "Cleaning the mill"


def test_ticked_and_unticked_boxes_are_told_apart() -> None:
    file = new_docx()
    file.add_paragraph("☒ The valve is shut.")
    file.add_paragraph("☐ The lamp is lit.")
    old = file.add_paragraph()
    for ticked in (1, 0):
        old._p.append(
            parse_xml(
                f'<w:r {NS}><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="{ticked}"/>'
                "</w:checkBox></w:ffData></w:fldChar></w:r>"
            )
        )
        old._p.append(parse_xml(f'<w:r {NS}><w:fldChar w:fldCharType="end"/></w:r>'))
        old.add_run(" yes " if ticked else " no ")
    text = read(file).text
    assert "- [x] The valve is shut.\n- [ ] The lamp is lit." in text
    assert text.endswith("- [x] yes ☐ no")


def test_signs_of_symbol_fonts_and_raised_numbers_keep_their_meaning() -> None:
    file = new_docx()
    paragraph = file.add_paragraph("The slit is 5 ")
    paragraph._p.append(parse_xml(f'<w:r {NS}><w:sym w:font="Symbol" w:char="F06D"/></w:r>'))
    paragraph.add_run("m at 60 ")
    run = paragraph.add_run("\uf0b0")
    run.font.name = "Symbol"
    paragraph.add_run("C and 10")
    paragraph.add_run("-6").font.superscript = True
    paragraph.add_run(" mbar.")
    assert read(file).text == "The slit is 5 µm at 60 °C and 10^-6 mbar."


def test_signs_that_no_table_knows_are_nothing() -> None:
    assert sign(0xF0FE, "Wingdings") == "☑"
    assert sign(0xF001, "Symbol") == ""
    assert sign(ord("A"), "Arial") == "A"


def test_rows_of_a_table_in_a_cell_stay_apart() -> None:
    file = new_docx()
    outer = file.add_table(rows=2, cols=2)
    for at, text in enumerate(("Device", "Limits")):
        outer.cell(0, at).text = text
    outer.cell(1, 0).text = "Kiln"
    inner = outer.cell(1, 1).add_table(rows=3, cols=2)
    for row, cells in enumerate((("Limit", "Value"), ("heat", "1,180"), ("ramp", "90"))):
        for column, text in enumerate(cells):
            inner.cell(row, column).text = text
    assert "Device: Kiln; Limits: (Limit: heat, Value: 1,180) (Limit: ramp, Value: 90)" in read(file).text


def test_comments_and_pictures_are_told_of() -> None:
    file = new_docx()
    paragraph = file.add_paragraph("The kiln is hot.")
    file.add_comment(paragraph.runs[0], text="is it?", author="a")
    assert read(file).notes == ("1 comment",)


def test_a_strict_file_is_read() -> None:
    file = new_docx()
    file.add_heading("Rules", 1)
    file.add_paragraph("The kiln is fired twice a month.")
    stream = io.BytesIO()
    file.save(stream)
    strict = io.BytesIO()
    with zipfile.ZipFile(stream) as source, zipfile.ZipFile(strict, "w") as out:
        for name in source.namelist():
            part = source.read(name)
            for kind in (b"officeDocument", b"wordprocessingml", b"drawingml"):
                names = b"http://schemas.openxmlformats.org/" + kind + b"/2006/"
                part = part.replace(names, b"http://purl.oclc.org/ooxml/" + kind + b"/")
            out.writestr(name, part)
    assert load(strict.getvalue(), "a.docx").text == "# Rules\n\nThe kiln is fired twice a month."
