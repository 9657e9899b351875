"""No request without a valid key gets past here, except to the few addresses that hold nothing of anybody.

It stands before routing, so a route that is added later, mounted or generated is behind it too. Keys and limits may lie
in a database: they are looked up in one thread of their own, so that a slow or silent database holds up nobody who
needs neither.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from starlette.types import ASGIApp, Receive, Scope, Send

from graph.context import Principal
from graph.service.http.caller import CALLER, Caller
from graph.service.http.credentials import Credentials
from graph.service.http.limits import Limits, Ticket, soon
from graph.service.http.problems import Problem
from graph.service.http.session_cookie import RequestHead, SessionCookie, person
from graph.stores.sessions import Session

# GET and HEAD of these need no key: whether the service is up, what it understands, and a page that is empty until
# somebody signs in on it. /metrics has a rule of its own.
OPEN = frozenset({"/", "/livez", "/readyz", "/metrics", "/docs", "/openapi.json", "/favicon.ico"}) | {
    "/sign-in", "/sign-in/callback", "/sign-in/ways",
}  # fmt: skip
OPEN_BELOW = "/page/"
BROWSED = "/agent/"  # a browser shows its own log-in box for these: any name, the key as password
WAITING, WAIT_S = 1_000, 30.0  # requests that may wait to be let in, and for how long
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="cordon"'}
_BROWSER_CHALLENGE = {"WWW-Authenticate": 'Basic realm="cordon", charset="UTF-8"'}
_Admission = tuple[str, Principal, Ticket, Session | None] | None


def is_open(method: str, path: str) -> bool:
    """Whether the address needs no key."""
    return method in ("GET", "HEAD") and (path in OPEN or (path.startswith(OPEN_BELOW) and ".." not in path))


class Authentication:
    """Without a session cookie (no sign-in of people) only keys and tokens are taken."""

    def __init__(
        self, app: ASGIApp, credentials: Credentials, limits: Limits, cookie: SessionCookie | None = None
    ) -> None:
        self.app, self.credentials, self.limits, self.cookie = app, credentials, limits, cookie
        self._door = ThreadPoolExecutor(1, thread_name_prefix="cordon-door")
        self._waiting = 0

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
        head = RequestHead(scope["method"], path, scope["scheme"], headers)
        admitted = await self._let_in(head, browsed)
        if admitted is None:
            raise Problem(401, headers=_BROWSER_CHALLENGE if browsed else _CHALLENGE)
        key_id, principal, ticket, session = admitted
        state = scope.setdefault("state", {})
        state["caller"] = caller = Caller(principal, key_id, state["request_id"], ticket, session)
        token = CALLER.set(caller)
        try:
            await self.app(scope, receive, send)
        finally:
            CALLER.reset(token)
            ticket.close()

    async def _let_in(self, head: RequestHead, browsed: bool) -> _Admission:
        if self._waiting >= WAITING:
            raise Problem(503, "Too many requests wait to be let in.", code="busy", headers={"Retry-After": "1"})
        self._waiting += 1
        loop = asyncio.get_running_loop()
        looked_up = self._door.submit(self._look_up, head, browsed)
        looked_up.add_done_callback(lambda done: soon(loop, self._decided))
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(looked_up)), WAIT_S)
        except BaseException as error:
            looked_up.add_done_callback(_give_back)  # nobody waits for it any more
            if isinstance(error, TimeoutError) and not looked_up.done():
                raise Problem(503) from None
            raise

    def _look_up(self, head: RequestHead, browsed: bool) -> _Admission:
        who, session = self.credentials.principal(head.headers, basic=browsed), None
        if who is None and self.cookie is not None and b"authorization" not in head.headers:  # a key wins
            session = self.cookie.session(head)
            who = person(session) if session else None
        if who is None:
            return None
        key_id, principal = who
        ticket = self.limits.enter(key_id, principal.tenant_id)
        leave = ticket.release
        ticket.release = lambda: self._later(leave)
        return key_id, principal, ticket, session

    def _later(self, leave: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the interpreter ends, and the place with it
            self._door.submit(leave)

    def _decided(self) -> None:
        self._waiting -= 1


def _give_back(looked_up: "Future[_Admission]") -> None:
    if not looked_up.cancelled() and looked_up.exception() is None and (admission := looked_up.result()) is not None:
        admission[2].close()
