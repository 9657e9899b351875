"""Pages of office files as pictures, laid out by LibreOffice: what is masked or withheld is black in them, too."""

import hashlib
import io
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pypdfium2
import pytest
from docx import Document
from openpyxl import Workbook
from PIL import Image

from evals.serving import WIDE, Served, serving
from graph.administration import laid_out as laying
from graph.errors import DocumentError, Quarantined
from graph.knowledge import confinement, office
from graph.settings import load
from tests.service.http.test_pictures import (
    FOOT,
    MAIL,
    ORDER,
    PHONE,
    PLAIN,
    QUOTE,
    YELLOW,
    ask,
    bare,
    colours,
    get,
    picture,
    upload,
    where,
)  # fmt: skip

BINARY = office.program("")
pytestmark = pytest.mark.skipif(
    BINARY is None, reason="there is no LibreOffice on this machine (Debian: apt-get install libreoffice-writer …)"
)
BLACK = {(20, 20, 20)}
CALL = f"In an emergency call {PHONE} or write to {MAIL} at once."
SLIDES = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"
 office:mimetype="application/vnd.oasis.opendocument.presentation"><office:automatic-styles>
 <style:style style:name="g" style:family="graphic"><style:graphic-properties draw:fill="none" draw:stroke="none"/></style:style>
 </office:automatic-styles><office:master-styles>
 <style:master-page style:name="M"/></office:master-styles><office:body><office:presentation>
%s</office:presentation></office:body></office:document>"""
SLIDE = """<draw:page draw:master-page-name="M"><draw:frame draw:style-name="g" svg:width="24cm" svg:height="8cm" svg:x="1cm" svg:y="1cm">
<draw:text-box>%s</draw:text-box></draw:frame>%s</draw:page>"""
NOTES = """<presentation:notes><draw:frame presentation:class="notes" svg:width="15cm" svg:height="8cm" svg:x="2cm" svg:y="14cm">
<draw:text-box><text:p>%s</text:p></draw:text-box></draw:frame></presentation:notes>"""
TEXT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" office:version="1.2"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"><office:body><office:text>%s</office:text>
</office:body></office:document-content>"""
MANIFEST = """<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.text"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"""


def converted(data: bytes, name: str, kind: str) -> bytes:
    """The file in another format, as LibreOffice itself writes it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, name).write_bytes(data)
        subprocess.run(
            ["soffice", f"-env:UserInstallation=file://{folder}/p", "--headless", "--convert-to", kind, "--outdir", folder,
             f"{folder}/{name}"], check=True, capture_output=True, timeout=300,
        )  # fmt: skip
        return Path(folder, name).with_suffix(f".{kind}").read_bytes()


def handbook() -> bytes:
    """Two pages; the quote is on the second, and the footer in no passage."""
    document = Document()
    document.sections[0].footer.paragraphs[0].text = f"Contact: {FOOT}"
    document.add_heading("The field station", 1)
    document.add_paragraph("The alarm of the heron cabinet is tested in May.")
    document.add_page_break()  # type: ignore[no-untyped-call]
    for line in (f"{QUOTE} of the north field. It stands in room 212.", CALL, ORDER, PLAIN):
        document.add_paragraph(line)
    return saved(document)


def saved(document: Any) -> bytes:
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def sheet() -> bytes:
    book = Workbook()
    page = book.active
    page.title = "Sensors"
    page.append(["Sensor", "Room", "Limit", "Keeper"])
    for name, room, limit, keeper in (("bittern", "A-4", "12 bar", PHONE), ("godwit", "B-7", "15 bar", MAIL)):
        page.append([name, room, limit, keeper])
    page.column_dimensions["D"].width = 30
    return saved(book)


def slides() -> bytes:
    quote = f"<text:p>{QUOTE} of the north field.</text:p><text:p>{CALL}</text:p>"
    first = SLIDE % (
        "<text:p>The alarm of the heron cabinet is tested in May.</text:p>",
        NOTES % f"Ask {FOOT} in time.",
    )
    return (SLIDES % (first + SLIDE % (quote, ""))).encode()


@pytest.fixture(scope="module")
def shown(small: Path, tmp_path_factory: pytest.TempPathFactory, database_of: Any) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("office-pictures")
    shutil.copytree(small, base / "home")
    known = {**WIDE, **database_of(base / "home")}
    with serving(load(environ={}, home=base / "home", out=base / "out", artifacts=False, **known)) as running:
        yield running


def laid_out(shown: Served) -> bytes:
    """The PDF from which the last picture was drawn."""
    (*_, last) = shown.service.agent._pdfs._entries.values()
    pdf: bytes = last[1].pdf
    return pdf


def told(response: httpx.Response) -> tuple[float, int, int]:
    match = re.fullmatch(r"mark=(.+); pages=(\d+); page=(\d+)", response.headers["x-cordon-page"])
    assert match
    mark, pages, page = match.groups()
    return float(mark), int(pages), int(page)


def height(pdf: bytes, page: int) -> float:
    with pypdfium2.PdfDocument(pdf) as document:
        return float(document[page].get_height())


def removed(client: httpx.Client, citation: dict[str, Any]) -> None:
    assert client.delete(f"/v1/documents/{citation['doc_id']}").status_code == 204


@pytest.mark.parametrize("kind", ["docx", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("odt", "rtf"))])
def test_of_a_text_the_quote_is_found_and_what_is_masked_or_withheld_is_black(shown: Served, kind: str) -> None:
    data = handbook() if kind == "docx" else converted(handbook(), "handbook.docx", kind)
    with shown.client() as client:
        upload(client, f"handbook.{kind}", data)
        run, citation = ask(client)
        response = get(client, run, citation, page=0)
        first = picture(get(client, run, citation, page=1))
        removed(client, citation)
    mark, pages, page = told(response)
    image, pdf = picture(response), laid_out(shown)
    tall = height(pdf, 1)
    assert (pages, page) == (2, 2) and abs(mark - (tall - where(pdf, QUOTE, 1)[3]) / tall) < 0.02
    assert YELLOW in colours(image, where(pdf, QUOTE, 1), tall)
    for hidden in (PHONE, MAIL, ORDER, *([FOOT] if kind != "rtf" else [])):
        assert colours(image, where(pdf, hidden, 1), tall) == BLACK, hidden
        assert len(colours(bare(pdf, image, 1), where(pdf, hidden, 1), tall)) > 10, hidden
    assert (255, 255, 255) in colours(image, where(pdf, PLAIN, 1), tall)
    assert len(colours(image, where(pdf, PLAIN, 1), tall)) > 10
    assert colours(first, where(pdf, FOOT), tall) == BLACK


@pytest.mark.parametrize("kind", ["xlsx", pytest.param("ods", marks=pytest.mark.slow)])
def test_the_row_of_a_sheet_is_marked_and_its_keeper_black(shown: Served, kind: str) -> None:
    with shown.client() as client:
        upload(client, f"sensors.{kind}", sheet() if kind == "xlsx" else converted(sheet(), "sensors.xlsx", kind))
        reply = client.post("/v1/ask", json={"question": "What is the limit of the godwit sensor?"}).json()
        row = next(c for c in reply["citations"] if "Room: B-7" in c["quote"])
        response = get(client, reply["run_id"], row, page=0)
        removed(client, row)
    image, pdf = picture(response), laid_out(shown)
    tall = height(pdf, 0)
    yellow = [YELLOW in colours(image, where(pdf, word), tall) for word in ("bittern", "godwit", "B-7")]
    assert yellow == [False, True, True]
    assert colours(image, where(pdf, PHONE), tall) == colours(image, where(pdf, MAIL), tall) == BLACK


@pytest.mark.parametrize("kind", ["pptx", pytest.param("odp", marks=pytest.mark.slow)])
def test_slides_and_their_notes_are_pages(shown: Served, kind: str) -> None:
    with shown.client() as client:
        upload(client, f"talk.{kind}", converted(slides(), "talk.fodp", kind))
        run, citation = ask(client)
        response = get(client, run, citation, page=0)
        notes = picture(get(client, run, citation, page=3))
        removed(client, citation)
    image, pdf = picture(response), laid_out(shown)
    assert told(response)[1:] == (4, 2) and YELLOW in colours(image, where(pdf, QUOTE, 1), height(pdf, 1))
    assert colours(image, where(pdf, PHONE, 1), height(pdf, 1)) == BLACK
    assert colours(notes, where(pdf, FOOT, 2), height(pdf, 2)) == BLACK


def test_a_page_is_laid_out_once_and_no_other_user_sees_it(shown: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with shown.client() as client, shown.client("U2") as other, shown.client("U1", "member") as colleague:
        upload(client, "handbook.docx", handbook())
        run, citation = ask(client)
        assert picture(get(client, run, citation, page=0))
        monkeypatch.setattr(laying, "pdf_of", None)  # it is not asked for again
        assert picture(get(client, run, citation, page=1))
        assert {get(one, run, citation, page=0).status_code for one in (other, colleague)} == {404}
        raw = client.get(f"/v1/documents/{citation['doc_id']}")
        assert "%PDF" not in raw.text and PHONE not in raw.text
        removed(client, citation)
        assert get(client, run, citation, page=0).status_code == 404


def test_without_libreoffice_and_of_what_was_not_kept_the_reason_is_told(another: Callable[..., Any]) -> None:
    for settings, code in (({"libreoffice": "off"}, "unsupported"), ({"keep_originals": False}, "no_original")):
        with another(**settings) as served, served.client() as client:
            upload(client, "handbook.docx", handbook())
            refused = get(client, *ask(client), page=0)
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, code)


# -- the process ------------------------------------------------------------------------------------------------------


def made_of(data: bytes, kind: str) -> bytes:
    media_type = next(media for media, extension in office.KINDS.items() if extension == f".{kind}")
    assert BINARY
    return office.pdf_of(data, media_type, BINARY, "it")


@pytest.mark.parametrize("without", ["confinement", "settings"])
def test_it_reads_no_file_of_the_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: str) -> None:
    """A picture that is linked is drawn by whoever may read it: each of two guards is enough to keep it out."""
    Image.new("RGB", (60, 60), (200, 0, 0)).save(tmp_path / "other.png")
    linked = f'<text:p><draw:frame svg:width="5cm" svg:height="5cm"><draw:image xlink:href="file://{tmp_path}/other.png"/></draw:frame></text:p>'
    data = packed(TEXT % (linked + "<text:p>The rest.</text:p>"))
    started: list[str] = []
    confined = confinement.command

    def recorded(argv: list[str], **limits: Any) -> list[str]:
        started.extend(argv)
        return argv if without == "confinement" else confined(argv, **limits)

    monkeypatch.setattr(office, "command", recorded)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    if without == "settings":
        monkeypatch.setattr(office, "_NEVER", {})
    with pypdfium2.PdfDocument(made_of(data, "odt")) as document:
        (page,) = document
        assert [shape.type for shape in page.get_objects()] == [pypdfium2.raw.FPDF_PAGEOBJ_TEXT]
        assert page.get_textpage().get_text_range() == "The rest."
    assert list((tmp_path / "temporary").iterdir()) == []
    profile = started[1].removeprefix("-env:UserInstallation=").encode("utf-16-le")
    name = "".join(f"{byte:x}" for byte in hashlib.md5(profile, usedforsecurity=False).digest())
    assert list(Path("/tmp").glob(f"OSL_PIPE_*{name}")) == []


def packed(content: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("program", "outcome"),
    [
        ("cat /etc/passwd", 1),
        (f"cat {Path(__file__)}", 1),
        ("cat /proc/1/environ", 1),
        ("mkdir ../beside", 1),
        ("touch here", 0),
        ("bash -c 'exec 3<>/dev/tcp/127.0.0.1/1'", 1),
    ],
)
def test_a_confined_program_sees_and_reaches_little(tmp_path: Path, program: str, outcome: int) -> None:
    limits = {"memory": 2**30, "seconds": 10, "file_bytes": 2**20}
    argv = confinement.command(["/usr/bin/sh", "-c", program], writable=tmp_path, **limits)
    ran = subprocess.run(argv, cwd=tmp_path, env={"PATH": os.defpath}, capture_output=True, text=True)
    assert bool(ran.returncode) == bool(outcome) and ran.returncode != confinement.UNCONFINED, ran.stderr
    if "tcp" in program:
        assert "refused" not in ran.stderr  # it did not get as far as that


def test_what_takes_too_long_ends_with_all_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(office, "WAIT_S", 0.3)
    with pytest.raises(Quarantined) as raised:
        made_of(handbook(), "docx")
    assert raised.value.reason == "timeout"
    running = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert "cordon-office-" not in running


def test_damage_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DocumentError) as raised:
        made_of(b"PK\x03\x04 nothing", "docx")
    assert raised.value.reason == "broken"
    monkeypatch.setattr(confinement, "_BOOT", "raise SystemExit(3)")
    with pytest.raises(DocumentError):
        made_of(handbook(), "docx")
