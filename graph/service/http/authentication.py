"""No request without a valid key gets past here, except to the few addresses that hold nothing of anybody.

It stands before routing, so a route that is added later, mounted or generated is behind it without a word.
"""

from collections import defaultdict

from starlette.types import ASGIApp, Receive, Scope, Send

from graph.service.http.caller import CALLER, Caller
from graph.service.http.credentials import Credentials
from graph.service.http.limits import Limits
from graph.service.http.problems import Problem

# GET and HEAD of these need no key: whether the service is up, what it understands, and a page that is empty until
# somebody signs in on it. /metrics has a rule of its own.
OPEN = frozenset({"/", "/livez", "/readyz", "/metrics", "/docs", "/openapi.json", "/favicon.ico"})
OPEN_BELOW = "/page/"
BROWSED = "/agent/"  # a browser shows its own log-in box for these: any name, the key as password
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="cordon"'}
_BROWSER_CHALLENGE = {"WWW-Authenticate": 'Basic realm="cordon", charset="UTF-8"'}


def is_open(method: str, path: str) -> bool:
    return method in ("GET", "HEAD") and (path in OPEN or (path.startswith(OPEN_BELOW) and ".." not in path))


class Authentication:
    def __init__(self, app: ASGIApp, credentials: Credentials, limits: Limits) -> None:
        self.app, self.credentials, self.limits = app, credentials, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                raise Problem(404)
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, list[bytes]] = defaultdict(list)
        for name, value in scope["headers"]:
            headers[name.lower()].append(value)
        path = scope["path"]
        if is_open(scope["method"], path) and b"authorization" not in headers:
            await self.app(scope, receive, send)
            return
        browsed = path.startswith(BROWSED)
        found = self.credentials.principal(headers, basic=browsed)
        if found is None:
            raise Problem(401, headers=_BROWSER_CHALLENGE if browsed else _CHALLENGE)
        key_id, principal = found
        ticket = self.limits.enter(key_id, principal.tenant_id)
        state = scope.setdefault("state", {})
        state["caller"] = caller = Caller(principal, key_id, state["request_id"], ticket)
        token = CALLER.set(caller)
        try:
            await self.app(scope, receive, send)
        finally:
            CALLER.reset(token)
            ticket.close()
