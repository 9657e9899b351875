"""`cordon serve`: open the home, take the port, answer until told to stop, give the home back.

What an HTTP server needs is imported late, while the fork server (graph/service/processes.py) loads what turns need.
"""

import asyncio
import importlib
import socket
import ssl
import sys
from typing import TYPE_CHECKING

from graph.deps import stores
from graph.errors import BadInput, Unavailable
from graph.service.keys import Keys
from graph.settings import Settings, is_loopback

if TYPE_CHECKING:
    from graph.agent import Agent

BACKLOG = 512


def run(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Raises BadInput or Unavailable, with what to do, when it cannot begin."""
    _guard_host(settings)
    _guard_tls(settings)
    scheme = "https" if settings.tls_cert else "http"
    with listen(settings.serve_host, settings.serve_port) as listening:
        from graph.service.warm import start

        start(settings, models=settings.processes == 1)
        agent = _agent(settings)
        from graph.service.http.app import create_app
        from graph.service.http.observe import log_to_stderr
        from graph.service.http.server import DRAIN_S, Server, configured

        app, inner = create_app(agent)
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
    from graph.deps import Deps

    deps = Deps(settings, serves=True)
    if settings.processes == 1:
        from graph.agent import Agent

        return Agent(deps=deps)
    from graph.service.processes import ForkServer, Processes
    from graph.tracing import refuse_uninvited

    refuse_uninvited(settings)  # before the processes inherit the environment
    server = ForkServer(settings, deps.lock.files)
    importlib.import_module("graph.service.http.app")  # a second's work, while the fork server does its own
    from graph.agent import Agent

    return Agent(deps=deps, runner=Processes(settings, deps.lock.files, settings.processes, server))


def _guard_host(settings: Settings) -> None:
    """Beyond loopback only with a key to ask for: an open port that nobody can use yet is a mistake."""
    if is_loopback(settings.serve_host) or settings.jwt_public_key or settings.oidc_issuer:
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
    """A socket that takes connections already. Raises BadInput for an address that is not this machine's, Unavailable
    for a port that is taken."""
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
    """HOST:PORT of the first socket; an IPv6 address in brackets."""
    host, port = sockets[0].getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
