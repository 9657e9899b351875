"""Requests that no client library would send, byte by byte, to every operation: each gets a 2xx or a 4xx, none a 5xx,
and no connection breaks off before its answer.

    python -m evals.security.hostile        a minute or two; also the second half of python -m evals.security.fuzz

What is sent is in tables below: JSON that parsers read differently, bodies that are not what they are announced as,
lengths that lie, headers and names that try to become something else.
"""

import gzip
import http.client
import json
import socket
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Whole bodies. None of them is a request to any door.
BODIES = {
    "nan": b'{"question": NaN}',
    "infinity": b'{"question": -Infinity}',
    "huge": b'{"question": 1e999}',
    "digits": b'{"question": ' + b"9" * 5_000 + b"}",
    "twice": b'{"question": "a b c", "question": "d e f"}',
    "twice, escaped": b'{"question": "a b c", "quest\\u0069on": "d e f"}',
    "surrogate": b'{"question": "\\ud800 half"}',
    "surrogate key": b'{"\\udfff": 1}',
    "deep": b'{"question": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    "deep, unclosed": b"[" * 100_000,
    "latin": '{"question": "caf\xe9"}'.encode("latin-1"),
    "utf-16": '{"question": "x"}'.encode("utf-16"),
    "bom": b'\xef\xbb\xbf{"question": "x y z"}',
    "empty": b"",
    "spaces": b"   ",
    "null": b"null",
    "list": b"[]",
    "string": b'"question"',
    "comment": b'{"question": "x y z" /* tenant */}',
    "trailing": b'{"question": "x y z"} {"tenant": "U2"}',
    "single quotes": b"{'question': 'x y z'}",
    "nul": b'{"question": "\x00"}',
    "bool": b'{"question": true}',
    "nested question": b'{"question": {"$ne": null}}',
}
# JSON texts that stand where the question would.
VALUES = {
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "-Infinity": b"-Infinity",
    "1e400": b"1e400",
    "-1e400": b"-1e400",
    "10**5000": b"1" + b"0" * 5_000,
    "0.1 with 5,000 digits": b"0." + b"1" * 5_000,
    "1e-99999": b"1e-99999",
    "-0": b"-0",
    "2**64": b"18446744073709551616",
    "high surrogate": b'"\\ud800"',
    "low surrogate first": b'"\\udc00\\ud800"',
    "surrogate as bytes": b'"\xed\xa0\x80"',
    "surrogate as key": b'{"\\ud800": 1}',
    "lists 10,000 deep": b"[" * 10_000 + b"]" * 10_000,
    "objects 10,000 deep": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "lists 33 deep": b"[" * 33 + b"]" * 33,
    "duplicate keys": b'{"a": 1, "a": 2}',
    "duplicate keys, deep": b'[[{"a": 1, "b": {"c": 1, "c": 2}}]]',
    "NUL": b'"a\\u0000b"',
    "controls": b'"\\u001c\\u001d\\u001e\\u001f"',
    "bidirectional": b'"\\u202e\\u2066 \\ufeff\\u200b"',
    "noncharacter": b'"\\ufffe\\uffff"',
    "brackets": b'"' + b"[" * 10_000 + b'"',
    "overlong UTF-8": b'"\xc0\xaf"',
    "100,000 characters": b'"' + b"a " * 50_000 + b'"',
    "100,000 combining marks": b'"a' + "\u0301".encode() * 30_000 + b'"',
    "astral": ('"' + "\U0001f9ea" * 2_000 + '"').encode(),
    "raw newline": b'"a\nb"',
    "number": b"7",
    "object": b"{}",
}
_BOMB = gzip.compress(b"[" * 50_000_000, 9)
_PLAIN = b'{"question": "x y z"}'
CONTENT_TYPES = (
    b"text/plain", b"text/html", b"application/x-www-form-urlencoded", b"application/xml", b"application/octet-stream",
    b"multipart/form-data", b"multipart/form-data; boundary=", b"multipart/form-data; boundary=" + b"b" * 10_000,
    b"multipart/mixed; boundary=b", b"application/json, text/plain", b"application/json\xff", b"json", b"", b";;;",
    b"application/json; charset=utf-16", b"application/json; charset=utf-7", b"APPLICATION/JSON",
    b"application/vnd.x+json", b"application/" + b"x" * 20_000,
)  # fmt: skip
ENCODINGS = (b"gzip", b"deflate", b"br", b"zstd", b"gzip, gzip", b"identity, gzip", b"x" * 1_000)
# How long the body says it is, as header lines; the body is b"{}" or nothing.
LENGTHS = (
    b"Content-Length: -1", b"Content-Length: -99999999999999999999", b"Content-Length: 1000000000",
    b"Content-Length: 999999999999999", b"Content-Length: 18446744073709551615",
    b"Content-Length: 18446744073709551616", b"Content-Length: " + b"9" * 1_000, b"Content-Length: +2",
    b"Content-Length: 0x2", b"Content-Length: 1e9", b"Content-Length: 2, 2",
    b"Content-Length: 2\r\nContent-Length: 3", b"Content-Length: 2\r\nContent-Length: 2", b"Content-Length: two",
    b"Content-Length:", b"Content-Length: 2\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding:\x0bchunked",
)  # fmt: skip
CHUNKS = {
    "huge": b"FFFFFFFFFFFFFFFF\r\nx",
    "huge and more": b"F" * 40 + b"\r\nx",
    "negative": b"-1\r\nx\r\n",
    "not a number": b"zz\r\nx\r\n",
    "long extension": b"1;" + b"a" * 100_000 + b"\r\n{\r\n0\r\n\r\n",
    "trailer": b"2\r\n{}\r\n0\r\nAuthorization: Bearer x\r\n\r\n",
    "byte by byte": b"".join(b"1\r\n" + bytes([b]) + b"\r\n" for b in _PLAIN) + b"0\r\n\r\n",
}
# Header lines beside a request that is otherwise sound.
HEADERS = {
    "carriage return": b"X-A: a\rSet-Cookie: crept=in",
    "newline": b"X-A: a\nSet-Cookie: crept=in",
    "folded": b"X-A: a\r\n Set-Cookie: crept=in",
    "NUL": b"X-A: a\x00b",
    "space before the colon": b"X-A : a",
    "no colon": b"X-A",
    "no name": b": a",
    "name in Latin-1": b"X-\xe9: a",
    "value of controls": b"X-A: \x01\x02\x7f",
    "60,000 bytes": b"X-A: " + b"a" * 60_000,
    "200,000 bytes": b"X-A: " + b"a" * 200_000,
    "1,000 of them": b"\r\n".join(b"X-%d: a" % n for n in range(1_000)),
    "request id": b"X-Request-ID: a\r\n\tb",
    "second host": b"Host: elsewhere.example",
    "forwarded": b"X-Forwarded-For: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\nX-Forwarded-Host: a.example",
    "method": b"X-HTTP-Method-Override: DELETE",
    "accept": b"Accept: " + b"a/b;q=" * 1_000,
    "range": b"Range: bytes=-9999999999999999999",
    "expect": b"Expect: 100-continue",
    "expect more": b"Expect: the unexpected",
    "upgrade": b"Connection: Upgrade\r\nUpgrade: websocket",
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk",
    "cookie": b"Cookie: " + b"a=b; " * 1_000,
    "last event": b"Last-Event-ID: \xff\xfe",
    "tenant": b"X-Tenant: U2\r\nX-Tenant-ID: U2\r\nTenant: U2",
    "second key": b"Authorization: Bearer none",
}
IDS = (
    "..", "../..", "%2e%2e", "%2e%2e%2f%2e%2e%2fkeys.db", "..%2f..%2fkeys.db", "..%5c..%5ckeys.db",
    "....//....//etc/passwd", "%252e%252e%252f", "%c0%ae%c0%ae%c0%af", "..%00", "a%00b", "%00",
    "%0d%0aSet-Cookie:%20crept=in", "%0a", "%ff", "%ed%a0%80", "%", "%zz", "a;b", "a?b", "a#b", "*", "~", "-", ".",
    "%20", "%09", "a%2fb", "file:%2f%2f%2fetc%2fpasswd", "%2fetc%2fpasswd", "C:%5cx", "CON", "null", "undefined",
    "%27%20OR%201=1--", "%7b%7b7*7%7d%7d", "${jndi:x}", "a" * 64, "a" * 65, "a" * 3_000, "a" * 60_000, "%e2%80%ae",
    "%f0%9f%a7%aa", "0", "-1", "1e400", "9" * 5_000,
)  # fmt: skip
QUERIES = (
    "day=..%2f", "day=%00", "day=2026-02-30", "limit=-1", "limit=1e400", "limit=" + "9" * 5_000, "limit=NaN",
    "limit=1&limit=2", "config_hash=..%2f..%2f", "config_hash=%ff", "tenant=U2&tenant_id=U2", "%00=%00", "&" * 5_000,
    "a=" * 5_000, "%0d%0aSet-Cookie:%20crept=in",
)  # fmt: skip
LINES = (
    b"GET /livez", b"GET  /livez HTTP/1.1", b"GET /livez HTTP/9.9", b"GET /livez HTTP/0.9", b"GET /livez HTCPCP/1.0",
    b"GET /livez\x00 HTTP/1.1", b"GET \xff HTTP/1.1", b"GET http://elsewhere.example/v1/threads HTTP/1.1",
    b"GET * HTTP/1.1", b"OPTIONS * HTTP/1.1", b"TRACE / HTTP/1.1", b"CONNECT 127.0.0.1:22 HTTP/1.1",
    b"PRI * HTTP/2.0", b"get /livez HTTP/1.1", b"G" * 10_000 + b" / HTTP/1.1",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1", b"GET //livez HTTP/1.1", b"\x16\x03\x01\x02\x00",
    b"GET /v1/documents/..%2f HTTP/1.1\r\nX-A: a",
)  # fmt: skip
_A_FILE = b'Content-Disposition: form-data; name="files"; filename="a.md"'
# The fields of one part of a form.
PARTS = {
    "traversal": b'Content-Disposition: form-data; name="files"; filename="../../../../tmp/crept-in.md"',
    "backslashes": b'Content-Disposition: form-data; name="files"; filename="..\\\\..\\\\crept-in.md"',
    "absolute": b'Content-Disposition: form-data; name="files"; filename="/etc/crept-in.md"',
    "NUL": b'Content-Disposition: form-data; name="files"; filename="a\x00.md"',
    "line break": b'Content-Disposition: form-data; name="files"; filename="a%0d%0aSet-Cookie: crept=in.md"',
    "raw line break": b'Content-Disposition: form-data; name="files"; filename="a\r\nSet-Cookie: crept=in.md"',
    "empty": b'Content-Disposition: form-data; name="files"; filename=""',
    "dots": b'Content-Disposition: form-data; name="files"; filename=".."',
    "long": b'Content-Disposition: form-data; name="files"; filename="' + b"a" * 3_000 + b'.md"',
    "too long": b'Content-Disposition: form-data; name="files"; filename="' + b"a" * 100_000 + b'.md"',
    "Latin-1": b'Content-Disposition: form-data; name="files"; filename="\xe9.md"',
    "surrogate": b'Content-Disposition: form-data; name="files"; filename="\xed\xa0\x80.md"',
    "starred": b"Content-Disposition: form-data; name=\"files\"; filename*=UTF-8''%2e%2e%2fcrept-in.md",
    "starred, unknown": b"Content-Disposition: form-data; name=\"files\"; filename*=nothing''%ff.md",
    "twice": b'Content-Disposition: form-data; name="files"; filename="a.md"; filename="b.md"',
    "two dispositions": _A_FILE + b'\r\nContent-Disposition: form-data; name="x"',
    "none": b"X-A: a",
    "another field": b'Content-Disposition: form-data; name="tenant_id"',
    "attachment": b'Content-Disposition: attachment; name="files"; filename="a.md"',
    "encoded": _A_FILE + b"\r\nContent-Transfer-Encoding: base64",
    "50 headers": _A_FILE + b"\r\n" + b"X: a\r\n" * 49 + b"X: a",
    "nested": _A_FILE + b"\r\nContent-Type: multipart/mixed; boundary=b",
    "unclosed quote": b'Content-Disposition: form-data; name="files"; filename="a.md',
}
# Whole forms of the boundary b.
FORMS = {
    "nothing": b"",
    "only an end": b"--b--\r\n",
    "no end": b"--b\r\n" + _A_FILE + b"\r\n\r\nx",
    "another boundary": b"--c\r\n\r\n--c--\r\n",
    "no blank line": b"--b\r\n" + _A_FILE + b"\r\n--b--\r\n",
    "200 files": (b"--b\r\n" + _A_FILE + b"\r\n\r\nx\r\n") * 200 + b"--b--\r\n",
    "200 boundaries": b"--b\r\n" * 200 + b"--b--\r\n",
    "a text after the end": b"--b\r\n" + _A_FILE + b"\r\n\r\nx\r\n--b--\r\nmore",
    "newlines alone": b'--b\nContent-Disposition: form-data; name="files"; filename="a.md"\n\nx\n--b--\n',
    "a bomb": b"--b\r\n" + _A_FILE + b"\r\n\r\n" + _BOMB + b"\r\n--b--\r\n",
    "zeros": b"\x00" * 10_000,
}  # fmt: skip
# Where the question stands in a sound request, by door.
SOUND = {
    "/v1/ask": b'{"question": %s}',
    "/v1/chat/completions": b'{"model": "cordon", "messages": [{"role": "user", "content": %s}]}',
    "/v1/responses": b'{"model": "cordon", "input": [{"role": "user", "content": %s}]}',
    "/v1/documents/freezers/withheld": b'{"note": %s}',
    "/v1/runs/nothing/feedback": b'{"rating": "right", "why": %s}',
    "/v1/runs/nothing/link": b'{"note": %s}',
    "/v1/appeals": b'{"run_id": "nothing", "note": %s}',
    "/v1/reviews/nothing": b'{"decision": "refuse", "reason": %s}',
    "/agent/invoke": b'{"input": {"question": %s}}',
    "/agent/batch": b'{"inputs": [{"question": %s}]}',
    "/agent/stream": b'{"input": {"question": %s}}',
    "/agent/stream_log": b'{"input": {"question": %s}}',
    "/agent/stream_events": b'{"input": {"question": %s}}',
    "/mcp": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
    b' "params": {"name": "ask", "arguments": {"question": %s}}}',
}
UPLOAD = "/v1/documents"
_WAIT_S = 60
_AT_ONCE = 8


@dataclass(frozen=True)
class Hostile:
    """`must_fail` says that a 2xx would be wrong as well."""

    kind: str
    name: str
    door: str
    request: bytes
    must_fail: bool = False


@dataclass(frozen=True)
class Answer:
    """`status` is 0 when there was none."""

    sent: Hostile
    status: int
    crept: bool

    @property
    def sound(self) -> bool:
        return not self.crept and (400 <= self.status < 500 or (200 <= self.status < 300 and not self.sent.must_fail))


def requests(document: dict[str, Any], key: str) -> Iterator[Hostile]:
    """Everything, for the operations of the OpenAPI document. Raises LookupError for a body nobody described."""
    paths = [path for path, methods in document["paths"].items() if "post" in methods]
    posts = {path.replace("{doc_id}", "freezers").replace("{run_id}", "nothing") for path in paths} | {"/mcp"}
    if posts - set(SOUND) - {UPLOAD}:
        raise LookupError(f"how is {sorted(posts - set(SOUND) - {UPLOAD})} asked?")
    head = b"Authorization: Bearer " + key.encode()
    for door in sorted(posts):
        yield from _bodies(door, head)
        yield from _envelopes(door, head)
    yield from _uploads(head)
    yield from _names(document, head)
    for line in LINES:
        yield Hostile("request line", repr(line[:40]), "-", line + b"\r\nHost: a\r\n" + head + b"\r\n\r\n")


def _bodies(door: str, head: bytes) -> Iterator[Hostile]:
    def made(kind: str, name: str, body: bytes, must_fail: bool = False) -> Hostile:
        return Hostile(kind, name, door, _post(door, head, body), must_fail)

    for name, body in BODIES.items():
        yield made("body", name, body, must_fail=True)
    if door == UPLOAD:
        return
    sound = SOUND[door]
    for name, value in VALUES.items():
        yield made("value", name, sound % value)
        yield made("value beside", name, b'{"beside": ' + value + b", " + (sound % b'"x y z"')[1:])
    for name in ("config", "kwargs", "cordon", "params", "thread_id", "tenant_id", "top_k", "n", "stream", "metadata"):
        for value in (b"null", b"[]", b'{"configurable": {"tenant_id": "U2"}}', b'"x"', b"-1", b"10000000000"):
            yield made("field", name, b'{"%s": %s, ' % (name.encode(), value) + (sound % b'"x y z"')[1:])


def _envelopes(door: str, head: bytes) -> Iterator[Hostile]:
    """The same bodies, announced as something else."""
    body = SOUND.get(door, b"%s") % b'"x y z"'
    for kind in CONTENT_TYPES:
        yield Hostile("content type", repr(kind[:40]), door, _post(door, head, body, kind))
    yield Hostile("content type", "none", door, _post(door, head, body, None))
    yield Hostile("content type", "twice", door, _post(door, head + b"\r\nContent-Type: text/plain", body))
    for encoding in ENCODINGS:
        for name, packed in (("bomb", _BOMB), ("packed", gzip.compress(body)), ("zlib", zlib.compress(body))):
            headers = head + b"\r\nContent-Encoding: " + encoding
            yield Hostile("encoding", f"{encoding[:20]!r} {name}", door, _post(door, headers, packed))
    for length in LENGTHS:
        lines = head + b"\r\nContent-Type: application/json\r\n" + length
        yield Hostile("length", repr(length[:60]), door, _request(b"POST", door, lines, b"{}"))
    chunked = head + b"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked"
    for name, chunks in CHUNKS.items():
        yield Hostile("chunks", name, door, _request(b"POST", door, chunked, chunks))
    for name, lines in HEADERS.items():
        yield Hostile("header", name, door, _post(door, head + b"\r\n" + lines, body))


def _uploads(head: bytes) -> Iterator[Hostile]:
    form = b"multipart/form-data; boundary=b"
    for name, fields in PARTS.items():
        body = b"--b\r\n" + fields + b"\r\n\r\nA line of text.\r\n--b--\r\n"
        yield Hostile("part", name, UPLOAD, _post(UPLOAD, head, body, form))
    for name, body in FORMS.items():
        yield Hostile("form", name, UPLOAD, _post(UPLOAD, head, body, form))


def _names(document: dict[str, Any], head: bytes) -> Iterator[Hostile]:
    """Ids that are paths, and queries, in every operation that has no body."""
    pages: dict[str, Any] = {"/page/{name}": {"get": {}}, "/agent/playground/{file_path}": {"get": {}}}
    for path, methods in {**document["paths"], **pages}.items():
        before, brace, _ = path.partition("{")
        for method in methods:
            if method == "post":
                continue
            for name in IDS if brace else ():
                target = before + name
                yield Hostile("id", name[:40], path, _request(method.upper().encode(), target, head))
            for query in QUERIES:
                target = f"{before}x?{query}" if brace else f"{path}?{query}"
                yield Hostile("query", query[:40], path, _request(method.upper().encode(), target, head))


def _post(door: str, head: bytes, body: bytes, kind: bytes | None = b"application/json") -> bytes:
    lines = head + (b"" if kind is None else b"\r\nContent-Type: " + kind) + b"\r\nContent-Length: %d" % len(body)
    return _request(b"POST", door, lines, body)


def _request(method: bytes, target: str, lines: bytes, body: bytes = b"") -> bytes:
    accept = b"Accept: application/json, text/event-stream"
    return b"%s %s HTTP/1.1\r\nHost: cordon\r\n%s\r\n%s\r\n\r\n" % (method, target.encode(), accept, lines) + body


def send(url: str, hostile: Hostile) -> Answer:
    """What comes back, on a connection of its own. Bytes that the service does not wait for are not sent to the end."""
    at = urlsplit(url)
    try:
        with socket.create_connection((at.hostname, at.port), _WAIT_S) as line:
            with suppress(BrokenPipeError, ConnectionResetError):  # it may answer before all of it has come
                line.sendall(hostile.request)
            found = http.client.HTTPResponse(line, method="GET")
            found.begin()
            crept = found.getheader("Set-Cookie") is not None
            found.read()  # raises where a chunked answer breaks off
            return Answer(hostile, found.status, crept)
    except (OSError, http.client.HTTPException):
        return Answer(hostile, 0, False)


def attack(url: str, key: str, document: dict[str, Any]) -> list[Answer]:
    with ThreadPoolExecutor(_AT_ONCE) as pool:  # some are only answered when the service's patience is over
        return list(pool.map(lambda hostile: send(url, hostile), requests(document, key)))


def table(answers: list[Answer]) -> str:
    """A line per kind, then a line for each answer that should not be."""
    lines = []
    for kind in dict.fromkeys(answer.sent.kind for answer in answers):
        statuses = Counter(answer.status for answer in answers if answer.sent.kind == kind)
        shown = ", ".join(f"{status}: {n:,}" for status, n in sorted(statuses.items()))
        lines.append(f"{kind:13} {statuses.total():6,}   {shown}")
    wrong = [answer for answer in answers if not answer.sound]
    lines += [f"WRONG {a.status} {a.sent.door} {a.sent.kind}: {a.sent.name}{' crept in' * a.crept}" for a in wrong]
    return "\n".join(lines)


def main() -> int:
    import httpx

    from evals.serving import WIDE, serving, small_home
    from graph.settings import load

    with tempfile.TemporaryDirectory() as folder:
        settings = load(environ={}, home=small_home(Path(folder)), out=Path(folder) / "out", artifacts=False, **WIDE)
        with serving(settings) as served:
            document = json.loads(httpx.get(f"{served.url}/openapi.json", trust_env=False).content)
            answers: list[Answer] = []
            for role in ("admin", "member"):
                answers += attack(served.url, served.keys["U1", role], document)
    print(table(answers))
    print(f"{len(answers):,} requests, {sum(not a.sound for a in answers)} answered wrongly")
    return 0 if all(answer.sound for answer in answers) else 1


if __name__ == "__main__":
    sys.exit(main())
