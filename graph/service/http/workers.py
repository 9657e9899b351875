"""The threads that answer. Their number is bounded, and so is the line in front of them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from graph.service.http.caller import Caller
from graph.service.http.limits import soon
from graph.service.http.problems import Problem
from graph.settings import Settings

T = TypeVar("T")


class Workers:
    """At most `serve_threads` turns at a time, and `serve_queue` that wait."""

    def __init__(self, settings: Settings) -> None:
        self._threads, self._room = settings.serve_threads, settings.serve_threads + settings.serve_queue
        self._deadline_s = settings.request_s
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="cordon-turn")
        self._inside = 0

    @property
    def waiting(self) -> int:
        """How many turns wait for a thread."""
        return max(0, self._inside - self._threads)

    async def run(self, caller: Caller, work: Callable[[], T]) -> T:
        """The work's result. Raises Problem 503 when the line is full, 504 when the deadline passes.

        Work cannot be stopped half way, and its record must be written: past the deadline, or when the client has
        gone, it goes on, unseen, and still counts as its caller's. The thread inherits no context: neither the
        caller nor LangChain's callbacks, through which a run's inside would show in LangServe's event streams.
        """
        if self._inside >= self._room:
            raise Problem(503, "All threads are busy and the line is full.", code="busy", headers={"Retry-After": "1"})
        self._inside += 1
        loop = asyncio.get_running_loop()
        future = self._pool.submit(work)
        future.add_done_callback(lambda done: soon(loop, self._left))
        caller.ticket.follow(future, loop)
        waited = asyncio.wrap_future(future)
        try:
            return await asyncio.wait_for(asyncio.shield(waited), self._deadline_s)
        except TimeoutError:
            if future.done():
                raise
            raise Problem(504) from None
        finally:
            waited.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, so nobody warns

    def _left(self) -> None:
        self._inside -= 1

    def close(self) -> None:
        """Wait for the work under way; nothing new begins."""
        self._pool.shutdown(wait=True)
