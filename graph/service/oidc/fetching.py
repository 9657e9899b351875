"""Requests to the provider: bounded in bytes and seconds, uncompressed, without a proxy."""

import ssl
import time

import httpx2

MOST_BYTES = 256 * 1_024  # of a response: the largest, keys with certificates, are a tenth of it
WHOLE_S = 10.0
_STEP_S = 5.0  # to connect, and without a byte


class Unfetched(Exception):
    """No whole answer came. The text names the address, and nothing that was sent."""


class Bounded(httpx2.BaseTransport):
    """Raises Unfetched. Proxies of the environment are not used."""

    def __init__(self, trusted: ssl.SSLContext) -> None:
        self._inner = httpx2.HTTPTransport(verify=trusted, trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        address = str(request.url.copy_with(query=None))
        request.headers["Accept-Encoding"] = "identity"
        request.extensions["timeout"] = dict.fromkeys(("connect", "read", "write", "pool"), _STEP_S)
        until = time.monotonic() + WHOLE_S
        try:
            response = self._inner.handle_request(request)
            try:
                body = _read(response, until, address)
            finally:
                response.close()
        except (httpx2.HTTPError, OSError) as error:
            raise Unfetched(f"{address} cannot be reached ({type(error).__name__})") from error
        headers = {"content-type": response.headers.get("content-type", "")}
        return httpx2.Response(response.status_code, headers=headers, content=body)

    def close(self) -> None:
        self._inner.close()


def _read(response: httpx2.Response, until: float, address: str) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise Unfetched(f"{address} answered packed")
    parts, size = [], 0
    assert isinstance(response.stream, httpx2.SyncByteStream)
    for part in response.stream:
        size += len(part)
        if size > MOST_BYTES:
            raise Unfetched(f"{address} answered with more than {MOST_BYTES:,} bytes")
        if time.monotonic() > until:
            raise Unfetched(f"{address} took more than {WHOLE_S:g} seconds")
        parts.append(part)
    return b"".join(parts)
