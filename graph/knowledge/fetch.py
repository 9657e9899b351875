"""Fetching a page that a user names, without being led to an address inside.

The name is resolved once, every address it has is checked, and the connection goes to a checked address, so that a
second answer of the name server changes nothing. Each redirect is checked the same way. Written on http.client,
because the time limit must hold for the whole, headers that come byte by byte included.
"""

import contextlib
import http.client
import ipaddress
import queue
import re
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from urllib.parse import SplitResult, quote, unquote, urljoin, urlsplit

from graph.errors import DocumentError
from graph.knowledge.addresses import is_public
from graph.knowledge.loaders import CONTAINERS, FORMATS, PICTURE

Resolver = Callable[[str, int], Sequence[str]]

PORTS = {"http": 80, "https": 443}
# Media types that can be read, and the extension that their loader goes by.
TYPES = {
    "application/xhtml+xml": ".html",
    "text/x-markdown": ".md",
    **{form.media_type: form.extensions[0] for form in reversed(FORMATS) if form.module not in (*CONTAINERS, PICTURE)},
}
# Types that servers give to what they do not know: there the end of the address says more, if it is one of these.
VAGUE = {
    "text/plain": {".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv"},
    "application/octet-stream": {extension: kind for kind, extension in reversed(TYPES.items())},
}
_CHARSET = re.compile(r"(?:iso-8859-\d+|windows-125\d|utf-16(?:[lb]e)?|shift_jis|gb\w+|big5|euc-\w+|koi8-\w+)", re.I)


@dataclass(frozen=True)
class FetchLimits:
    """Bytes after decompression, seconds for everything together, redirects followed."""

    max_bytes: int = 10 * 2**20
    seconds: float = 20.0
    redirects: int = 5


DEFAULT = FetchLimits()


@dataclass(frozen=True)
class Request:
    """`headers` go to the host that was named, which may be in a private network with `private`, and to no host that it
    redirects to. `types` are as TYPES; None takes every type, as it is. With the `stamp` of a `Fetched` a page that has
    not changed since is not sent."""

    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    types: Mapping[str, str] | None = field(default_factory=lambda: TYPES)
    stamp: str = ""
    private: bool = False

    @property
    def condition(self) -> dict[str, str]:
        """The header that asks for the page only if it has changed since `stamp`; {} without a stamp."""
        kind, _, value = self.stamp.partition(":")
        name = {"etag": "If-None-Match", "date": "If-Modified-Since"}.get(kind)
        return {name: value} if name else {}


PLAIN = Request()


@dataclass(frozen=True)
class Fetched:
    """`data` is decompressed; `filename` has the extension that graph.knowledge.loaders goes by. `stamp` is "" where
    the server has none; where it is still the one that was asked with, `changed` is False and there is no data."""

    url: str
    final_url: str
    media_type: str
    data: bytes
    filename: str
    stamp: str = ""
    changed: bool = True


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, as the system finds them. It also knows the odd forms: 0x7f.1, 2130706433."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def fetch(
    url: str,
    *,
    limits: FetchLimits = DEFAULT,
    allow_private: bool = False,
    resolver: Resolver = resolve,
    request: Request = PLAIN,
) -> Fetched:
    """What is at `url`. `allow_private` allows loopback, local networks and any port: for an operator's own pages.

    Raises DocumentError with the reason "url_forbidden", "url_unreachable", "url_too_large", "url_too_slow",
    "url_type" or "url_status".
    """
    deadline = time.monotonic() + limits.seconds
    place = first = _checked(url)
    for _ in range(limits.redirects + 1):
        at_home = (place.scheme, place.netloc) == (first.scheme, first.netloc)
        addresses = _addresses(place, allow_private or (request.private and at_home), resolver, deadline)
        now = request if at_home else replace(request, headers={})
        result = _Visit(place, addresses, limits, deadline, now).run()
        if isinstance(result, Fetched):
            return replace(result, url=url)
        place = result
    raise DocumentError(
        "url_unreachable",
        f"the address redirects more than {limits.redirects} times",
        hint="give the address of the page itself",
    )


def reachable(url: str, *, seconds: float, allow_private: bool, resolver: Resolver = resolve) -> list[str]:
    """The checked addresses of the host of `url`, for another program to connect to. Raises as `fetch`."""
    return _addresses(_checked(url), allow_private, resolver, time.monotonic() + seconds)


def _forbidden(what: str) -> DocumentError:
    return DocumentError(
        "url_forbidden", f"this address may not be fetched: {what}", hint="give a public http or https address"
    )


def _too_slow() -> DocumentError:
    return DocumentError("url_too_slow", "the page did not come in time", hint="try again, or upload the file")


def _checked(url: str) -> SplitResult:
    """A URL whose form is allowed, with its host in ASCII. Raises DocumentError "url_forbidden"."""
    url = url.strip()
    # What parsers disagree on: other programs read a backslash as a slash and skip control characters.
    if len(url) > 4000 or re.search(r"[\x00-\x20\x7f\\]", url):
        raise _forbidden("it is not a valid address")
    try:
        place = urlsplit(url)
        host = (place.hostname or "").rstrip(".")
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
        port = place.port
    except (ValueError, UnicodeError) as exc:
        raise _forbidden("it is not a valid address") from exc
    if place.scheme not in PORTS:
        raise _forbidden("only http and https are")
    if "@" in place.netloc:
        raise _forbidden("it contains a user name or password")
    if not re.fullmatch(r"[0-9a-f:.]*:[0-9a-f:.]*" if "[" in place.netloc else r"[a-z0-9._-]+", host):
        raise _forbidden("it names no host")
    name = f"[{host}]" if ":" in host else host
    path = quote(place.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(place.query, safe="/?%:@!$&'()*+,;=~-._[]")
    return SplitResult(place.scheme, name if port is None else f"{name}:{port}", path, query, "")


def _addresses(place: SplitResult, allow_private: bool, resolver: Resolver, deadline: float) -> list[str]:
    """The addresses to connect to, all checked: one that is internal forbids them all."""
    port, host = place.port or PORTS[place.scheme], place.hostname or ""
    if not allow_private and port not in PORTS.values():
        raise _forbidden(f"port {port} is not that of a public site")
    try:
        resolved = _within(lambda: resolver(host, port), deadline)
        addresses = [ipaddress.ip_address(text.split("%", 1)[0]) for text in resolved]
    except (OSError, ValueError, UnicodeError) as exc:
        raise DocumentError("url_unreachable", f"there is no host {host!r}", hint="check the spelling") from exc
    if not addresses:
        raise DocumentError("url_unreachable", f"the host {host!r} has no address", hint="check the spelling")
    if not allow_private and not all(map(is_public, addresses)):
        raise _forbidden(f"{host!r} is inside a private network")
    # IPv4 first: many machines have an IPv6 address and no way to reach one.
    return [str(address) for address in sorted(addresses, key=lambda address: address.version)][:4]


def _within(work: Callable[[], Sequence[str]], deadline: float) -> Sequence[str]:
    """The result of `work`, which cannot be interrupted; a thread is left behind when it is late."""
    results: queue.SimpleQueue[Sequence[str] | Exception] = queue.SimpleQueue()

    def run() -> None:
        try:
            results.put(work())
        except Exception as exc:
            results.put(exc)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = results.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        raise _too_slow() from None
    if isinstance(result, Exception):
        raise result
    return result


class _Connection(http.client.HTTPConnection):
    """To an address that was checked, under the name of the host; cut off at the deadline, whatever goes on then."""

    def __init__(self, place: SplitResult, address: str, deadline: float) -> None:
        super().__init__(place.hostname or "", place.port or PORTS[place.scheme])
        self.place, self.address, self.deadline = place, address, deadline
        self.line: socket.socket | None = None  # http.client lets go of `sock` before the body is read
        self.timer = threading.Timer(max(0.0, deadline - time.monotonic()), self.cut)

    def connect(self) -> None:
        left = max(0.01, self.deadline - time.monotonic())
        self.sock = self.line = socket.create_connection((self.address, self.port), timeout=left)
        self.timer.daemon = True
        self.timer.start()
        if self.place.scheme == "https":
            context = ssl.create_default_context()
            secure = context.wrap_socket(self.sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = self.line = secure
            secure.do_handshake()
        if time.monotonic() >= self.deadline:
            raise TimeoutError

    def cut(self) -> None:
        with contextlib.suppress(OSError):  # closed meanwhile
            assert self.line is not None
            # Not SSLSocket.shutdown, which takes the encryption away from under a read in progress.
            socket.socket.shutdown(self.line, socket.SHUT_RDWR)

    def finish(self) -> None:
        """Unlike `close`, which http.client calls as soon as it has the headers."""
        self.timer.cancel()
        self.close()
        if self.line is not None:
            self.line.close()


class _Visit:
    """One request and its answer."""

    def __init__(
        self, place: SplitResult, addresses: list[str], limits: FetchLimits, deadline: float, request: Request
    ) -> None:
        self.place, self.addresses, self.limits, self.deadline = place, addresses, limits, deadline
        self.request = request

    def run(self) -> "Fetched | SplitResult":
        """The page, or where it says it is."""
        connection = response = None
        try:
            connection = self.connect()
            response = self.ask(connection)
            if self.late(None):
                raise TimeoutError  # headers that were cut off read as if they had ended
            if 300 <= response.status < 400 and (target := response.getheader("Location")):
                return _checked(urljoin(self.place.geturl(), target))
            if response.status == 304 and self.request.condition:
                return Fetched("", self.place.geturl(), "", b"", "", self.request.stamp, changed=False)
            if response.status not in (200, 207):
                raise DocumentError(
                    "url_status",
                    f"{self.place.hostname!r} answered {response.status} instead of the page",
                    hint="open it in a browser: it may need a login, or be gone",
                )
            media_type = self.media_type(response)
            data = b"".join(self.body(response))
        except (OSError, http.client.HTTPException, zlib.error, ValueError) as exc:
            if self.late(exc):
                raise _too_slow() from exc
            raise DocumentError(
                "url_unreachable",
                f"{self.place.hostname!r} could not be reached or broke off ({type(exc).__name__})",
                hint="check the address; try again later",
            ) from exc
        finally:
            if response is not None:
                response.close()
            if connection is not None:
                connection.finish()
        if self.late(None):
            raise _too_slow()
        charset = str(response.headers.get_content_charset() or "")
        if self.request.types is not None and media_type.startswith("text/") and _CHARSET.fullmatch(charset):
            data = b"\xef\xbb\xbf" + data.decode(charset, errors="replace").encode()
        etag, date = response.getheader("ETag"), response.getheader("Last-Modified")
        stamp = f"etag:{etag}" if etag else f"date:{date}" if date else ""
        return Fetched("", self.place.geturl(), media_type, data, self.filename(media_type), stamp[:500])

    def late(self, exc: Exception | None) -> bool:
        return isinstance(exc, TimeoutError) or time.monotonic() >= self.deadline

    def connect(self) -> _Connection:
        failure: OSError = OSError()
        for address in self.addresses:
            connection = _Connection(self.place, address, self.deadline)
            try:
                connection.connect()
                return connection
            except OSError as exc:
                connection.finish()
                failure = exc
        raise failure

    def ask(self, connection: _Connection) -> http.client.HTTPResponse:
        path = self.place.path + (f"?{self.place.query}" if self.place.query else "")
        connection.putrequest(self.request.method, path, skip_host=True, skip_accept_encoding=True)
        connection.putheader("Host", self.place.netloc)
        connection.putheader("User-Agent", "cordon")
        connection.putheader("Accept", "*/*" if self.request.types is None else ", ".join(self.request.types))
        connection.putheader("Accept-Encoding", "gzip, deflate")
        connection.putheader("Connection", "close")
        for name, value in {**self.request.headers, **self.request.condition}.items():
            connection.putheader(name, value)
        if self.request.body:
            connection.putheader("Content-Length", str(len(self.request.body)))
        connection.endheaders(self.request.body or None)
        return connection.getresponse()

    def media_type(self, response: http.client.HTTPResponse) -> str:
        declared = response.headers.get_content_type() if response.getheader("Content-Type") else ""
        suffix = PurePosixPath(unquote(self.place.path)).suffix.lower()
        if self.request.types is None:
            return declared
        media_type = VAGUE.get(declared or "application/octet-stream", {}).get(suffix, declared)
        if media_type not in self.request.types:
            raise DocumentError(
                "url_type",
                f"the address leads to {declared or 'something without a type'!r}, which cannot be read",
                hint="give the address of a page, a text, a PDF, an Office file or data",
            )
        return media_type

    def body(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """Decompressed pieces. What is compressed counts too, so that nothing endless is read."""
        encoding = (response.getheader("Content-Encoding") or "identity").strip().lower()
        if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
            raise DocumentError("url_type", f"the page is compressed in an unknown way, {encoding!r}", hint="upload it")
        if (response.length or 0) > self.limits.max_bytes:
            raise self.too_large()
        unpack = None if encoding == "identity" else zlib.decompressobj(47)  # gzip or zlib, whichever it is
        raw = total = 0
        while piece := response.read(2**16):
            raw += len(piece)
            if unpack is not None:
                piece = unpack.decompress(piece, self.limits.max_bytes - total + 1)
            total += len(piece)
            if max(raw, total) > self.limits.max_bytes:
                raise self.too_large()
            yield piece
        if response.length or (unpack is not None and raw and not unpack.eof):
            raise http.client.IncompleteRead(b"")

    def too_large(self) -> DocumentError:
        most = self.limits.max_bytes / 2**20
        return DocumentError("url_too_large", f"the page is larger than {most:g} MiB", hint="upload a part of it")

    def filename(self, media_type: str) -> str:
        name = re.sub(r"[\x00-\x1f/\\]", "-", PurePosixPath(unquote(self.place.path)).name)
        stem = PurePosixPath(name).stem or self.place.hostname or "page"
        return stem[:120] + (self.request.types or {}).get(media_type, "")
