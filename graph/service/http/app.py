"""The whole service on one screen: routes, and the layers around them from the inside out."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp

from graph.agent import Agent
from graph.errors import CordonError
from graph.service.http import (
    asking,
    audit,
    chat,
    documents,
    health,
    langserve,
    mcp,
    pages,
    pictures,
    problems,
    responses,
    reviewing,
    runs,
    signing_in,
    threads,
)
from graph.service.http.authentication import Authentication
from graph.service.http.bodies import StrictBodies
from graph.service.http.credentials import Credentials
from graph.service.http.methods import Heads, Slashes, allowed
from graph.service.http.observe import Observe
from graph.service.http.openapi import describe
from graph.service.http.service import Service
from graph.service.http.session_cookie import SessionCookie
from graph.service.http.slow_client import BODY_S

UPLOADS = frozenset({"/v1/documents"})
ROUTERS = (
    asking, threads, documents, pictures, runs, reviewing, chat, responses, audit, health, pages, signing_in,
)  # fmt: skip


def create_app(agent: Agent) -> tuple[ASGIApp, FastAPI]:
    """The service to run, and the FastAPI application inside it. `inner.state.service` is what its routes use.

    The service opens the agent's home and closes it when it ends.
    """
    service = Service(agent)
    inner = FastAPI(
        title="Cordon",
        version=version("cordon"),
        description="Answers from your own documents that can be checked. The tenant comes from the key.",
        docs_url=None,
        redoc_url=None,
        lifespan=_lifespan,
        redirect_slashes=False,
    )
    inner.state.service = service
    inner.state.enter = []
    for module in ROUTERS:
        inner.include_router(module.router)
    if service.people is not None:
        inner.include_router(signing_in.at_provider)
    langserve.mount(inner, service)
    mcp.mount(inner, service)
    ours = (problems.Problem, CordonError)
    for kind in (*ours, RequestValidationError, ValidationError, HTTPException, ClientDisconnect, Exception):
        inner.add_exception_handler(kind, _problem_response)
    describe(inner)

    body_s = min(BODY_S, service.settings.request_s)
    app: ASGIApp = StrictBodies(Heads(inner), service.settings.max_body_kb * 1_024, UPLOADS, body_s)
    cookie = SessionCookie(service.settings, service.people.sessions) if service.people else None
    app = Authentication(app, Credentials(service.settings, service.keys), service.limits, cookie)
    if origins := [o.strip() for o in service.settings.cors_origins.split(",") if o.strip()]:
        app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["X-Request-ID", "Retry-After", "Location", "X-Cordon-Page"],
        )
    return Observe(Slashes(app), service.metrics, service.draining), inner


@asynccontextmanager
async def _lifespan(inner: FastAPI) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        inner.state.service.jobs.start()
        for enter in inner.state.enter:  # doors that need a task of their own (MCP)
            await stack.enter_async_context(enter())
        yield


async def _problem_response(request: Request, error: Exception) -> Response:
    request_id = request.state.request_id
    if isinstance(error, problems.Problem):
        problem = error
    elif isinstance(error, CordonError):
        problem = problems.from_error(error)
    elif isinstance(error, RequestValidationError):
        problem = problems.invalid(error)
    elif isinstance(error, ValidationError) and request.url.path.startswith(langserve.PATH):
        problem = problems.Problem(422)  # LangServe checks the inputs of a batch one by one, and lets this out
    elif isinstance(error, ClientDisconnect):
        problem = problems.Problem(499)
    elif isinstance(error, HTTPException):
        known = error.status_code if error.status_code in problems.BY_STATUS else 500
        methods = {"Allow": allowed(request.app.routes, request.url.path)} if known == 405 else {}
        problem = problems.Problem(known, headers={**(error.headers or {}), **methods})
    else:
        problem = problems.Problem(500)
    return problems.response(problem, request_id)
