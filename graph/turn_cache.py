"""A cache for one turn. It goes when the turn ends: else the time of an answer would tell what somebody else had asked
before."""

import time
from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

_ENTRIES: ContextVar[dict[Hashable, Any] | None] = ContextVar("turn_cache", default=None)
_BEGUN = "begun"


def begin() -> None:
    """A turn begins in this context. It ends with the context."""
    _ENTRIES.set({_BEGUN: time.perf_counter()})


def entries() -> dict[Hashable, Any]:
    """The entries of this turn; outside a turn, a dict that is thrown away."""
    known = _ENTRIES.get()
    return {} if known is None else known


def spent_ms() -> float | None:
    """Since the turn began, by the clock; None outside a turn."""
    begun = entries().get(_BEGUN)
    return None if begun is None else round((time.perf_counter() - begun) * 1_000, 2)
