"""Counted in the memory of the one process that has the doors."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from graph.stores.limits import Allowance, Refusal

_KEPT = 10_000  # buckets; full ones are forgotten beyond that


@dataclass
class Bucket:
    """A token bucket: it holds `per_minute` tokens at most, and held `level` at the time `at` (seconds)."""

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


class MemoryCounters:
    """For one thread; `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: dict[Allowance, Bucket] = {}
        self.busy: dict[Allowance, int] = defaultdict(int)

    def enter(self, allowances: Sequence[Allowance]) -> Refusal | None:
        for allowance in allowances:
            if self.busy[allowance] >= allowance.at_once:
                return Refusal(allowance.kind, 0)
        for allowance in allowances:
            wait_s = self._bucket(allowance).wait_s(self._clock())
            if wait_s:
                return Refusal(allowance.kind, wait_s)
        for allowance in allowances:
            self.busy[allowance] += 1
        return None

    def leave(self, allowances: Sequence[Allowance]) -> None:
        for allowance in allowances:
            self.busy[allowance] -= 1
            if not self.busy[allowance]:
                del self.busy[allowance]

    def _bucket(self, of: Allowance) -> Bucket:
        now = self._clock()
        if of not in self._buckets:
            if len(self._buckets) >= _KEPT:
                self._buckets = {n: b for n, b in self._buckets.items() if now - b.at < 60}
            self._buckets[of] = Bucket(of.per_minute, of.per_minute, now)
        return self._buckets[of]
