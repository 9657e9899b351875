"""What one connection may send and how long it may take, before any request of it is known.

The parser (httptools) keeps every header line and every line's beginning, without a bound of its own, and the lines
that may follow a chunked body too. And the server's own keep-alive time begins after an answer and ends with the next
byte, so it bounds neither half-sent headers nor what follows an answer that was given before the whole request came.
"""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from graph.service.http.problems import BY_STATUS

WAIT_S = 30.0
HEAD_BYTES, HEAD_LINES = 32 * 1_024, 100  # address and header lines of one request, trailing ones included
AHEAD = 4  # requests that may come before the one in front of them is answered
STUCK_S = 30.0  # in which somebody who does not read must take what waits for them, 48 KB of it
LINGER_S = 1.0  # between the refusal and the end of the connection, which would tear what was not read yet


class _Refused(Exception):
    """Leaves the parser's callback; the server then asks for the answer to a request that cannot be read."""


class Bounded(HttpToolsProtocol):
    """The server's protocol. A request has `wait_s` for its headers, twice that on a connection used before, and is
    refused with 431 when they are more than HEAD_BYTES or HEAD_LINES. An answer that nobody reads ends with its
    connection after `stuck_s`."""

    wait_s, stuck_s = WAIT_S, STUCK_S
    _looking: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None
    _seen: Any  # the last request at the last look
    _size = _lines = 0  # of this request's head
    _unread = 0  # bytes since the last of a body, or the end of a head: a line that has not ended
    _over = _refused = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._seen = self.cycle
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._looking, self._stuck):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = asyncio.get_running_loop().call_later(self.stuck_s, self.transport.abort)

    def resume_writing(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unread += len(data)
        super().data_received(data)
        if self._unread > HEAD_BYTES and not self._refused:
            self._refuse()

    def send_400_response(self, msg: str) -> None:
        if self._over:
            self._refuse()
        else:
            super().send_400_response(msg)

    def on_message_begin(self) -> None:
        self._size = self._lines = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._grown(len(url), 0)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._grown(len(name) + len(value), 1)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._unread = 0
        if len(self.pipeline) >= AHEAD:  # each is kept until its turn, and is far larger here than on the wire
            self._over = True
            raise _Refused
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._unread = 0
        super().on_message_complete()

    def _grown(self, size: int, lines: int) -> None:
        self._size += size
        self._lines += lines
        if self._size > HEAD_BYTES or self._lines > HEAD_LINES:
            self._over = True
            raise _Refused

    def _refuse(self) -> None:
        self._refused = True
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.abort()  # another answer is on its way on this connection: nothing fits between
            return
        code, message = BY_STATUS[431]
        body = json.dumps({"error": {"code": code, "message": message}}).encode()
        head = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(STATUS_LINE[431] + head.encode() + body)
        self.transport.pause_reading()
        asyncio.get_running_loop().call_later(LINGER_S, self.transport.close)

    def _look_later(self) -> None:
        self._looking = asyncio.get_running_loop().call_later(self.wait_s, self._look)

    def _look(self) -> None:
        """Close if there has been no new request since the last look, and none is being answered."""
        idle = self.cycle is None or self.cycle.response_complete
        if idle and self.cycle is self._seen:
            self.transport.close()
            return
        self._seen = self.cycle if idle else None
        self._look_later()
