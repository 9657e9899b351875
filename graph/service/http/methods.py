"""What HTTP asks of every address: HEAD wherever GET is, a last slash that does not matter, a whole Allow header."""

from collections.abc import Iterator
from typing import Any

from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PLAYGROUND = "/agent/playground"  # its page asks for its files beside itself, so the slash must stand in the browser


class Slashes:
    """ASGI: `/v1/threads/` is `/v1/threads`. It stands before authentication, so that all layers see one address."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] == "http" and path == PLAYGROUND:
            await RedirectResponse(PLAYGROUND + "/", 308)(scope, receive, send)  # without a host: none is trusted
            return
        if scope["type"] == "http" and path.endswith("/") and path != "/" and not path.startswith(PLAYGROUND):
            scope["path"] = path[:-1]
        await self.app(scope, receive, send)


class Heads:
    """ASGI: HEAD is answered as GET; the server leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        as_get = {**scope, "method": "GET"}  # a copy: the server looks at its own to know that no body is wanted
        try:
            await self.app(as_get, receive, send)
        finally:
            scope["route"] = as_get.get("route")  # for the log


def allowed(routes: Any, path: str) -> str:
    """The methods of an address, for the header Allow. The router itself names those of its first route alone."""
    methods = {method for route in _flat(routes) if route.path_regex.match(path) for method in route.methods or ()}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


def _flat(routes: Any) -> Iterator[Any]:
    for route in routes:
        inside = getattr(route, "original_router", None)
        yield from _flat(inside.routes) if inside is not None else [route]
