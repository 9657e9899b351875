"""/mcp: the MCP server behind the gate. Every message stands alone, so there is no session that somebody could take."""

from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.routing import Route

from graph.errors import Forbidden, Unavailable
from graph.service.http import problems
from graph.service.http.caller import Caller
from graph.service.http.problems import Problem
from graph.service.http.service import Service, outward
from graph.service.mcp import HINT, Tool, build_server

PATH = "/mcp"
METHODS = ["POST"]  # GET would open a stream on which a service without sessions has nothing to say


def mount(app: FastAPI, service: Service) -> None:
    async def run(context: Any, name: str, tool: Tool, given: Any) -> dict[str, Any]:
        caller = getattr(getattr(context.request, "state", None), "caller", None)
        if not isinstance(caller, Caller) or not caller.may(tool.deed):
            raise Forbidden("this key's role may not do that.")
        words = getattr(given, "question", getattr(given, "query", ""))
        if len(words) > service.settings.max_question_chars:
            raise Forbidden(f"at most {service.settings.max_question_chars:,} characters can be asked.")
        try:
            result = await service.work(caller, lambda: tool.work(service.agent, caller.principal, given))
        except Problem as problem:
            raise Unavailable(problem.message) from problem
        except Unavailable as error:
            raise Unavailable(problems.of(error).message) from error
        if name == "ask":
            service.metrics.turn("mcp", result)
            return outward(result)
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
    app.router.routes.append(Route(PATH, StreamableHTTPASGIApp(manager), methods=METHODS, include_in_schema=False))
    app.state.enter.append(manager.run)


async def _absent(request: Request) -> None:
    raise Problem(501, f"The MCP door needs a package that is not installed: {HINT}")
