"""/mcp: the MCP server behind authentication. Every message stands alone: there is no session to take over."""

from typing import Any

from fastapi import FastAPI
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from graph.errors import Forbidden, Unavailable
from graph.service.http import problems
from graph.service.http.bodies import parse, replayed
from graph.service.http.caller import Caller
from graph.service.http.origins import Origins
from graph.service.http.problems import Problem
from graph.service.http.service import Service, outward
from graph.service.mcp import HINT, Tool, build_server

PATH = "/mcp"
METHODS = ["POST"]  # GET would open a stream on which a service without sessions has nothing to say


def mount(app: FastAPI, service: Service) -> None:
    """Add the route; where the package is not installed, it answers 501."""

    async def run(context: Any, name: str, tool: Tool, arguments: Any) -> dict[str, Any]:
        caller = getattr(getattr(context.request, "state", None), "caller", None)
        if not isinstance(caller, Caller) or not caller.may(tool.permission):
            raise Forbidden("this key's role may not do that.")
        words = getattr(arguments, "question", getattr(arguments, "query", ""))
        if len(words) > service.settings.max_question_chars:
            raise Forbidden(f"at most {service.settings.max_question_chars:,} characters can be asked.")
        try:
            result = await service.work(caller, lambda: tool.work(service.agent, caller.principal, arguments))
        except Problem as problem:
            raise Unavailable(problem.message) from problem
        except Unavailable as error:
            raise Unavailable(problems.from_error(error).message) from error
        if name == "ask":
            reply = outward(result)
            service.metrics.turn("mcp", reply)
            return dict(reply)
        return result

    try:
        from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager

        server = build_server(run)
    except (ImportError, Unavailable):
        app.add_api_route(PATH, _absent, methods=METHODS, include_in_schema=False)
        return
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=service.settings.max_body_kb * 1_024
    )
    door = Door(StreamableHTTPASGIApp(manager), Origins(service.settings))
    app.router.routes.append(Route(PATH, door, methods=METHODS, include_in_schema=False))
    app.state.enter.append(manager.run)


class Door:
    """In front of the SDK: checks a browser page's origin, as the protocol asks of a server, and refuses what is no
    message in plain words; the SDK's error would quote it."""

    def __init__(self, app: ASGIApp, origins: Origins) -> None:
        self.app, self.origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from mcp_types import INVALID_REQUEST, jsonrpc_message_adapter

        request = Request(scope, receive)
        address = str((scope.get("server") or ("",))[0])
        if not all(self.origins.known(origin, address) for origin in request.headers.getlist("origin")):
            raise Problem(403, "Pages of this origin may not call here.", code="origin")
        body = await request.body()
        try:
            jsonrpc_message_adapter.validate_python(parse(body), by_name=False)
        except ValidationError:
            error = {"code": INVALID_REQUEST, "message": "The body is not a JSON-RPC 2.0 message."}
            await JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)(scope, receive, send)
            return
        await self.app(scope, replayed(body, receive), send)


async def _absent(request: Request) -> None:
    raise Problem(501, f"The MCP door needs a package that is not installed: {HINT}")
