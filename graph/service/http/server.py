"""The HTTP server itself: how it is set up, and how it stops."""

import asyncio
import logging
import socket
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from graph.service.http.connections import Bounded
from graph.service.http.observe import Draining
from graph.service.http.run import BACKLOG, listening_at

DRAIN_S = 10  # on top of the deadline of a request
log = logging.getLogger("cordon.http")


def configured(app: ASGIApp, cert: str = "", key: str = "") -> uvicorn.Config:
    """`cert` and `key` are PEM files; without a certificate the server speaks plain HTTP."""
    return uvicorn.Config(
        app,
        ssl_certfile=cert or None,
        ssl_keyfile=key or None,
        http=Bounded,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=30,
        backlog=BACKLOG,
    )


class Server(uvicorn.Server):
    """A first signal drains: turns under way end, new ones get 503, and so does /readyz. A second one stops at once."""

    def __init__(self, config: uvicorn.Config, draining: Draining, drain_s: float) -> None:
        super().__init__(config)
        self._draining, self._drain_s = draining, drain_s
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._draining.begun:
            self.force_exit = self.should_exit = True
        elif self._loop is not None:
            self._draining.begun = True
            self._loop.call_soon_threadsafe(self._begin)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        log.info("listening", extra={"told": {"address": listening_at(sockets or [])}})

    def _begin(self) -> None:
        log.info("stopping", extra={"told": {"in_flight": self._draining.in_flight}})
        self._task = asyncio.create_task(self._drain())

    async def _drain(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._draining.drained(), self._drain_s)
        self.should_exit = True
