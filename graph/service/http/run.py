"""`cordon serve`: open the home, take the port, answer until told to stop, give the home back."""

import asyncio
import ipaddress
import logging
import socket
import ssl
import sys
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from starlette.types import ASGIApp

from graph.deps import stores
from graph.errors import BadInput, Unavailable
from graph.service.http.connections import Bounded
from graph.service.http.observe import Draining, log_to_stderr
from graph.service.keys import Keys
from graph.settings import Settings

if TYPE_CHECKING:
    from graph.agent import Agent

DRAIN_S = 10  # on top of the deadline of a request
BACKLOG = 512
log = logging.getLogger("cordon.http")


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Raises BadInput or Unavailable, with what to do, when it cannot begin."""
    _guard_host(settings)
    _guard_tls(settings)
    scheme = "https" if settings.tls_cert else "http"
    with listen(settings.serve_host, settings.serve_port) as listening:
        from graph.service.warm import start

        start(settings, models=settings.processes == 1)
        from graph.service.http.app import create_app

        app, inner = create_app(_agent(settings))
        service = inner.state.service
        try:
            log_to_stderr()
            print(f"Cordon listens on {scheme}://{listening_at([listening])}", file=sys.stderr, flush=True)
            server = Server(
                configured(app, settings.tls_cert, settings.tls_key), service.draining, settings.request_s + DRAIN_S
            )
            asyncio.run(server.serve(sockets=[listening]))
        finally:
            service.close()


def _agent(settings: Settings) -> "Agent":
    """An agent whose turns run in processes of their own, when there is more than one core."""
    from graph.agent import Agent
    from graph.deps import Deps

    deps = Deps(settings, serves=True)
    if settings.processes == 1:
        return Agent(deps=deps)
    from graph.service.processes import Processes
    from graph.tracing import refuse_uninvited

    refuse_uninvited(settings)  # before the processes inherit the environment
    return Agent(deps=deps, runner=Processes(settings, deps.lock.files, settings.processes))


def configured(app: ASGIApp, cert: str = "", key: str = "") -> uvicorn.Config:
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


def _guard_host(settings: Settings) -> None:
    """Beyond loopback only with a key to ask for: an open port that nobody can use yet is a mistake."""
    try:
        near = settings.serve_host == "localhost" or ipaddress.ip_address(settings.serve_host).is_loopback
    except ValueError:
        near = False
    if near or settings.jwt_public_key or settings.oidc_issuer:
        return
    keys = Keys(stores(settings).keys)
    try:
        if not keys.exist():
            raise BadInput(
                f"there is no key yet, and {settings.serve_host} can be reached from outside.",
                hint="Make one first: cordon keys add --tenant T",
            )
    finally:
        keys.close()


def _guard_tls(settings: Settings) -> None:
    if not settings.tls_cert and not settings.tls_key:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key or None)
    except OSError as error:  # SSLError is one
        raise BadInput(
            f"the certificate and its key cannot be used ({error.strerror or error}).",
            hint="CORDON_TLS_CERT and CORDON_TLS_KEY name PEM files that belong together.",
        ) from error


def listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise BadInput(f"{host!r} is no address of this machine.", hint="--host 127.0.0.1 is the default.") from error
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.set_inheritable(False)
    except OSError as error:
        listening.close()
        raise Unavailable(
            f"port {port} of {host} cannot be taken ({error.strerror}).", hint="Choose another one with --port."
        ) from error
    return listening


def listening_at(sockets: list[socket.socket]) -> str:
    host, port = sockets[0].getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


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
