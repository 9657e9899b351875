"""Who sends slowly, or stops in the middle: the place is given back, the service says so, and it is nobody's error."""

import asyncio
import logging
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from evals.serving import Served
from graph.service.http.patience import BYTES_A_SECOND, Patience
from graph.service.http.problems import Problem

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
    while served.service.limits._busy and time.monotonic() < deadline:
        time.sleep(0.02)
    return not served.service.limits._busy


@pytest.mark.parametrize("head", [JSON, FORM], ids=["body", "upload"])
def test_what_is_half_sent_ends_with_408_and_leaves_nothing(hurried: Served, head: str) -> None:
    with begin(hurried, head) as line:
        said = told(line)
    assert said.startswith(b"HTTP/1.1 408 ") and b'"code":"timeout"' in said and b'"request_id"' in said
    assert idle(hurried)
    assert [p for p in (hurried.settings.home / "uploads").rglob("*") if p.is_file()] == []


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
        patience = Patience(0.2)
        await patience.wait(asyncio.sleep(0.1))
        assert patience.left_s <= 0.1
        patience.earn(BYTES_A_SECOND * 60)
        assert patience.left_s == 0.2
        await patience.wait(asyncio.sleep(5))

    with pytest.raises(Problem) as caught:
        asyncio.run(waiting())
    assert caught.value.status == 408
