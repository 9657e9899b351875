"""A connection on which no request is being served is closed after a while, whatever trickles in on it.

The server's own keep-alive time begins after an answer and ends with the next byte, so it bounds neither half-sent
headers nor what follows an answer that was given before the whole request had come.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

WAIT_S = 30.0


class Bounded(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """The server's protocol. A request has `wait_s` for its headers, twice that on a connection used before."""

    wait_s = WAIT_S
    _looking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._seen = self.cycle
        self._look_later()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

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
