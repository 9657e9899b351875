import gzip
import ipaddress
import threading
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from graph.errors import DocumentError
from graph.knowledge.addresses import is_public
from graph.knowledge.fetch import TYPES, FetchLimits, Request, fetch
from tests.support.site import Answer, Site

PUBLIC = "93.184.216.34"


@pytest.fixture(scope="module")
def running() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield site
    site.server.shutdown()
    thread.join()
    site.server.server_close()


@pytest.fixture
def site(running: Site) -> Site:
    running.pages.clear()
    running.asked.clear()
    return running


def reason(url: str, **options: object) -> str:
    with pytest.raises(DocumentError) as caught:
        fetch(url, **options)  # type: ignore[arg-type]
    assert str(caught.value) and caught.value.hint
    return caught.value.reason


def never(host: str, port: int) -> list[str]:
    raise AssertionError(f"{host} was looked up")


@pytest.mark.parametrize(
    ("path", "kind", "media_type", "filename"),
    [
        ("/", "text/html; charset=utf-8", "text/html", "127.0.0.1.html"),
        ("/a/page", "text/html", "text/html", "page.html"),
        ("/a/rules.php", "application/xhtml+xml", "application/xhtml+xml", "rules.html"),
        ("/read.md", "text/plain", "text/markdown", "read.md"),
        ("/read", "text/markdown", "text/markdown", "read.md"),
        ("/d.csv", "application/octet-stream", "text/csv", "d.csv"),
        ("/d.pdf", "", "application/pdf", "d.pdf"),
        ("/x%2F..%2Fy.txt", "text/plain", "text/plain", "y.txt"),
    ],
)
def test_a_page_comes_with_the_name_that_its_loader_goes_by(
    site: Site, path: str, kind: str, media_type: str, filename: str
) -> None:
    url = site.page(path, b"body", kind)
    found = fetch(url, allow_private=True)
    assert (found.url, found.media_type, found.data, found.filename) == (url, media_type, b"body", filename)


def test_the_charset_that_the_server_names_is_kept(site: Site) -> None:
    url = site.page("/", "Привет".encode("cp1251"), "text/html; charset=windows-1251")
    assert fetch(url, allow_private=True).data.decode("utf-8-sig") == "Привет"


def test_the_query_is_sent_and_the_fragment_is_not(site: Site) -> None:
    site.page("/ä b".replace("ä b", "%C3%A4"))
    assert fetch(f"{site.url}/ä?q=ü#part", allow_private=True).final_url == f"{site.url}/%C3%A4?q=%C3%BC"
    assert site.asked == [("/%C3%A4?q=%C3%BC", f"127.0.0.1:{site.port}")]


def test_proxies_of_the_environment_are_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert fetch(site.page("/"), allow_private=True).data == b"text"


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "gopher://example.com/",
        "javascript:alert(1)",
        "example.com",
        "http:///path",
        "http://user@example.com/",
        "http://user:pass@example.com/",
        "http://example.com:22/",
        "http://example.com:8080/",
        "http://example.com:99999/",
        "http://example.com\\@127.0.0.1/",
        "http://exa mple.com/",
        "http://example.com/\r\nHost: x",
        "http://exa%6Dple.com/",
        "http://[::1%25lo]/",
        "http://[v1.x]/",
        "http://" + "a" * 5000,
        "",
    ],
)
def test_an_address_of_a_forbidden_form_is_not_even_looked_up(url: str) -> None:
    assert reason(url, resolver=never) == "url_forbidden"


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0",
        "localhost",
        "localhost.",
        "１２７.0.0.1",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[fec0::1]",
    ],
)
def test_every_spelling_of_an_internal_address_is_forbidden(host: str) -> None:
    assert reason(f"http://{host}/") == "url_forbidden"


@pytest.mark.parametrize(
    ("address", "public"),
    [
        (PUBLIC, True),
        ("8.8.8.8", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("::ffff:8.8.8.8", True),
        ("64:ff9b::808:808", True),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::a00:1", False),
        ("2002:a00:1::1", False),
        ("2001:0:808:808::f5ff:fffe", False),
        ("2606:4700::5efe:a00:1", False),
        ("224.0.0.1", False),
        ("239.1.2.3", False),
        ("ff02::1", False),
        ("255.255.255.255", False),
        ("240.0.0.1", False),
        ("0.0.0.0", False),
        ("168.63.129.16", False),
        ("192.0.0.192", False),
        ("198.18.0.1", False),
        ("203.0.113.5", False),
        ("2001:db8::1", False),
    ],
)
def test_only_what_can_be_outside_is_public(address: str, public: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is public


def test_one_internal_address_among_public_ones_forbids_the_name() -> None:
    assert reason("http://both.example/", resolver=lambda *_: [PUBLIC, "10.0.0.1"]) == "url_forbidden"


def test_the_address_that_was_checked_is_the_one_connected_to(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server that answers differently the second time (rebinding) is not asked a second time."""
    site.page("/")
    answers = iter([["127.0.0.1"]])
    url = f"http://rebinding.example:{site.port}/"
    found = fetch(url, allow_private=True, resolver=lambda *_: next(answers))
    assert found.data == b"text" and site.asked == [("/", f"rebinding.example:{site.port}")]


@pytest.mark.parametrize("answers", [[["10.0.0.1"], [PUBLIC]], [[], [PUBLIC]]])
def test_a_first_answer_that_is_internal_or_empty_decides(answers: list[list[str]]) -> None:
    left = iter(answers)
    assert reason("http://localtest/", resolver=lambda *_: next(left)) in ("url_forbidden", "url_unreachable")
    assert next(left) == [PUBLIC], "asked once"


def test_a_redirect_to_an_internal_address_is_forbidden(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first hop is played by the loopback server under a name that counts as public."""
    from graph.knowledge import fetch as module

    monkeypatch.setattr(module, "PORTS", {"http": site.port, "https": 443})
    monkeypatch.setattr(module, "is_public", lambda address: str(address) == "127.0.0.1")

    def resolver(host: str, port: int) -> list[str]:
        return {"public.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"]}.get(host, [host])

    site.page("/ok", b"fine")
    for target in ("http://10.0.0.1/", "http://169.254.169.254/latest", "//inside.example/", "file:///etc/passwd"):
        site.page("/", status=302, Location=target)
        assert reason("http://public.example/", resolver=resolver) == "url_forbidden", target
    site.page("/", status=301, Location="/ok")
    assert fetch("http://public.example/", resolver=resolver).data == b"fine"


def test_redirects_are_followed_and_counted(site: Site) -> None:
    site.page("/3", b"there")
    for number in range(3):
        site.page(f"/{number}", status=302, Location=f"/{number + 1}")
    found = fetch(f"{site.url}/0", allow_private=True)
    assert (found.url, found.final_url, found.data) == (f"{site.url}/0", f"{site.url}/3", b"there")
    site.page("/loop", status=302, Location="/loop")
    assert reason(f"{site.url}/loop", allow_private=True) == "url_unreachable"
    assert sum(path == "/loop" for path, _ in site.asked) == 6


def test_what_is_for_a_host_is_not_sent_to_one_that_it_redirects_to(site: Site) -> None:
    seen: list[tuple[str, str | None]] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append((handler.headers["Host"], handler.headers["Authorization"]))
        handler.send_response(302)
        handler.send_header("Location", f"http://localhost:{site.port}/page")
        handler.end_headers()

    def page(handler: BaseHTTPRequestHandler) -> None:
        seen.append((handler.headers["Host"], handler.headers["Authorization"]))
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.end_headers()

    site.raw("/page", page)
    asked = Request(headers={"Authorization": "Basic abc"}, private=True)
    fetch(site.raw("/", answer), allow_private=True, request=asked)
    assert seen == [(f"127.0.0.1:{site.port}", "Basic abc"), (f"localhost:{site.port}", None)]
    # Nor does what holds for that host hold for the other one.
    assert reason(site.url, request=asked) == "url_forbidden" and len(seen) == 3


def test_what_has_not_changed_is_not_sent_again(site: Site) -> None:
    url = site.page("/", b"text", ETag='"1"', Last_Modified="Sat, 01 Nov 2025 10:00:00 GMT")
    stamp = fetch(url, allow_private=True).stamp
    assert stamp == 'etag:"1"'
    site.page("/", b"", status=304)
    found = fetch(url, allow_private=True, request=Request(stamp=stamp))
    assert (found.changed, found.data, found.stamp) == (False, b"", stamp)


@pytest.mark.parametrize("status", [204, 304, 401, 404, 500])
def test_a_status_that_is_no_page_is_told(site: Site, status: int) -> None:
    assert reason(site.page("/", status=status), allow_private=True) == "url_status"


@pytest.mark.parametrize("kind", ["image/png", "application/zip", "application/octet-stream", "video/mp4", ""])
def test_a_type_that_cannot_be_read_is_refused(site: Site, kind: str) -> None:
    assert reason(site.page("/thing", kind=kind), allow_private=True) == "url_type"


def test_a_compressed_page_is_unpacked(site: Site) -> None:
    for name, packed in (("gzip", gzip.compress(b"words")), ("deflate", zlib.compress(b"words"))):
        assert fetch(site.page("/", packed, Content_Encoding=name), allow_private=True).data == b"words"
    assert reason(site.page("/", b"x", Content_Encoding="br"), allow_private=True) == "url_type"
    assert reason(site.page("/", b"junk", Content_Encoding="gzip"), allow_private=True) == "url_unreachable"
    cut = gzip.compress(b"words" * 100)[:-10]
    assert reason(site.page("/", cut, Content_Encoding="gzip"), allow_private=True) == "url_unreachable"


def test_a_page_that_unpacks_to_too_much_is_refused(site: Site) -> None:
    bomb = gzip.compress(bytes(200 * 2**20), 1)
    assert reason(site.page("/", bomb, Content_Encoding="gzip"), allow_private=True) == "url_too_large"


@pytest.mark.parametrize("headers", [{}, {"Content_Length": "2000000"}])
def test_a_page_that_is_too_large_is_refused(site: Site, headers: dict[str, Any]) -> None:
    url = site.page("/", b"x" * 2_000_000, **headers)
    assert reason(url, allow_private=True, limits=FetchLimits(max_bytes=1_000_000)) == "url_too_large"
    assert len(fetch(url, allow_private=True).data) == 2_000_000


def test_a_page_that_breaks_off_is_not_taken_for_whole(site: Site) -> None:
    assert reason(site.page("/", b"half", Content_Length="100"), allow_private=True) == "url_unreachable"


def drip(head: bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(head)
        for _ in range(200):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)

    return answer


@pytest.mark.parametrize(
    "head",
    [b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 2", b""],
)
def test_a_slow_drip_ends_at_the_time_limit(site: Site, head: bytes) -> None:
    started = time.monotonic()
    url = site.raw("/", drip(head))
    assert reason(url, allow_private=True, limits=FetchLimits(seconds=0.4)) == "url_too_slow"
    assert time.monotonic() - started < 1.5


def test_a_name_server_that_does_not_answer_is_given_up() -> None:
    given_up = threading.Event()

    def slow(host: str, port: int) -> list[str]:
        given_up.wait(30)
        return [PUBLIC]

    started = time.monotonic()
    assert reason("http://example.com/", resolver=slow, limits=FetchLimits(seconds=0.2)) == "url_too_slow"
    assert time.monotonic() - started < 0.9
    given_up.set()


def test_what_is_not_there_is_unreachable(site: Site) -> None:
    assert reason("http://127.0.0.1:1/", allow_private=True) == "url_unreachable"
    https = f"https://127.0.0.1:{site.port}/"
    assert reason(https, allow_private=True, limits=FetchLimits(seconds=3)) in ("url_unreachable", "url_too_slow")

    def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    assert reason("http://nowhere.example/", resolver=unknown) == "url_unreachable"


def test_an_answer_that_is_not_http_is_unreachable(site: Site) -> None:
    assert reason(site.raw("/", lambda handler: handler.wfile.write(b"junk\r\n\r\n")), allow_private=True) in (
        "url_unreachable",
        "url_status",
    )


def test_every_kind_that_is_read_can_be_fetched_but_for_archives_and_mail() -> None:
    kinds = {*TYPES.values()}
    assert {".pptx", ".odt", ".epub", ".json", ".xml", ".md", ".html"} <= kinds
    assert not kinds & {".zip", ".eml", ".mhtml"}
    assert TYPES["text/plain"] == ".txt"
