"""How often and how much at once, for a key and for all keys of a tenant. All of it runs on the event loop."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from graph.service.http.problems import Problem
from graph.settings import Settings

_KEPT = 10_000  # buckets; full ones are forgotten beyond that


@dataclass
class Bucket:
    """Tokens flow in at `per_minute` and stand at most a minute's worth high: a page that loads, a job that is polled
    and a script that lists things ask in bursts."""

    per_minute: int
    level: float
    at: float

    def wait_s(self, now: float) -> float:
        """0 after taking a token, else the seconds until there is one."""
        self.level = min(self.per_minute, self.level + (now - self.at) * self.per_minute / 60)
        self.at = now
        if self.level >= 1:
            self.level -= 1
            return 0
        return (1 - self.level) * 60 / self.per_minute


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
        self.pending -= 1
        if self.pending == 0:
            self.release()


def soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call it on the loop, from another thread. A loop that is closed has nobody left to tell."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)


class Limits:
    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._rates = {"key": settings.key_rate, "tenant": settings.tenant_rate}
        self._widths = {"key": settings.key_concurrency, "tenant": settings.tenant_concurrency}
        self._buckets: dict[tuple[str, str], Bucket] = {}
        self._busy: dict[tuple[str, str], int] = defaultdict(int)

    def enter(self, key: str, tenant: str) -> Ticket:
        """Raises Problem 429 with Retry-After (seconds)."""
        names = [("key", key), ("tenant", tenant)]
        for name in names:
            if self._busy[name] >= self._widths[name[0]]:
                raise Problem(
                    429, f"Too many requests of this {name[0]} at the same time.", headers={"Retry-After": "1"}
                )
        for name in names:
            wait_s = self._bucket(name).wait_s(self._clock())
            if wait_s:
                raise Problem(429, headers={"Retry-After": str(math.ceil(wait_s))})
        for name in names:
            self._busy[name] += 1
        return Ticket(lambda: self._leave(names))

    def _leave(self, names: list[tuple[str, str]]) -> None:
        for name in names:
            self._busy[name] -= 1
            if not self._busy[name]:
                del self._busy[name]

    def _bucket(self, name: tuple[str, str]) -> Bucket:
        now = self._clock()
        if name not in self._buckets:
            if len(self._buckets) >= _KEPT:
                self._buckets = {n: b for n, b in self._buckets.items() if now - b.at < 60}
            rate = self._rates[name[0]]
            self._buckets[name] = Bucket(rate, rate, now)
        return self._buckets[name]
