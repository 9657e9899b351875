"""Headers without an end, without a key: refused before anything of them is kept."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from evals.serving import Served
from graph.service.http.connections import AHEAD, HEAD_BYTES, HEAD_LINES

GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"POST /v1/ask HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def address(served: Served) -> tuple[str, int]:
    host, port = served.url.removeprefix("http://").split(":")
    return host, int(port)


def told(line: socket.socket) -> bytes:
    """All that comes until the service closes the connection, whether or not it had read all that was sent."""
    said = b""
    with suppress(ConnectionResetError):
        while piece := line.recv(65_536):
            said += piece
    return said


def answer(served: Served, request: bytes) -> bytes:
    with socket.create_connection(address(served), timeout=20) as line:
        line.sendall(request)
        return told(line)


def refused(said: bytes) -> bool:
    return said.startswith(b"HTTP/1.1 431 ") and b"connection: close" in said and b'"head_too_large"' in said


def lines(count: int, size: int = 0) -> bytes:
    return b"".join(b"X-%05d: %s\r\n" % (n, b"a" * size) for n in range(count))


@pytest.mark.parametrize(
    "head",
    [
        GET + lines(HEAD_LINES) + b"\r\n",
        GET + lines(60, 600) + b"\r\n",
        GET + b"X: " + b"a" * HEAD_BYTES + b"\r\n\r\n",
        GET + b"X: " + b"a" * (HEAD_BYTES + 1),
        GET + b"X" * (HEAD_BYTES + 1),
        b"GET /livez?" + b"a" * HEAD_BYTES + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * (HEAD_BYTES + 1),
    ],
    ids=["lines", "bytes", "one line", "a line's beginning", "a name", "an address", "half an address"],
)
def test_a_head_over_the_bound_is_431_and_the_connection_ends(served: Served, head: bytes) -> None:
    assert refused(answer(served, head))


def test_a_later_head_on_the_same_connection_is_held_to_it_too(served: Served) -> None:
    with socket.create_connection(address(served), timeout=20) as line:
        line.sendall(GET + b"\r\n")
        assert b"HTTP/1.1 200 " in line.recv(65_536)
        time.sleep(0.2)  # the answer's end may come apart from its beginning
        line.sendall(GET + lines(20_000))
        said = told(line)
    assert refused(said[said.index(b"HTTP/1.1 431") :])


def test_a_head_within_the_bound_is_answered(served: Served) -> None:
    with socket.create_connection(address(served), timeout=20) as line:
        line.sendall(GET + lines(HEAD_LINES - 1, 200) + b"\r\n")
        assert line.recv(65_536).startswith(b"HTTP/1.1 200 ")
        line.sendall(GET + b"Connection: close\r\n" + lines(HEAD_LINES - 2, 200) + b"\r\n")
        assert b"HTTP/1.1 200 " in told(line)  # each request has the whole of it


def endless() -> Iterator[bytes]:
    while True:
        yield lines(1_000)


def one_line() -> Iterator[bytes]:
    yield b"X: "
    while True:
        yield b"a" * 65_536


@pytest.mark.parametrize("begun", [GET, CHUNKED + b"0\r\n", CHUNKED + b"2;"], ids=["headers", "trailers", "extension"])
@pytest.mark.parametrize("more", [endless, one_line], ids=["lines", "one line"])
def test_what_never_ends_is_cut_off_soon(served: Served, begun: bytes, more: Callable[[], Iterator[bytes]]) -> None:
    since, sent = time.monotonic(), 0
    with socket.create_connection(address(served), timeout=20) as line:
        try:
            line.sendall(begun)
            for piece in more():
                line.sendall(piece)
                sent += len(piece)
                assert time.monotonic() - since < 10
        except ConnectionError:
            pass
    assert sent > 0


def test_a_long_body_in_small_pieces_is_no_head(served: Served) -> None:
    body = b'{"question": "' + b"a" * 9_000 + b'"}'
    key = served.keys["U1", "admin"].encode()
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    head = CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\nAuthorization: Bearer " + key + b"\r\n\r\n")
    assert answer(served, head + pieces + b"0\r\n\r\n").startswith(b"HTTP/1.1 4")  # read whole, and no length told


def test_requests_that_come_before_the_first_is_answered_are_bounded(served: Served) -> None:
    """Each is kept until its turn, and is far larger there than on the wire."""
    with socket.create_connection(address(served), timeout=20) as line:
        line.sendall((GET + b"\r\n") * (AHEAD + 1))
        line.settimeout(1)
        said = b""
        with suppress(TimeoutError):
            while piece := line.recv(65_536):
                said += piece
        assert said.count(b"HTTP/1.1 200 ") == AHEAD + 1
    said = answer(served, (GET + b"\r\n") * 5_000)
    assert said.count(b"HTTP/1.1 200 ") <= AHEAD + 1
