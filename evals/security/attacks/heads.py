"""Headers that never end, sent without a key: what they cost the service, and how each way of it is answered."""

import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx

from evals.process import memory_mb, served
from evals.security import Row
from evals.serving import small_home

SECONDS = 20.0
MOST_MB = 20.0
_GET = b"GET /livez HTTP/1.1\r\nHost: x\r\n"


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        small_home(Path(folder))
        with served(Path(folder), {}) as (url, pid):
            httpx.get(f"{url}/livez", trust_env=False)
            for name, line in {
                "lines": b"X-%d: a\r\n" * 1_000 % tuple(range(1_000)),
                "one line": b"a" * 65_536,
            }.items():
                before = memory_mb(pid)
                sent, cut = _endless(url, line)
                grown = max(0.0, memory_mb(pid) - before)
                told = f"{grown:.0f} MB more, {cut} connections cut, {sent / 2**20:.0f} MB sent"
                held = grown < MOST_MB and cut > 0
                yield Row(f"endless headers, {name}, for {SECONDS:g} s", told, f"under {MOST_MB:g} MB", held)
            before = memory_mb(pid)
            for _ in range(100):
                with _connected(url) as connection, suppress(OSError):
                    connection.sendall((_GET + b"\r\n") * 6_000)
            grown = max(0.0, memory_mb(pid) - before)
            told = f"{grown:.0f} MB more"
            yield Row("6,000 requests at once on 100 connections", told, f"under {MOST_MB:g} MB", grown < MOST_MB)
            for name, head in {
                "200 KB": b"X: " + b"a" * 200_000 + b"\r\n",
                "20,000 lines": b"X: a\r\n" * 20_000,
            }.items():
                said = _answer(url, _GET + head + b"\r\n")
                yield Row(f"headers of {name}", said, "431", said == "431")


def _endless(url: str, line: bytes) -> tuple[int, int]:
    """(bytes sent, connections that the service ended) of header after header, connection after connection."""
    sent = cut = 0
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with _connected(url) as connection:
            try:
                connection.sendall(_GET + b"X-")
                while time.monotonic() < until:
                    connection.sendall(line)
                    sent += len(line)
            except OSError:
                cut += 1
    return sent, cut


def _answer(url: str, request: bytes) -> str:
    with _connected(url) as connection:
        try:
            connection.sendall(request)
            return connection.recv(65_536).split(b" ")[1].decode()
        except OSError as error:
            return type(error).__name__


def _connected(url: str) -> socket.socket:
    parts = httpx.URL(url)
    return socket.create_connection((parts.host, parts.port or 80), timeout=10)
