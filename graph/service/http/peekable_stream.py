"""Events that can be waited for without giving them up: for a first look before a stream begins, and for heartbeats."""

import asyncio
from collections.abc import AsyncGenerator
from contextvars import copy_context
from typing import Generic, TypeVar

T = TypeVar("T")
HEARTBEAT_S = 10  # a stream is silent for no longer than this


class PeekableStream(Generic[T]):
    """The events of a generator. All of it runs in one context, whichever task waits for the next one."""

    def __init__(self, events: AsyncGenerator[T, None]) -> None:
        self._events, self._context = events, copy_context()
        self._next: asyncio.Task[T] | None = None

    async def within(self, seconds: float | None) -> bool:
        """Whether the next event, or the error in its place, is there by then."""
        if self._next is None:
            self._next = asyncio.get_running_loop().create_task(self._pull(), context=self._context)
        return bool((await asyncio.wait({self._next}, timeout=seconds))[0])

    async def next(self) -> T:
        """The next event. Raises what the generator raises, StopAsyncIteration at its end."""
        await self.within(None)
        assert self._next is not None
        event, self._next = self._next, None
        return event.result()

    async def close(self) -> None:
        """End the generator; an event that nobody took is dropped."""
        if self._next is not None:
            self._next.cancel()
            await asyncio.wait({self._next})
            self._next.cancelled() or self._next.exception()  # seen, so nobody warns
        await self._events.aclose()

    async def _pull(self) -> T:
        return await anext(self._events)
