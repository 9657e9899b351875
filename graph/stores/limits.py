"""How often and how much at once, counted for everybody who shares the stores.

Promises. Isolation: what one name used up changes nothing for another. Nothing is durable: after a restart everybody
begins with a full allowance, or what was left of it. Places end with the process that has them. Concurrency: called
from one thread, which does nothing else but let requests in. Errors: Unavailable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Allowance:
    """Tokens flow in at `per_minute` and stand at most a minute's worth high: a page that loads, a job that is polled
    and a script that lists things ask in bursts."""

    kind: str  # key | tenant
    name: str
    per_minute: int
    at_once: int


@dataclass(frozen=True)
class Refusal:
    """`wait_s` is 0 where too many of this kind are at it at the same time."""

    kind: str
    wait_s: float


class Counters(Protocol):
    """Tokens and places in use, for each allowance."""

    def enter(self, allowances: Sequence[Allowance]) -> Refusal | None:
        """Take a token and a place of each, or say which has none."""

    def leave(self, allowances: Sequence[Allowance]) -> None:
        """Give the places back."""
