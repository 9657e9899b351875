"""LangServe's event streams, with errors reported as the other doors report theirs.

What fails before the first words has its status; what fails later is an error event with its code, and the stream ends.
LangServe by itself says 500 and breaks off. It is done in the route, FastAPI's own place for it, because LangServe
makes its responses itself.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from contextvars import ContextVar
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from graph.errors import CordonError
from graph.service.http import problems
from graph.service.http.peekable_stream import HEARTBEAT_S, PeekableStream
from graph.service.http.problems import Problem

# Set by the runnable when it says its first words. Where there is none, nobody streams.
SPOKEN: ContextVar[asyncio.Event] = ContextVar("cordon_spoken")


class Streams(APIRoute):
    """A route of LangServe whose event stream reports errors as the other doors do."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        if not self.path.rpartition("/")[2].startswith("stream"):
            return handle

        async def begun(request: Request) -> Response:
            spoken = asyncio.Event()
            SPOKEN.set(spoken)
            response = await handle(request)
            stream: Any = response  # LangServe's own kind
            events = PeekableStream(_without_errors(stream.body_iterator))
            stream.body_iterator = _with_error(await _first(events, spoken), events, request.state.request_id)
            return response

        return begun


async def _first(events: PeekableStream[Any], spoken: asyncio.Event) -> list[Any]:
    """What comes up to the first words, but no longer than a stream may be silent. Raises what fails before them."""
    clock = asyncio.get_running_loop().time
    early, until = [], clock() + HEARTBEAT_S
    while not spoken.is_set() and await events.within(until - clock()):
        early.append(await events.next())
    return early


async def _with_error(early: list[Any], events: PeekableStream[Any], request_id: str) -> AsyncIterator[Any]:
    try:
        for event in early:
            yield event
        while True:
            try:
                event = await events.next()
            except StopAsyncIteration:
                return
            yield event
    except (Problem, CordonError) as error:
        problem = problems.from_error(error)
        fields = {"status_code": problem.status, "message": problem.message, "code": problem.code}
        yield {"event": "error", "data": json.dumps({**fields, "request_id": request_id})}
    finally:
        await events.close()


async def _without_errors(events: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """Without LangServe's own error event: the exception that comes after it says what it was."""
    async for event in events:
        if event.get("event") != "error":
            yield event
