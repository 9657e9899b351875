"""JSON bodies, read once for every door and held to RFC 8259 where parsers differ.

Two parsers that read one body differently are a way round a check, so what they could differ about is refused: keys
given twice, NaN and Infinity, lone surrogates, numbers that no double holds, deep nesting.
"""

import json
import math
import re
from typing import Any, NoReturn

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.service.http.problems import Problem
from graph.service.http.slow_client import BODY_S, SlowClientTimeout

MAX_DEPTH = 32
MAX_DIGITS = 20
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.S)
_BRACKET = re.compile(rb"[\[\]{}]")
_JSON = re.compile(r"application/(?:[\w.-]+\+)?json", re.I)


def parse(data: bytes) -> Any:
    """The value of a JSON text. Raises Problem 400 saying what is wrong with it."""
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", data)):
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            raise _bad(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        text = data.decode("utf-8")
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_whole, parse_float=_real
        )
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeDecodeError:
        raise _bad("it is not UTF-8") from None
    except UnicodeEncodeError:
        raise _bad("it holds half of a surrogate pair") from None
    except (ValueError, RecursionError):
        raise _bad("it is not JSON") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _bad("a key is given twice")
    return value


def _constant(name: str) -> NoReturn:
    raise _bad(f"{name} is not a JSON number")


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _bad("a number is too large")
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits) if len(digits) <= 64 else math.inf
    if not math.isfinite(value):
        raise _bad("a number is too large or too long")
    return value


def _bad(why: str) -> Problem:
    return Problem(400, f"The body cannot be used: {why}.", code="bad_json")


class StrictBodies:
    """ASGI: reads the whole body of a request that is not an upload, checks it and hands it on unchanged.

    A body that is not announced as JSON gets 415: this also keeps a foreign page from sending one without the
    browser asking first. Uploads pass, and are limited where they are written to disk.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, uploads: frozenset[str], body_s: float = BODY_S) -> None:
        self.app, self.max_bytes, self.uploads, self.body_s = app, max_bytes, uploads, body_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        _announced(scope["headers"])
        if scope["method"] == "POST" and scope["path"] in self.uploads:
            await self.app(scope, receive, send)
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 15 or int(length) > self.max_bytes:
            raise self._too_large()
        parts: list[bytes] = []
        size, more, timeout = 0, True, SlowClientTimeout(self.body_s)
        while more:
            message = await timeout.wait(receive())
            if message["type"] == "http.disconnect":
                raise Problem(499)
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            timeout.earn(len(parts[-1]))
            if size > self.max_bytes:
                raise self._too_large()
            more = message.get("more_body", False)
        body = b"".join(parts)
        if body:
            kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip()
            if not _JSON.fullmatch(kind):
                raise Problem(415)
            parse(body)
        elif scope["method"] == "POST":
            raise _bad("it is empty")

        await self.app(scope, replayed(body, receive), send)

    def _too_large(self) -> Problem:
        return Problem(413, f"A body is at most {self.max_bytes // 1_024:,} KB.")


def _announced(headers: list[tuple[bytes, bytes]]) -> None:
    """Raises Problem for a body that two readers would read differently, or that is packed."""
    if sum(name == b"content-type" for name, _ in headers) > 1:
        raise Problem(400, "Content-Type is given twice.")
    for name, value in headers:
        packed = value.decode("latin-1").strip().lower()
        if name == b"content-encoding" and packed not in ("", "identity"):
            shown = "".join(c for c in packed[:40] if c.isascii() and c.isprintable())
            message = f"Content-Encoding {shown!r} is not taken: send the body as it is."
            raise Problem(415, message, headers={"Accept-Encoding": "identity"})


def replayed(body: bytes, receive: Receive) -> Receive:
    """A receive function that gives a body, which was read already, once more; then what `receive` gives."""
    sent = False

    async def replay() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
