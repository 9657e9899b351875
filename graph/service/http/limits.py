"""How often and how much at once, for a key and for all keys of a tenant."""

import asyncio
import math
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graph.service.http.problems import Problem
from graph.settings import Settings
from graph.stores.limits import Allowance, Counters


@dataclass
class Ticket:
    """The right to be served. Given back once, when the answer is out and the work behind it has ended."""

    release: Callable[[], None]
    pending: int = 1

    def follow(self, work: "Future[Any]", loop: asyncio.AbstractEventLoop) -> None:
        """The place is taken until this work has ended, whether or not anybody still waits for it."""
        self.pending += 1
        work.add_done_callback(lambda done: soon(loop, self.close))

    def close(self) -> None:
        """One of those that hold the place is done; the last one gives it back."""
        self.pending -= 1
        if self.pending == 0:
            self.release()


def soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call it on the loop, from another thread. A loop that is closed has nobody left to tell."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


class Limits:
    """The stores count: services on one database share what is counted."""

    def __init__(self, settings: Settings, counters: Counters) -> None:
        self._settings, self._counters = settings, counters

    def enter(self, key: str, tenant: str) -> Ticket:
        """Raises Problem 429 with Retry-After (seconds)."""
        to = self._settings
        taken = [
            Allowance("key", key, to.key_rate, to.key_concurrency),
            Allowance("tenant", tenant, to.tenant_rate, to.tenant_concurrency),
        ]
        refusal = self._counters.enter(taken)
        if refusal is None:
            return Ticket(lambda: self._counters.leave(taken))
        if refusal.wait_s:
            raise Problem(429, headers={"Retry-After": str(math.ceil(refusal.wait_s))})
        raise Problem(429, f"Too many requests of this {refusal.kind} at the same time.", headers={"Retry-After": "1"})
