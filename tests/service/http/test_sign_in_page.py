"""The page with a provider, in a headless Chromium. The provider is another site for it: localhost, not 127.0.0.1."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from evals.serving import CANARIES, QUESTIONS, Served
from graph.service.http.session_cookie import SESSION
from tests.support.oidc import CLIENT, SECRET, OwnProvider, own_provider

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking".split()


@pytest.fixture
def provider() -> Iterator[OwnProvider]:
    with own_provider() as running:
        running.issuer = running.issuer.replace("127.0.0.1", "localhost")
        yield running


@pytest.fixture
def serve(another: Callable[..., Any], provider: OwnProvider) -> Iterator[Callable[..., Served]]:
    known = {"oidc_issuer": provider.issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
    with ExitStack() as done:
        yield lambda **values: done.enter_context(another(**known, **values))


@pytest.fixture
def page() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium on this machine (Debian: apt-get install chromium)")
    from playwright.sync_api import sync_playwright

    faults: list[str] = []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        tab = opened.new_context(viewport={"width": 1280, "height": 800}).new_page()
        tab.set_default_timeout(30_000)
        tab.on("pageerror", lambda error: faults.append(str(error)))
        yield tab
        opened.close()
    assert faults == []


def signed_in(page: Any, served: Served) -> None:
    page.goto(served.url)
    page.click("#provider-link")
    page.wait_for_selector("#question:visible")


def test_sign_in_ask_reload_and_sign_out_at_the_provider_too(
    page: Any, serve: Callable[..., Served], provider: OwnProvider
) -> None:
    served = serve()
    page.goto(served.url)
    assert page.inner_text("#provider-link") == "Sign in" and page.inner_text("#sign-in-error") == ""
    signed_in(page, served)
    assert page.inner_text("#person") == "Ann Ames"
    assert page.evaluate("document.cookie") == "" and page.evaluate("sessionStorage.length") == 0
    assert "code=" not in page.url
    page.fill("#question", QUESTIONS["U1"])
    page.press("#question", "Enter")
    page.locator(".verdict").first.wait_for()
    assert CANARIES["U1"] in page.inner_text(".turn")
    page.reload()
    page.wait_for_selector("#question:visible")
    page.click("#sign-out")
    page.wait_for_url(f"{provider.issuer}/logout?**")
    page.goto(served.url)
    page.wait_for_selector("#provider-link:visible")
    assert page.is_hidden("#app") and page.inner_text("#sign-in-error") == ""


def test_a_session_that_ended_says_so_and_offers_to_sign_in_again(page: Any, serve: Callable[..., Served]) -> None:
    served = serve()
    signed_in(page, served)
    cookies = {one["name"]: one["value"] for one in page.context.cookies()}
    served.service.agent.deps.stores.sessions.end(cookies[SESSION].partition(".")[0])
    page.fill("#question", QUESTIONS["U1"])
    page.press("#question", "Enter")
    page.locator("#sign-in-error", has_text="Your session has ended. Sign in again.").wait_for()
    assert page.is_hidden("#app")
    page.click("#provider-link")
    page.wait_for_selector("#question:visible")


def test_a_key_works_beside_the_provider(page: Any, serve: Callable[..., Served]) -> None:
    served = serve()
    page.goto(served.url)
    page.fill("#key", served.keys["U2", "member"])
    page.click("text=Use this key")
    page.wait_for_selector("#question:visible")
    assert page.inner_text("#person") == "member-of-U2"
    page.click("#sign-out")
    page.wait_for_selector("#provider-link:visible")
    assert page.url == served.url + "/"


def test_an_outage_of_the_provider_is_a_page_that_says_so(
    page: Any, serve: Callable[..., Served], provider: OwnProvider
) -> None:
    provider.answers["/.well-known/openid-configuration"] = lambda handler: handler.tell(500, {})
    page.goto(serve().url)
    page.click("#provider-link")
    page.get_by_text("The sign-in provider is not there").wait_for()
    page.click("text=to the page")
    page.wait_for_selector("#key:visible")
