"""Word, Excel and the zip archives that both are."""

import datetime
import io
import zipfile

import pytest
from docx import Document as new_docx
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt, RGBColor
from openpyxl import Workbook
from openpyxl.comments import Comment
from openpyxl.styles import Font
from openpyxl.worksheet.datavalidation import DataValidation

from graph.errors import DocumentError
from graph.knowledge.document import Document
from graph.knowledge.loaders import archive, load
from tests.support.archives import zipped

OVERRIDES = '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'


def blocks(document: Document) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.start : block.end]) for block in document.blocks]


def saved(file: object) -> bytes:
    stream = io.BytesIO()
    file.save(stream)  # type: ignore[attr-defined]
    return stream.getvalue()


def reason(data: bytes, name: str) -> str:
    with pytest.raises(DocumentError) as caught:
        load(data, name)
    return caught.value.reason


def with_part(data: bytes, name: str, change: object) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        parts = {entry: source.read(entry) for entry in source.namelist()}
    parts[name] = change(parts.get(name, b""))  # type: ignore[operator]
    return zipped(parts)


def manual() -> bytes:
    file = new_docx()
    file.core_properties.title = "title in the metadata"
    file.add_heading("Cold storage", 0)
    file.add_heading("Rules", 1)
    paragraph = file.add_paragraph("Keep it cold. ")
    paragraph.add_run("vanished").font.hidden = True
    white = paragraph.add_run("white words")
    white.font.color.rgb = RGBColor(255, 255, 255)
    paragraph.add_run("tiny words").font.size = Pt(1)
    paragraph.add_run("Always.")
    file.add_paragraph("gloves", style="List Bullet")
    file.add_paragraph("goggles", style="List Bullet")
    file.add_paragraph("open", style="List Number")
    file.add_paragraph("close", style="List Number")
    table = file.add_table(rows=3, cols=3)
    for row, cells in enumerate((("Instrument", "Room", ""), ("SP8", "B-12", "x"), ("Zeiss", "", "y"))):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    table.cell(1, 1).merge(table.cell(2, 1))
    shade = f'<w:shd {nsdecls("w")} w:val="clear" w:fill="000080"/>'
    table.cell(0, 0)._tc.get_or_add_tcPr().append(parse_xml(shade))
    table.cell(0, 0).paragraphs[0].runs[0].font.color.rgb = RGBColor(255, 255, 255)
    file.add_heading("Contact", 2)
    last = file.add_paragraph("Ask ")
    target = file.part.relate_to("http://internal.example/x", RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    last._p.append(
        parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{target}"><w:r><w:t>them</w:t></w:r></w:hyperlink>')
    )
    last._p.append(parse_xml(f'<w:ins {nsdecls("w")} w:id="1" w:author="a"><w:r><w:t>.</w:t></w:r></w:ins>'))
    last._p.append(
        parse_xml(f'<w:del {nsdecls("w")} w:id="2" w:author="a"><w:r><w:delText>deleted</w:delText></w:r></w:del>')
    )
    file.add_comment(last.runs[0], text="a comment", author="a")
    return saved(file)


def test_word_is_read_in_order_as_it_shows() -> None:
    document = load(manual(), "manual.docx")
    assert document.title == "Cold storage"
    assert blocks(document) == [
        ("heading", "# Cold storage"),
        ("heading", "# Rules"),
        ("paragraph", "Keep it cold. Always."),
        ("list", "- gloves\n- goggles\n1. open\n2. close"),
        ("row", "Instrument: SP8; Room: B-12; x"),
        ("row", "Instrument: Zeiss; Room: B-12; y"),
        ("heading", "## Contact"),
        ("paragraph", "Ask them."),
    ]
    hidden = " | ".join(document.hidden)
    for words in ("vanished", "white words", "tiny words", "deleted", "a comment", "title in the metadata"):
        assert words in hidden, words
    assert document.blocks[-1].section == "Rules > Contact"


def test_word_with_an_external_template_is_read_without_asking_for_it() -> None:
    relation = (
        b'<Relationship Id="rIdX" TargetMode="External" Target="http://127.0.0.1:9/evil.dotm" '
        b'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"/></Relationships>'
    )
    data = with_part(manual(), "word/_rels/document.xml.rels", lambda part: part.replace(b"</Relationships>", relation))
    assert "Keep it cold." in load(data, "manual.docx").text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_that_multiply_are_refused(encoding: str) -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    xml = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]><d>&l9;</d>'
    for name, part in (("m.docx", "word/document.xml"), ("m.xlsx", "xl/workbook.xml")):
        data = manual() if name == "m.docx" else saved(Workbook())
        assert reason(with_part(data, part, lambda _: xml.encode(encoding)), name) == "bomb"


@pytest.mark.parametrize("name", ["b.docx", "b.xlsx"])
def test_a_zip_bomb_is_refused_before_it_is_unpacked(name: str) -> None:
    folder = "word" if name == "b.docx" else "xl"
    data = zipped({"[Content_Types].xml": OVERRIDES, f"{folder}/document.xml": b" " * 50_000_000})
    assert len(data) < 100_000 and reason(data, name) == "bomb"


def test_too_many_parts_and_too_much_in_them_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many = {f"word/{i}.bin": b"" for i in range(archive.MAX_ENTRIES)}
    assert reason(zipped({"[Content_Types].xml": OVERRIDES, "word/document.xml": "", **many}), "b.docx") == "bomb"
    monkeypatch.setattr(archive, "MAX_UNPACKED", 1000)
    assert reason(manual(), "b.docx") == "bomb"


def test_a_directory_that_lies_about_sizes_is_not_believed() -> None:
    data = bytearray(zipped({"[Content_Types].xml": OVERRIDES, "word/document.xml": b"<a>" + b" " * 10_000_000}))
    size = (10_000_003).to_bytes(4, "little")
    start = data.rindex(b"PK\x01\x02")
    place = data.index(size, start)
    data[place : place + 4] = (100).to_bytes(4, "little")
    assert reason(bytes(data), "b.docx") == "broken"


@pytest.mark.parametrize("name", ["m.docx", "m.xlsx"])
@pytest.mark.parametrize("part", [0.3, 0.6, 0.95])
def test_a_file_cut_short_is_broken(name: str, part: float) -> None:
    data = manual() if name == "m.docx" else saved(Workbook())
    assert reason(data[: int(len(data) * part)], name) == "broken"


def test_office_files_under_each_other_s_name_are_mislabelled() -> None:
    assert reason(manual(), "m.xlsx") == "mislabelled"
    assert reason(manual(), "m.txt") == "mislabelled"
    assert reason(zipped({"a.txt": "x"}), "m.docx") == "mislabelled"


def inventory() -> bytes:
    book = Workbook()
    sheet = book.active
    sheet.title = "Rates"
    sheet.append(["Rates of 2026"])
    sheet.append([])
    sheet.append(["Instrument", "Since", "Rate", None, "Share", "Note"])
    sheet.append(["SP8", datetime.date(2024, 3, 1), 1500, "x", 0.125, True])
    sheet.append(["Zeiss", datetime.datetime(2024, 3, 1, 9, 30), 900.5, None, 1, "hidden note"])
    sheet.append(["secret row", None, 1])
    sheet["C4"].number_format = "#,##0"
    sheet["E4"].number_format = "0.0%"
    sheet["A4"].comment = Comment("cell comment", "a")
    sheet.row_dimensions[6].hidden = True
    sheet.merge_cells("A7:A8")
    sheet["A7"], sheet["C7"], sheet["C8"] = "Leica", 1, 2
    sheet.column_dimensions["G"].hidden = True
    sheet["G4"] = "hidden column"
    hidden = book.create_sheet("Secret")
    hidden.append(["nobody sees this"])
    hidden.sheet_state = "veryHidden"
    far = book.create_sheet("Far")
    far["XFD1048576"] = "the last cell"
    return saved(book)


def test_excel_rows_read_as_sentences_with_their_numbers() -> None:
    document = load(inventory(), "rates.xlsx")
    found = [(b.kind, b.sheet, b.row, document.text[b.start : b.end]) for b in document.blocks]
    assert found == [
        ("heading", "Rates", None, "# Rates"),
        ("paragraph", "Rates", None, "Rates of 2026"),
        (
            "row",
            "Rates",
            4,
            "Instrument: SP8; Since: 2024-03-01; Rate: 1,500; x; Share: 12.5%; Note: TRUE; Note: cell comment",
        ),
        ("row", "Rates", 5, "Instrument: Zeiss; Since: 2024-03-01 09:30:00; Rate: 900.5; Share: 1; Note: hidden note"),
        ("row", "Rates", 7, "Instrument: Leica; Rate: 1"),
        ("row", "Rates", 8, "Instrument: Leica; Rate: 2"),
        ("heading", "Far", None, "# Far"),
        ("row", "Far", 1048576, "the last cell"),
    ]
    hidden = " | ".join(document.hidden)
    for words in ("nobody sees this", "secret row", "hidden column"):
        assert words in hidden, words
    assert document.title == "rates" and document.blocks[2].section == "Rates"


def test_excel_shows_the_value_that_a_formula_last_had() -> None:
    book = Workbook()
    book.active.append(["a", "b"])
    book.active.append([2, "=A2*21"])
    data = with_part(
        saved(book),
        "xl/worksheets/sheet1.xml",
        lambda part: part.replace(b"<v></v>", b"<v>42</v>").replace(b"<v />", b"<v>42</v>"),
    )
    assert load(data, "f.xlsx").text.endswith("a: 2; b: 42")


def test_a_workbook_without_values_is_empty() -> None:
    assert reason(saved(Workbook()), "e.xlsx") == "empty"


def test_bullets_typed_by_hand_are_a_list() -> None:
    file = new_docx()
    file.add_paragraph("You need:")
    for text in ("• gloves", "\uf0b7goggles", "☐ a coat"):
        file.add_paragraph(text)
    assert load(saved(file), "a.docx").text == "You need:\n\n- gloves\n- goggles\n- [ ] a coat"


def sheet_of(*rows: list[object], bold: tuple[int, ...] = ()) -> Workbook:
    book = Workbook()
    book.active.title = "One"
    for number, row in enumerate(rows, 1):
        book.active.append(row)
        for cell in book.active[number] if number in bold else ():
            cell.font = Font(bold=True)
    return book


def test_a_sheet_that_is_a_text_is_read_as_one() -> None:
    long = "The purpose of this sheet is to explain the others in plain words."
    book = sheet_of(["Guide"], [long], [None], ["Contact"], [long], bold=(1, 4))
    assert load(saved(book), "a.xlsx").text == f"# One\n\n## Guide\n\n{long}\n\n## Contact\n\n{long}"


def test_the_tables_of_a_sheet_have_each_their_headings() -> None:
    book = sheet_of(
        ["Rates"], [None], ["Tool", "Rate"], ["Saw", 1], ["Drills", None], ["Small", 2], [None],
        ["Person", "Room"], ["Ann", "B"], bold=(3, 5, 8),
    )  # fmt: skip
    assert load(saved(book), "a.xlsx").text == (
        "# One\n\nRates\n\nTool: Saw; Rate: 1\n\n## Drills\n\nTool: Small; Rate: 2\n\nPerson: Ann; Room: B"
    )


def test_a_sheet_of_values_to_pick_from_is_left_out() -> None:
    book = sheet_of(["Tool", "State"], ["Saw", "broken"])
    lists = book.create_sheet("Lists")
    for value in ("State", "broken", "whole"):
        lists.append([value])
    rule = DataValidation(type="list", formula1="Lists!$A$2:$A$3")
    book.active.add_data_validation(rule)
    rule.add("B2:B9")
    assert load(saved(book), "a.xlsx").text == "# One\n\nTool: Saw; State: broken"


@pytest.mark.parametrize("marked", [True, False], ids=["repeated", "bold"])
def test_two_rows_of_headings_over_words_in_word(marked: bool) -> None:
    file = new_docx()
    rows = [
        ["", "Opened by", "Opened by"],
        ["Room", "Weekdays", "Sundays"],
        ["Hall", "porter", "nobody"],
        ["Attic", "clerk", "porter"],
    ]
    made = file.add_table(len(rows), 3)
    for row, texts in zip(made.rows, rows, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.paragraphs[0].add_run(text).bold = not marked and row._index < 2
        if marked and row._index < 2:
            row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    data = io.BytesIO()
    file.save(data)
    text = load(data.getvalue(), "rooms.docx").text
    assert "Hall; Opened by Weekdays: porter; Opened by Sundays: nobody" in text.replace("Room: ", "")
