"""A list for each tenant and one for all: JSON objects, small, read with every question. In them is what an operator
says is public (graph/public.py), and which runs wait for a reviewer (graph/waiting.py).

Promises. A change is whole or not at all, durable when the call returns, and seen by the next `load` of every process.
Nothing here needs the lease of the stores. Isolation: a call reads and writes one tenant's list. What was forgotten
leaves no bytes behind. Concurrency: threads and processes may share one; changes of a list come one after the other.
Errors: Unavailable.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Loaded:
    """A list as it stood; {} when there is none. `stamp` is another one after every change."""

    stamp: object
    value: dict[str, Any]


class ListStore(Protocol):
    """One list for each tenant."""

    def load(self, tenant: str, last: Loaded | None = None) -> Loaded:
        """The tenant's list: `last` itself, where it has not changed since."""

    def change(self, tenant: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        """Store what `changed` makes of the list. Nothing is stored when it raises."""

    def forget(self, tenant: str) -> None:
        """Erase a tenant's list; nothing happens when there is none."""
