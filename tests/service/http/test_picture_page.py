"""A citation opens on the page of the file, in a headless Chromium: on a desk, on a phone, with the keyboard."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docx import Document

from evals.serving import WIDE, Served, serving
from graph.knowledge import office
from graph.settings import load
from tests.service.http.test_page import asked, browser, signed_in
from tests.service.http.test_pictures import QUESTION, QUOTE, drawn, handbook, second, upload

__all__ = ["browser"]


@pytest.fixture(scope="module")
def served(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    base = tmp_path_factory.mktemp("picture-page")
    shutil.copytree(small, base / "home")
    with serving(load(environ={}, home=base / "home", out=base / "out", artifacts=False, **WIDE)) as running:
        with running.client() as client:
            upload(client, "handbook.pdf", drawn(handbook, second))
        yield running


@pytest.fixture(params=[(1280, 800), (390, 844)], ids=["desk", "phone"])
def page(request: pytest.FixtureRequest, browser: Any) -> Iterator[Any]:
    width, height = request.param
    tab = browser.new_page(viewport={"width": width, "height": height})
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.set_default_timeout(30_000)
    yield tab
    assert faults == []
    tab.close()


def test_a_citation_opens_the_page_and_escape_goes_back(page: Any, served: Served) -> None:
    signed_in(page, served)
    asked(page, QUESTION).locator(".cite").first.click()
    shown = page.locator("#picture img")
    shown.wait_for()
    page.wait_for_function("() => document.querySelector('#picture img').naturalWidth > 0")
    assert QUOTE in shown.get_attribute("alt") and "Page 1 of handbook.pdf" in shown.get_attribute("alt")
    assert QUOTE in page.inner_text("#source-text mark")  # the text beside it
    box, room = shown.bounding_box(), page.locator("#source").bounding_box()
    assert room["x"] <= box["x"] and box["x"] + box["width"] <= room["x"] + room["width"] <= page.viewport_size["width"]
    page.click("#page-after")
    page.get_by_text("Page 2 of 2, without the quote").wait_for()
    assert page.is_disabled("#page-after")
    page.click("#enlarge")
    page.keyboard.press("Escape")
    assert page.is_hidden("#source") and page.locator("#picture img").count() == 0
    assert "cite" in page.evaluate("() => document.activeElement.className")


def test_where_there_is_no_picture_the_reason_and_the_text_are_shown(page: Any, served: Served) -> None:
    signed_in(page, served)
    turn = asked(page, QUESTION)
    space = served.service.agent.deps.index.space("U1")
    record, data = space.record("handbook"), space.original("handbook")
    served.service.agent._pictures.forget()
    space.keep_original("handbook", record.sha256, b"%PDF-1.4 damaged")
    try:
        turn.locator(".cite").first.click()
        page.get_by_text("There is no picture of this page").wait_for()
        page.wait_for_selector("#source mark")
        assert page.is_hidden("#source-page")
        turn = None
    finally:
        space.keep_original("handbook", record.sha256, data)
    page.keyboard.press("Escape")
    asked(page, "Which freezer holds the whole blood samples?").locator(".cite").first.click()
    page.wait_for_selector("#source mark")
    assert page.is_hidden("#source-page") and page.is_hidden("#source-note")  # of no PDF: nothing is missing


def test_an_answer_is_saved_as_a_file(page: Any, served: Served) -> None:
    signed_in(page, served)
    turn = asked(page, QUESTION)
    with page.expect_download() as coming:
        turn.get_by_text("Save as PDF").click()
    assert Path(coming.value.path()).read_bytes().startswith(b"%PDF")


def test_of_an_office_file_the_page_with_the_quote_is_found(page: Any, served: Served) -> None:
    if office.program("") is None:
        pytest.skip("there is no LibreOffice on this machine (Debian: apt-get install libreoffice-writer)")
    document = Document()
    document.add_paragraph(
        "The spoonbill bridge is closed on Sundays. " + "It is old and narrow, and its rails are low. " * 60
    )
    document.add_page_break()  # type: ignore[no-untyped-call]
    document.add_paragraph(
        "The spoonbill ferry takes eleven people. " + "It is new and wide, and its rails are high. " * 60
    )
    stream = io.BytesIO()
    document.save(stream)
    with served.client() as client:
        upload(client, "spoonbill.docx", stream.getvalue())
    signed_in(page, served)
    asked(page, "How many people does the spoonbill ferry take?").locator(".cite").first.click()
    page.get_by_text("Page 2 of 2", exact=True).wait_for()
    page.wait_for_function("() => document.querySelector('#picture img').naturalWidth > 0")
    assert page.is_hidden("#source-note")
    mark, text = (page.locator(f"#source-text{part}").bounding_box() for part in (" mark", ""))
    assert text["y"] <= mark["y"] and mark["y"] + mark["height"] <= text["y"] + text["height"]
    page.click("#page-before")
    page.get_by_text("Page 1 of 2, without the quote").wait_for()
    page.keyboard.press("Escape")
    with served.client() as client:
        assert client.delete("/v1/documents/spoonbill").status_code == 204
