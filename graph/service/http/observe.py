"""The outermost layer: a request id, security headers, one line in the log, and nothing unexpected gets out."""

import asyncio
import json
import logging
import sys
import time
import uuid
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graph.context import key_of
from graph.errors import CordonError
from graph.service.http import problems
from graph.service.http.metrics import Metrics
from graph.timestamps import timestamp

_GRACE_S = 0.3
log = logging.getLogger("cordon.http")
CSP = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# LangServe's playground is a page of its makers, with a script inside the page.
_PLAYGROUND_CSP = CSP.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'").replace(
    "style-src 'self'", "style-src 'self' 'unsafe-inline'"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
)


class Draining:
    """Set when the service is told to stop: turns in flight end, new ones are refused."""

    def __init__(self) -> None:
        self.begun = False
        self.in_flight = 0

    async def drained(self) -> None:
        """Nothing is in flight, and whoever asks /readyz has had a moment to see that this one is going."""
        await asyncio.sleep(_GRACE_S)
        while self.in_flight:
            await asyncio.sleep(0.02)


class Observe:
    """ASGI: the outermost layer."""

    def __init__(self, app: ASGIApp, metrics: Metrics, draining: Draining) -> None:
        self.app, self.metrics, self.draining = app, metrics, draining

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        request_id, begun, status, whole = uuid.uuid4().hex, time.perf_counter(), 0, False
        scope.setdefault("state", {})["request_id"] = request_id

        async def decorated(message: Message) -> None:
            nonlocal status, whole
            whole = message["type"] == "http.response.body" and not message.get("more_body", False)
            if message["type"] == "http.response.start":
                status = message["status"]
                message = {**message, "headers": _decorated(scope["path"], message["headers"], request_id)}
            await send(message)

        self.draining.in_flight += 1
        try:
            if self.draining.begun and scope["path"] not in ("/livez", "/readyz", "/metrics"):
                raise problems.Problem(
                    503, "The service is stopping.", headers={"Retry-After": "5", "Connection": "close"}
                )
            await self.app(scope, receive, decorated)
        except Exception as error:
            problem = _problem(error, request_id)
            if not status:
                await problems.response(problem, request_id)(scope, receive, decorated)
            elif not whole:  # half an answer is out: cut it, so that it does not look whole
                status = problem.status
                raise TruncatedResponse() from None
        finally:
            self.draining.in_flight -= 1
            if scope["type"] == "http":
                self._tell(scope, request_id, status, (time.perf_counter() - begun) * 1_000)

    def _tell(self, scope: Scope, request_id: str, status: int, spent_ms: float) -> None:
        route = getattr(scope.get("route"), "path", "") or ("/mcp" if scope["path"].startswith("/mcp") else "-")
        caller = scope["state"].get("caller")
        self.metrics.request(scope["method"], route, status, spent_ms)
        log.info(
            "request",
            extra={
                "told": {
                    "request_id": request_id,
                    "method": scope["method"][:10],
                    "route": route,
                    "status": status,
                    "ms": round(spent_ms, 1),
                    "tenant": key_of("log", caller.principal.tenant_id)[:12] if caller else "",
                    "key": caller.key_id if caller else "",
                }
            },
        )


class TruncatedResponse(RuntimeError):
    """The answer broke off after its first bytes; the server closes the connection."""


def _problem(error: Exception, request_id: str) -> problems.Problem:
    if isinstance(error, problems.Problem):
        return error
    if isinstance(error, CordonError):
        return problems.from_error(error)
    if isinstance(error, HTTPException):
        return problems.Problem(error.status_code if error.status_code in problems.BY_STATUS else 500)
    # The text of an unexpected error may quote a document, so the log gets its type and its place in our code alone.
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f"{frame.tb_frame.f_globals.get('__name__')}:{frame.tb_lineno}" if frame is not None else ""
    log.error("unexpected", extra={"told": {"request_id": request_id, "error": type(error).__name__, "where": where}})
    return problems.Problem(500)


def _decorated(path: str, headers: Any, request_id: str) -> list[tuple[bytes, bytes]]:
    own = [(name, value) for name, value in headers if name.lower() != b"server"]
    names = {name.lower() for name, _ in own}
    csp = _PLAYGROUND_CSP if "/playground" in path else CSP
    added = [*_HEADERS, (b"content-security-policy", csp.encode()), (b"x-request-id", request_id.encode())]
    if b"cache-control" not in names:
        added.append((b"cache-control", b"no-store"))
    return own + [(name, value) for name, value in added if name not in names]


class JsonLines(logging.Formatter):
    """One JSON object a line. No traceback and no arguments of foreign loggers: both may quote content."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "told", None)
        entry: dict[str, Any] = {
            "time": timestamp(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "event": record.msg if isinstance(record.msg, str) else type(record.msg).__name__,
        }
        if record.exc_info and record.exc_info[0] is not None:
            entry["error"] = record.exc_info[0].__name__
        if isinstance(fields, dict):
            entry |= fields
        else:
            entry["logger"] = record.name
        return json.dumps(entry, ensure_ascii=True)


def log_to_stderr() -> None:
    """JSON lines alone, from INFO for the service and from WARNING for all else; other handlers are dropped."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    log.setLevel(logging.INFO)
