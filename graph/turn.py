"""What a turn has found out and may ask for again.

It goes when the turn ends: were it kept, the time of a question would tell what somebody else had asked before.
"""

import time
from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

_FOUND: ContextVar[dict[Hashable, Any] | None] = ContextVar("found_in_this_turn", default=None)
_BEGUN = "begun"


def begin() -> None:
    """A turn begins in this context. It ends with the context."""
    _FOUND.set({_BEGUN: time.perf_counter()})


def found() -> dict[Hashable, Any]:
    """What was found so far. Outside a turn a new one, which nobody asks again."""
    held = _FOUND.get()
    return {} if held is None else held


def spent_ms() -> float | None:
    """Since the turn began, on the clock; None outside one."""
    begun = found().get(_BEGUN)
    return None if begun is None else round((time.perf_counter() - begun) * 1_000, 2)
