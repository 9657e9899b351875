"""What a turn has found out and may ask for again.

It goes when the turn ends: were it kept, the time of a question would tell what somebody else had asked before.
"""

from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

_FOUND: ContextVar[dict[Hashable, Any] | None] = ContextVar("found_in_this_turn", default=None)


def begin() -> None:
    """A turn begins in this context. It ends with the context."""
    _FOUND.set({})


def found() -> dict[Hashable, Any]:
    """What was found so far. Outside a turn a new one, which nobody asks again."""
    held = _FOUND.get()
    return {} if held is None else held
