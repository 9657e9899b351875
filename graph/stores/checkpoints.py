"""The state of each thread between its turns, as LangGraph keeps it.

Promises. Isolation: threads go by `key_of(tenant, user, thread)`, so two tenants' never meet. Every string is written
through the serializer that the store was given. A thread has its last checkpoint alone: a turn needs no other, and
the journal has the history. Concurrency: threads and processes may share one, one turn of a thread
at a time (graph/stores/leases.py). What was forgotten leaves no bytes behind. Errors: Unavailable, also for what goes
wrong while LangGraph reads or writes inside `outages`.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Protocol

from langgraph.checkpoint.base import BaseCheckpointSaver

# In the config of a turn: the id of the checkpoint that it goes on from. A store whose lock on a thread can be lost
# refuses to write behind any other.
AFTER = "__cordon_after"


class Checkpoints(Protocol):
    """The last state of each thread."""

    @property
    def saver(self) -> BaseCheckpointSaver[str]:
        """What a graph is compiled with. Raises Unavailable when it cannot be opened."""

    def outages(self) -> AbstractContextManager[None]:
        """A checkpoint that cannot be read or written in it becomes Unavailable."""

    def latest(self, thread: str) -> str:
        """The id of the thread's last checkpoint; "" when it has none."""

    def forget(self, threads: Collection[str]) -> int:
        """Erase these threads; how many of them there were."""

    def close(self) -> None:
        """Let go of what is open. The next use opens it again."""
