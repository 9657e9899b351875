"""Slides, OpenDocument, books, mail, data files, marked-up texts, notebooks, archives: what is read of each; and files
made to do harm, which end as a refusal or as a document within the limits."""

import base64
import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage

import pytest

from graph.errors import DocumentError
from graph.knowledge.document import Document
from graph.knowledge.loaders import ADVICE, EXTENSIONS, PICTURE, load
from graph.knowledge.sandbox import Limits, Parser
from tests.support.archives import zipped

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{full}:1.0"'
    for name, full in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("style", "style"),
        ("draw", "drawing"),
    )
)


# A workbook of LibreOffice in the format of Excel 97: sheet "a", headings Room, Rate and Booked, two rows.
OLD_WORKBOOK = gzip.decompress(base64.b64decode(
    "H4sIAAAAAAACA+1XXUxcRRQ+c/eHu0DhQsFqq3jFdvsDaGsfxGiFQqttYoVQjI0h0Qt7ocgu22yXVKLGLbUPJjZR++BLk6YJPhiNPzHR+BfhzQ"
    "eNjUmT6hP1rdGHrdGYJoXrd86dhe1mibvYNP5wbs6cmXNn5pyZOefMmfPf1c2d+3D9JSqABylAC16Ewnk8BTRzDYvI0LwFz/NybG8V/lUwrymf"
    "YRDnFwLymVfoc41ougr/TeijJL402bSXxkFTNEnlwC2wmPz5ShmzUGK/UmFV/srlc/zmOB4AFvo/x3r2/0pgFbAauAZYA6z1rwCqA9YD1wIbgI"
    "1iE0TrgLcCbwOuB24A3g68Q8u/U1PGZtTv1u1Nq/HmpkLExCmGQ/T5mm/4yOXsL8EiPgjOil38BBygI2wb3U58yL5Z0CU6OIp1mIGR7kJN0Rlw"
    "a+h94X4h5S6xPkAn2e3aog8ZnaL7KSmbpawhHv+JjPlRODtgl1+z97z0mnaCkNqN+DdKDsUL/9KN+9sUrKZp9q9H3XE35cSbgnX0FvvWJGCgLZ"
    "EYaIvF5sSZpul3z85z3Bmb+Tyn8H8rjW+Uyaf/HX8ae1dsn1v8/tlC/tZl+K3L8Lctw48U5RPMQfQJLvFPG2hkyGNqZQJC6zJhofWZoNC1mQqh"
    "DZmQ94wY+klI+CzoO4XzKuZT+GaVCSTqP6XoZ3qKI3m2T8SEsxyxWWwus8/HnVSVZV/7CveCSccVbgZzRnWi7KSmK5Z/N5iwYxOx3/wD18M1ul"
    "fuk5A/aV8ymWDipF1Ema5kcsyNob3PicfRPpieiI0mPVw2Jh0O+pfNkNkIXDqXRk0NvpH8yGVdF7mqoXkMK2Jfr5NVWJju2ttXvj8w2NvxtPAz"
    "S28Y2mT4u3Mcf2aD22REi5RT0reBNtJdRNHuaHP/aMI9aj/uHrP7kglnvLXPHZmIO6nm6I77orsbYRLRv+zX64y4drT3hAh4WcoolNkpcLljc1"
    "59C+on2i5OtV3MdmzNq59DOItgiUq+KWpVrSo3JkcVPYG5TXpR9pDo03CtUG7zqP7QUtvAN1m51EYaoF6pqtXbXCMksFiahpWr+4FN1QpPFeEZ"
    "Bbx5SSP8xIF0S6GlFluGHJzfUtKTZX6JAK+k5/NNbAH151ln7mNIn6DuY0if1Dru84b0+YV6ecbsPt8MsqY2ZB6CubPb/fHZLcKPZK0iqZJBlT"
    "KOx7AZP2zU08dh/74heggnQZLU1Opd0uslGoEXjJj5E6lcelZJ172pF7xApZ/DWabhu7v/6xHOmQ6MDqWSR5PDaXvvc0Nu3H7g/rZ+Z9CNx10x"
    "+K7R4eH2v5M7Kt/ZVwwLHs9hFJuX5k6e/fVqz2HrnddNatn80Q+84S9oT+X/7Tq/7NSb8pjOMw/pXDOm880jOke9PE/UpOvb9bgclFIvR3/mGB"
    "e+vXDmng3W6Tehf+vV9/ZwLCvgDeg8NxclrTxdl+P/k+BGvv9knQU2XGwMu0om4tefhPQUjdGg6DFWtv71EsL8u9Ir4111rCJnp92Qm4CN9UCH"
    "Z1ckP5D3BitlDNvw/kU/6UFO6K74/DgMlvv+s/VbTTJTOkgTWH8CuSmf/X5YwbCcCXPSyFmT4CwPW7T8UBn7jxuV3l2UvwcShkQHVyywPH3aV7"
    "D+jcD06vtf4E/pzbRnABYAAA=="
))  # fmt: skip
RTF = r"""{\rtf1\ansi\ansicpg1252\deff0 {\fonttbl{\f0 Arial;}}{\header Secret}
The f\'e4hre leaves at ten.\par
\trowd\cellx1000\cellx2000 Kind\cell Days\cell\row
\trowd\cellx1000\cellx2000 Book\cell 10\cell\row
\trowd\cellx1000\cellx2000 Film\cell 3\cell\row
\pard End of it.{\footnote A note.}\par}"""


def paragraphs(document: Document) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks]


def slide(*shapes: str, more: str = "") -> str:
    return f"<p:sld {A} {P} {more}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def shape(kind: str, *texts: str) -> str:
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    body = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
    return f"<p:sp><p:nvSpPr>{place}</p:nvSpPr><p:txBody>{body}</p:txBody></p:sp>"


def slides(*made: str, notes: str = "") -> bytes:
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    ids = "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in range(len(made)))
    targets = "".join(f'<Relationship Id="r{n}" Target="slides/s{n}.xml"/>' for n in range(len(made)))
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": f'<Relationships xmlns="{relations}"/>',
        "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{relations}">{targets}</Relationships>',
        **{f"ppt/slides/s{n}.xml": one for n, one in enumerate(made)},
    }
    if notes:
        one = '<Relationship Id="n" Target="../notesSlides/n0.xml"/>'
        parts["ppt/slides/_rels/s0.xml.rels"] = f'<Relationships xmlns="{relations}">{one}</Relationships>'
        parts["ppt/notesSlides/n0.xml"] = slide(shape("body", notes))
    return zipped(parts)


def test_slides_are_pages_with_titles_lists_tables_and_notes() -> None:
    cells = "".join(
        f"<a:tr>{''.join(f'<a:tc><a:txBody><a:p><a:r><a:t>{c}</a:t></a:r></a:p></a:txBody></a:tc>' for c in row)}</a:tr>"
        for row in (("Site", "Visits"), ("Mill", "12"))
    )
    frame = f'<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>{cells}</a:tbl></a:graphicData></a:graphic></p:graphicFrame>'
    document = load(
        slides(
            slide(shape("body", "Oil it", "Clean it"), shape("ctrTitle", "The mill"), shape("sldNum", "1")),
            slide(shape("title", "Secret"), more='show="0"'),
            slide(shape("title", "Figures"), frame, shape("", "All of May."), "<p:pic/>"),
            notes="Mention the keeper.",
        ),
        "talk.pptx",
    )
    assert paragraphs(document) == [
        "# The mill", "- Oil it\n- Clean it", "Speaker's notes: Mention the keeper.", "# Figures", "Site: Mill; Visits: 12",
        "All of May.",
    ]  # fmt: skip
    assert [block.page for block in document.blocks] == [1, 1, 1, 3, 3, 3]
    assert document.notes == ("1 hidden slide", "1 picture") and "Secret" in document.hidden


def odf(kind: str, mimetype: str, body: str, styles: str = "") -> bytes:
    content = (
        f"<office:document-content {ODF}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{mimetype}", "content.xml": content})


def test_an_opendocument_text_keeps_headings_numbers_tables_and_notes() -> None:
    styles = (
        '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>'
        '<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/></text:list-style>'
    )

    def items(*texts: str) -> str:
        return "".join(f"<text:list-item><text:p>{text}</text:p></text:list-item>" for text in texts)

    inner = f"<text:list>{items('May', 'June')}</text:list>"
    body = (
        '<text:h text:outline-level="1">Rules</text:h><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>'
        f'<text:list text:style-name="L"><text:list-item><text:p>Fees</text:p>{inner}</text:list-item>{items("Keys")}</text:list>'
        "<text:p>The kiln<text:s/>is hot.<text:note><text:note-body><text:p>Very.</text:p></text:note-body></text:note></text:p>"
        f'<text:list text:style-name="L" text:continue-numbering="true">{items("Doors")}</text:list>'
        "<table:table><table:table-row><table:table-cell><text:p>Site</text:p></table:table-cell><table:table-cell><text:p>Visits</text:p>"
        "</table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Mill</text:p></table:table-cell>"
        "<table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table>"
    )
    document = load(odf("text", "text", body, styles), "a.odt")
    assert paragraphs(document) == [
        "# Rules", "1. Fees\n  1.1 May\n  1.2 June\n2. Keys", "The kiln is hot.", "3. Doors", "Site: Mill; Visits: 12", "Very.",
    ]  # fmt: skip


def test_headers_and_footers_of_an_opendocument_text_are_read_once() -> None:
    margins = (
        "<style:header><text:p>SP-114, version 3.2</text:p></style:header>"
        "<style:header-first><text:p>SP-114, version 3.2</text:p></style:header-first>"
        "<style:footer><text:p>Page <text:page-number>1</text:page-number> of <text:page-count>9</text:page-count></text:p></style:footer>"
    )
    content = odf("text", "text", '<text:h text:outline-level="1">Cleaning</text:h><text:p>Use dry ice.</text:p>')
    styles = f"<office:document-styles {ODF}><office:master-styles><style:master-page>{margins}</style:master-page></office:master-styles></office:document-styles>"
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        document = load(zipped({name: parts.read(name) for name in parts.namelist()} | {"styles.xml": styles}), "a.odt")
    assert paragraphs(document) == ["SP-114, version 3.2", "# Cleaning", "Use dry ice."]
    assert document.title == "Cleaning"


def test_an_opendocument_sheet_shows_values_as_they_are_shown_with_their_rows() -> None:
    def row(*cells: str) -> str:
        made = "".join(f"<table:table-cell><text:p>{cell}</text:p></table:table-cell>" for cell in cells)
        return f"<table:table-row>{made}</table:table-row>"

    gap = '<table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="16000"/></table:table-row>'
    body = f'<table:table table:name="Rates">{row("Code", "Price")}{row("00734", "€19.50")}{gap}{row("Who", "Where")}{row("Ana", "B4")}</table:table>'
    document = load(odf("spreadsheet", "spreadsheet", body), "a.ods")
    rows = [(b.sheet, b.row, document.text[b.start : b.end]) for b in document.blocks if b.kind == "row"]
    assert rows == [("Rates", 2, "Code: 00734; Price: €19.50"), ("Rates", 7, "Who: Ana; Where: B4")]


def test_the_chapters_of_a_book_come_in_the_order_of_its_spine() -> None:
    def chapter(title: str) -> str:
        return f"<html><body><h1>{title}</h1><p>Of {title}.</p></body></html>"

    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tides</dc:title>'
        '</metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/><item id="b" href="b.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
    )
    container = '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="o/p.opf"/></rootfiles></container>'
    book = zipped({
        "mimetype": "application/epub+zip", "META-INF/container.xml": container, "o/p.opf": package,
        "o/a.xhtml": chapter("Ebb"), "o/b.xhtml": chapter("Flood"),
    })  # fmt: skip
    document = load(book, "a.epub")
    assert document.title == "Tides"
    assert paragraphs(document) == ["# Flood", "Of Flood.", "# Ebb", "Of Ebb."]


def test_a_message_is_read_with_its_attachments_and_says_what_it_could_not_read() -> None:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "The boiler", "Ada <ada@example.org>", "all@example.org"
    message.set_content("The boiler is drained on Friday.")
    message.add_attachment(b"# Plan\n\nFirst the valve.\n", maintype="text", subtype="markdown", filename="plan.md")
    message.add_attachment(b"MZ\x90\x00", maintype="application", subtype="octet-stream", filename="setup.exe")
    document = load(message.as_bytes(), "a.eml")
    assert document.title == "The boiler"
    assert document.blocks[-1].section == "plan.md > Plan"
    assert "From: Ada <ada@example.org>" in document.text and "First the valve." in document.text
    assert document.notes == ("setup.exe: this kind of file is not read",)


def test_files_of_an_archive_stand_below_their_names_and_an_archive_inside_is_not_opened() -> None:
    inner = zipped({"deep.md": "never read"})
    data = zipped({
        "b.csv": "Device,Keeper\nKiln,Mia\nMill,Jo\n", "docs/a.md": "# Rules\n\n## Fees\n\nPay in May.", "c.zip": inner,
        "bad.docx": b"PK\x03\x04 cut", "__MACOSX/x.md": "unseen", ".hidden.md": "unseen",
    })  # fmt: skip
    document = load(data, "all.zip")
    places = {document.text[b.start : b.end]: b.section for b in document.blocks}
    assert places["Pay in May."] == "docs/a.md > Rules > Fees"
    assert places["Device: Kiln; Keeper: Mia"] == "b.csv"
    assert "never" not in document.text and "unseen" not in document.text
    assert set(document.notes) == {"bad.docx: mislabelled", "c.zip: this kind of file is not read inside another"}
    assert document.title == "all"


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.json", '{"port": 80, "on": true, "owner": {"name": "Ana"}, "tags": ["x", "y"]}', "port: 80\non: true\nowner > name: Ana\ntags: x, y"),
        ("a.json", '[{"room": "Loft", "key": "K9"}, {"room": "Attic", "key": "K1"}]', "room: Loft; key: K9\nroom: Attic; key: K1"),
        ("a.jsonl", '{"room": "Loft", "key": "K9"}\n{"room": "Attic"}\n', "room: Loft; key: K9\nroom: Attic"),
        ("a.yaml", "owner: Ana\nversion: 1.10\nrooms:\n  - name: Loft\n    key: 010\n", "owner: Ana\nversion: 1.10\n\nrooms\n\nname: Loft; key: 010"),
        ("a.toml", '[owner]\nname = "Ana"\n', "owner > name: Ana"),
        ("a.xml", '<?xml version="1.0"?><house><room key="K9"><name>Loft</name></room><room key="K1"><name>Attic</name></room></house>', "room\n\nkey: K9; name: Loft\nkey: K1; name: Attic"),
        ("a.ini", "; of the hall\n[door]\ncode = 12\n", "of the hall\n\n# door\n\ncode: 12"),
        ("a.rst", "Rules\n=====\n\n:Version: 3.2\n\nThe winch costs 5 * 4 * 3.\n\n.. warning:: Do not open.\n\n- one\n- two\n", "# Rules\n\nVersion: 3.2\n\nThe winch costs 5 * 4 * 3.\n\nWarning: Do not open.\n\n- one\n- two"),
        ("a.adoc", "= Rules\n:revnumber: 3.2\n\n== Winch\n\nSet max_retry_count.\n\n* one\n* two\n", "# Rules\n\nrevnumber: 3.2\n\n## Winch\n\nSet max_retry_count.\n\n- one\n- two"),
        ("a.org", "#+TITLE: Rules\n\n* Winch\n\nSee [[http://x][the list]].\n", "Rules"),
    ],
)  # fmt: skip
def test_data_and_marked_up_texts(name: str, source: str, expected: str) -> None:
    text = load(source.encode(), name).text
    assert expected in text if name.endswith(".org") else text == expected


def test_a_notebook_is_text_and_code() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Drift\n", "\n", "It drifts."]},
        {
            "cell_type": "code",
            "source": "x = 1",
            "outputs": [{"text": ["1\n"]}, {"data": {"image/png": "…", "text/plain": "Figure"}}],
        },
    ]
    document = load(json.dumps({"cells": cells}).encode(), "a.ipynb")
    assert paragraphs(document) == ["# Drift", "It drifts.", "```\nx = 1\n```", "```\n1\n```", "```\nFigure\n```"]
    assert document.notes == ("1 picture",)


@pytest.mark.parametrize("extension", sorted(ADVICE))
def test_what_is_not_read_is_refused_with_what_to_do(extension: str) -> None:
    assert extension not in EXTENSIONS or EXTENSIONS[extension].module == PICTURE  # read with text recognition
    with pytest.raises(DocumentError, match=r"Read are .*DOCX.*PPTX") as caught:
        load(b"some bytes", f"file{extension}")
    assert caught.value.reason == "unsupported" and ADVICE[extension] in str(caught.value)


def deep(open_: str, close: str, count: int, inside: str = "x") -> bytes:
    return (open_ * count + inside + close * count).encode()


def hostile() -> Iterator[tuple[str, bytes]]:
    laughs = "".join(f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    entities = '<!DOCTYPE d [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><d>&b;</d>'
    bomb = zipped({"a.txt": b" " * 60_000_000})
    yield "laughs.yaml", f"a0: &a0 [x,x]\n{laughs}".encode()
    yield "deep.yaml", deep("[", "]", 5_000)
    yield "tabs.yaml", b"a:\n\t- b"
    yield "tag.yaml", b"!!python/object/apply:os.system ['true']"
    yield "deep.json", deep("[", "]", 100_000)
    yield "names.json", deep('{"a":', "}", 900, "1")
    yield "cut.json", b'{"a": [1, 2'
    yield "nan.json", b"[NaN, Infinity, 1e999]"
    yield "digits.json", b"[" + b"9" * 10_000 + b"]"
    yield "keys.json", json.dumps({f"k{n}": n for n in range(50_000)}).encode()
    yield "wide.json", json.dumps([{f"k{n}": 1} for n in range(3_000)]).encode()
    yield "distinct.json", json.dumps([{f"k{n}": 1} for n in range(20_000)]).encode()
    yield "lone.json", b'{"a": "\\ud800"}'
    yield "deep.xml", deep("<a>", "</a>", 10_000)
    yield "entities.xml", entities.encode()
    yield "external.xml", b'<!DOCTYPE d SYSTEM "file:///etc/passwd"><d/>'
    yield "attributes.xml", f"<a {' '.join(f'b{n}={chr(34)}1{chr(34)}' for n in range(20_000))}/>".encode()
    yield "cut.xml", b"<a><b>"
    yield "bad.toml", b"a = = 1"
    yield "deep.toml", b"a = " + deep("[", "]", 5_000)
    yield "long.ini", b"[" * 100_000 + b"\n" + b"a=" * 100_000
    yield "ticks.rst", b"`" * 200_000
    yield "stars.rst", b"*a" * 100_000
    yield "lines.rst", b"=====\n" * 50_000
    yield "stars.org", b"*" * 200_000
    yield "links.org", b"[[" * 100_000
    yield "marks.adoc", b"*_`" * 60_000
    yield "equals.adoc", b"= " * 100_000
    yield "cells.ipynb", b'{"cells": 5}'
    yield "odd.ipynb", b'{"cells": [1, null, {"cell_type": "code", "source": {"a": 1}, "outputs": [3, {"data": [1]}]}]}'
    yield "list.ipynb", b"[]"
    yield "parts.eml", b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\nx\n" * 10_000
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(2_000))
    yield "nested.eml", nested + b"\nx"
    yield "charset.eml", b"Subject: a\nContent-Type: text/plain; charset=none-such\n\nx"
    yield "headers.eml", b"X: " + b"a" * 2_000_000 + b"\n\nx"
    yield "many.eml", b"".join(b"X-%d: y\n" % n for n in range(50_000)) + b"\nx"
    yield "from.eml", b"From: " + b"<" * 50_000 + b"\n\nx"
    yield "to.eml", b"To: " + b"a@b.c, " * 20_000 + b"\n\nx"
    yield "base64.eml", b"Content-Transfer-Encoding: base64\n\n" + b"=" * 100_000
    yield "bomb.zip", bomb
    yield "twice.zip", zipped({"inner.zip": bomb})
    yield "many.zip", zipped({f"{n}.txt": "x" for n in range(4_000)})
    yield "up.zip", zipped({"../../etc/x.md": "# x"})
    yield "cut.zip", bomb[: len(bomb) // 2]
    yield "bomb.pptx", zipped({"[Content_Types].xml": TYPES, "ppt/presentation.xml": b" " * 60_000_000})
    yield (
        "entities.pptx",
        zipped({"[Content_Types].xml": TYPES, "_rels/.rels": "<a/>", "ppt/presentation.xml": entities}),
    )
    yield "missing.pptx", zipped({"[Content_Types].xml": TYPES, "_rels/.rels": "<a/>", "ppt/presentation.xml": "<a/>"})
    groups = "<p:grpSp>" * 3_000 + shape("title", "x") + "</p:grpSp>" * 3_000
    yield "groups.pptx", slides(slide(groups))
    yield "self.pptx", slides(*[slide(shape("title", "x"))] * 2_000)
    cell = '<table:table-cell table:number-columns-repeated="9999999"><text:p>x</text:p></table:table-cell>'
    rows = f'<table:table-row table:number-rows-repeated="9999999">{cell}</table:table-row>'
    yield "huge.ods", odf("spreadsheet", "spreadsheet", f'<table:table table:name="t">{rows * 3}</table:table>')
    yield (
        "spans.ods",
        odf(
            "spreadsheet",
            "spreadsheet",
            '<table:table><table:table-row><table:table-cell table:number-rows-spanned="9999999"/></table:table-row></table:table>',
        ),
    )
    yield (
        "lists.odt",
        odf(
            "text",
            "text",
            "<text:list><text:list-item>" * 2_000 + "<text:p>x</text:p>" + "</text:list-item></text:list>" * 2_000,
        ),
    )
    yield (
        "sections.odt",
        odf("text", "text", "<text:section>" * 3_000 + "<text:p>x</text:p>" + "</text:section>" * 3_000),
    )
    yield "spans.odt", odf("text", "text", f"<text:p>{'<text:span>' * 3_000}x{'</text:span>' * 3_000}</text:p>")
    yield "entities.odt", zipped({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": entities})
    yield "empty.odt", zipped({"mimetype": "application/vnd.oasis.opendocument.text"})
    yield "no.epub", zipped({"mimetype": "application/epub+zip"})
    yield (
        "round.epub",
        zipped(
            {
                "mimetype": "application/epub+zip",
                "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfile full-path="META-INF/container.xml"/></container>',
            }
        ),
    )
    yield "named.odt", zipped({"mimetype": "application/epub+zip"})


HOSTILE = dict(hostile())


HOSTILE |= {
    "cut.xls": OLD_WORKBOOK[:2_000],
    "noise.xls": OLD_WORKBOOK[:512] + b"\xff" * 4_000,
    "deep.rtf": b"{\\rtf1 " + b"{" * 2_000_000,
    "fields.rtf": b"{\\rtf1 " + b"{\\field{\\*\\fldinst{" * 60_000,
    "page.rtf": b"{\\rtf1\\ansicpg99999 a\\par}",
    "text.rtf": b"no rtf at all",
    "pdf.xls": b"%PDF-1.4 nothing",
}


@pytest.fixture(scope="module")
def parser() -> Iterator[Parser]:
    with Parser(Limits(seconds=20.0)) as one:
        yield one


@pytest.mark.parametrize("name", HOSTILE)
def test_a_file_made_to_do_harm_ends_as_a_refusal_or_within_the_limits(name: str, parser: Parser) -> None:
    try:
        document = parser.parse_bytes(HOSTILE[name], name)
    except DocumentError as error:
        assert error.reason != "timeout" and str(error)
    else:
        assert len(document.text) <= 10_000_000 and len(document.notes) <= 20


REASONS = {
    "bomb.pptx": "bomb", "bomb.zip": "bomb", "entities.pptx": "bomb", "entities.odt": "bomb", "entities.xml": "bomb",
    "external.xml": "bomb", "laughs.yaml": "bomb", "deep.yaml": "bomb", "many.zip": "oversize", "parts.eml": "oversize",
    "named.odt": "mislabelled", "cut.json": "broken", "cut.xml": "broken", "bad.toml": "broken", "no.epub": "broken",
}  # fmt: skip


@pytest.mark.parametrize(("name", "reason"), REASONS.items())
def test_what_is_beyond_a_limit_is_refused_by_that_limit(name: str, reason: str) -> None:
    with pytest.raises(DocumentError) as caught:
        load(HOSTILE[name], name)
    assert caught.value.reason == reason


def test_there_are_fifty_of_them() -> None:
    assert len(HOSTILE) >= 50


def test_a_comment_in_an_opendocument_sheet_is_no_value() -> None:
    note = "<office:annotation><text:p>secret</text:p></office:annotation>"
    cells = f"<table:table-cell><text:p>Rate</text:p></table:table-cell><table:table-cell>{note}<text:p>40</text:p></table:table-cell>"
    body = f'<table:table table:name="T"><table:table-row>{cells}</table:table-row></table:table>'
    document = load(odf("spreadsheet", "spreadsheet", body), "a.ods")
    assert "secret" not in document.text and "secret" in document.hidden and document.notes == ("1 comment",)


def test_boxes_in_boxes_are_read_once() -> None:
    def boxed(depth: int) -> str:
        body = "<text:p>x</text:p>"
        for at in range(depth):
            body = f"<text:p>level {at}<draw:text-box>{body}</draw:text-box></text:p>"
        return load(odf("text", "text", body), "a.odt").text

    assert boxed(4).count("level 1") == 1
    assert len(boxed(60)) < 1_000


def test_an_old_workbook_gives_rows_with_their_headings() -> None:
    document = load(OLD_WORKBOOK, "loans.xls")
    assert "Room: Studio; Rate: 1500; Booked: 2026-04-04" in paragraphs(document)
    assert document.blocks[-1].sheet == "a"


def test_rtf_gives_its_text_and_tables_and_counts_what_it_leaves_out() -> None:
    document = load(RTF.encode(), "ferry.rtf")
    assert paragraphs(document) == [
        "The fähre leaves at ten.", "Kind: Book; Days: 10", "Kind: Film; Days: 3", "End of it.",
    ]  # fmt: skip
    assert document.notes == ("1 footnote", "1 page header or footer")
