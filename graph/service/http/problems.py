"""Errors as they leave: {"error": {"code", "message", "request_id"}}, never upstream text or a traceback."""

import re
from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from graph.errors import (
    BadInput,
    Conflict,
    CordonError,
    Forbidden,
    IndexUnavailable,
    ModelUnavailable,
    NotFound,
    Unavailable,
)

BY_STATUS: dict[int, tuple[str, str]] = {
    400: ("bad_request", "The request cannot be read."),
    401: ("unauthorized", "Send a valid key: Authorization: Bearer cordon_…"),
    403: ("forbidden", "This key's role may not do that."),
    404: ("not_found", "There is nothing under that name."),
    405: ("method_not_allowed", "This address does not take that method."),
    406: ("not_acceptable", "The answer cannot be given in the form that was asked for."),
    408: ("timeout", "The request did not arrive in time."),
    409: ("conflict", "It cannot be done in its present state."),
    411: ("length_required", "Say how long the body is."),
    413: ("too_large", "The body is larger than this service takes."),
    415: ("unsupported_media_type", "Send JSON with Content-Type: application/json."),
    422: ("invalid_request", "The request has a field that does not fit."),
    429: ("rate_limited", "Too many requests. Wait as long as Retry-After says."),
    431: ("head_too_large", "The request's address and headers are more than 32 KB or 100 lines."),
    499: ("client_closed", "The client went away before all of the request had arrived."),
    500: ("internal", "Something unexpected happened. The service's log knows it by the request id."),
    501: ("not_installed", "This door needs a package that is not installed."),
    503: ("unavailable", "Not now. Try again later."),
    504: ("deadline", "It took too long and the answer was not waited for."),
}


# Where OpenAI's clients call. Their errors have a type and say which parameter is meant, and 422 is not among them.
OPENAI = re.compile(r"/v1/(?:chat/completions|responses|models(?:/.*)?)")
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class Problem(Exception):
    """An error with a status, and the parameter it is about. Without a message the status speaks for itself."""

    def __init__(
        self,
        status: int,
        message: str = "",
        *,
        code: str = "",
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status, self.param, self.headers = status, param, dict(headers or {})
        self.code = code or BY_STATUS[status][0]
        self.message = message or BY_STATUS[status][1]


def from_error(error: Problem | CordonError) -> Problem:
    """The problem that a Cordon error becomes. Texts about the state of the machine stay inside."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, NotFound):
        return Problem(404)
    if isinstance(error, Conflict):
        return Problem(409, f"{error} {error.hint}".strip())
    if isinstance(error, BadInput):
        return Problem(400, f"{error} {error.hint}".strip(), code="bad_input")
    if isinstance(error, Forbidden):
        return Problem(403, str(error))
    if isinstance(error, ModelUnavailable):
        return Problem(503, "The language model is not there now.", code="model_unavailable")
    if isinstance(error, IndexUnavailable):
        return Problem(503, "The index is not there now.", code="index_unavailable")
    if isinstance(error, Unavailable):
        return Problem(503)
    return Problem(500)


def outage() -> Problem:
    """For a turn that could not be answered, at the doors that do not send the reply object."""
    return Problem(503, "The model or the index is not there now.")


def invalid(error: RequestValidationError) -> Problem:
    """Where the first fault is and what is wrong, without the value that was sent."""
    first: dict[str, Any] = dict(error.errors()[0])
    place = ".".join(str(part)[:40] for part in first.get("loc", ()) if part != "body")
    fault = "there is no such field" if first.get("type") == "extra_forbidden" else str(first.get("msg", ""))[:200]
    return Problem(422, f"{place or 'the body'}: {fault}.", param=place or None)


def response(problem: Problem, request_id: str) -> JSONResponse:
    """In OpenAI's form at the addresses that OpenAI's clients call."""
    return _ProblemResponse(problem, request_id)


class _ProblemResponse(JSONResponse):
    """404 is the same bytes for everything that is not there, so its body names no request; the header does."""

    def __init__(self, problem: Problem, request_id: str) -> None:
        self.problem, self.error = problem, {"code": problem.code, "message": problem.message}
        if problem.status != 404:
            self.error["request_id"] = request_id
        super().__init__({"error": self.error}, problem.status, headers=problem.headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not OPENAI.fullmatch(scope["path"]):
            await super().__call__(scope, receive, send)
            return
        status = 400 if self.problem.status == 422 else self.problem.status
        fields = {**self.error, "type": openai_type(status), "param": self.problem.param}
        await JSONResponse({"error": fields}, status, headers=self.problem.headers)(scope, receive, send)


def openai_type(status: int) -> str:
    """OpenAI's word for errors of this status."""
    return _OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
