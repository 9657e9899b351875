"""Who sends slowly, or stops in the middle: the place is given back, the service says so, and it is nobody's error."""

import asyncio
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest

from evals.serving import Served
from graph.service.http.problems import Problem
from graph.service.http.slow_client import BYTES_A_SECOND, SlowClientTimeout
from tests.support.kept import busy, uploads

MUCH = 40 * 2**20  # bytes, more than the system keeps for a connection
JSON = "POST /v1/ask HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: 400\r\n\r\n"
FORM = "POST /v1/documents HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 4000\r\n\r\n"
BEGUN = {
    JSON: b'{"question": "Which fr',
    FORM: b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nThe ib',
}


@pytest.fixture
def hurried(another: Callable[..., Any]) -> Iterator[Served]:
    with another(request_s=0.6) as served:
        yield served


def begin(served: Served, head: str) -> socket.socket:
    host, port = served.url.removeprefix("http://").split(":")
    line = socket.create_connection((host, int(port)), timeout=20)
    line.sendall(head.format(key=served.keys["U1", "admin"]).encode() + BEGUN[head])
    return line


def told(line: socket.socket) -> bytes:
    """All that comes until the service closes the connection."""
    said = b""
    while piece := line.recv(65_536):
        said += piece
    return said


def idle(served: Served) -> bool:
    deadline = time.monotonic() + 5
    counters = served.service.agent.deps.stores.counters
    while busy(served.settings, counters) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not busy(served.settings, counters)


@pytest.mark.parametrize("head", [JSON, FORM], ids=["body", "upload"])
def test_what_is_half_sent_ends_with_408_and_leaves_nothing(hurried: Served, head: str) -> None:
    with begin(hurried, head) as line:
        said = told(line)
    assert said.startswith(b"HTTP/1.1 408 ") and b'"code":"timeout"' in said and b'"request_id"' in said
    assert idle(hurried)
    assert uploads(hurried.settings) == {}


@pytest.mark.parametrize("head", [JSON, FORM], ids=["body", "upload"])
def test_a_trickle_ends_as_silence_does(hurried: Served, head: str) -> None:
    with begin(hurried, head) as line:
        line.settimeout(0.1)
        begun, said = time.monotonic(), b""
        while not said and time.monotonic() - begun < 10:
            line.sendall(b"x")
            try:
                said = line.recv(65_536)
            except TimeoutError:
                continue
    assert said.startswith(b"HTTP/1.1 408 ") and time.monotonic() - begun < 5


@pytest.mark.parametrize("head", [JSON, FORM], ids=["body", "upload"])
def test_who_goes_in_the_middle_is_no_error_of_the_service(
    another: Callable[..., Any], caplog: pytest.LogCaptureFixture, head: str
) -> None:
    caplog.set_level(logging.INFO, "cordon.http")
    with another() as served:
        with begin(served, head):
            time.sleep(0.3)
        assert idle(served)
        time.sleep(0.1)
        metrics = served.service.metrics.text().decode()
    told = [record.told for record in caplog.records if record.msg == "request"]  # type: ignore[attr-defined]
    assert [entry["status"] for entry in told] == [499]
    assert "unexpected" not in [record.msg for record in caplog.records]
    assert 'status="499"' in metrics and 'status="500"' not in metrics


def test_bytes_earn_time_up_to_where_it_began() -> None:
    async def waiting() -> None:
        timeout = SlowClientTimeout(0.2)
        await timeout.wait(asyncio.sleep(0.1))
        assert timeout.left_s <= 0.1
        timeout.earn(BYTES_A_SECOND * 60)
        assert timeout.left_s == 0.2
        await timeout.wait(asyncio.sleep(5))

    with pytest.raises(Problem) as caught:
        asyncio.run(waiting())
    assert caught.value.status == 408


# -- connections --------------------------------------------------------------------------------------------------


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, int]]:
    """A server configured as the service's is, in a hurry, and nothing but "hello" behind it, half of it late."""
    from uvicorn import Server

    from graph.service.http.run import listen
    from graph.service.http.server import configured

    monkeypatch.setattr("graph.service.http.connections.Bounded.wait_s", 0.3)

    async def hello(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/much":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": bytes(MUCH)})
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"10")]})
        await send({"type": "http.response.body", "body": b"hello", "more_body": True})
        await asyncio.sleep(1.2 if scope["path"] == "/late" else 0)
        await send({"type": "http.response.body", "body": b"hello"})

    with listen("127.0.0.1", 0) as listening:
        config = configured(hello)
        config.lifespan = "off"
        server = Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(server._serve([listening])), daemon=True)
        thread.start()
        yield listening.getsockname()[:2]
        server.should_exit = True
        thread.join(10)


@pytest.mark.parametrize(
    "begun",
    [b"", b"GET / HTTP/1.1\r\nX-", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\n\r\n"],
    ids=["nothing", "half-sent headers", "an answer before the body"],
)
def test_a_connection_that_asks_nothing_is_closed_even_if_it_trickles(bounded: tuple[str, int], begun: bytes) -> None:
    since = time.monotonic()
    with socket.create_connection(bounded, timeout=0.1) as line:
        line.sendall(begun)
        while time.monotonic() - since < 5:
            try:
                if begun:
                    line.sendall(b"x")
                if not line.recv(65_536):
                    break
            except TimeoutError:
                continue
            except ConnectionError:
                break
    assert time.monotonic() - since < 4


def test_what_tests_and_measurements_are_served_by_is_configured_so_too(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.http.connections.Bounded.wait_s", 0.3)
    with another() as served:
        host, port = served.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=5) as line:
            assert line.recv(1) == b""


@pytest.mark.parametrize("reads", [False, True])
def test_an_answer_that_nobody_reads_ends_with_its_connection(
    bounded: tuple[str, int], reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.http.connections.Bounded.stuck_s", 0.5)
    got = 0
    with socket.create_connection(bounded, timeout=5) as line:
        line.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        time.sleep(0.2 if reads else 1.5)
        with suppress(ConnectionError):
            while piece := line.recv(2**20):
                got += len(piece)
    assert (got > MUCH) is reads


def test_an_answer_under_way_is_not_cut_however_long_it_takes(bounded: tuple[str, int]) -> None:
    with socket.create_connection(bounded, timeout=5) as line:
        line.sendall(b"GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
        said = told(line)
    assert said.endswith(b"hellohello")
