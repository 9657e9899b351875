"""What Cordon keeps, as protocols with plain records. The rest of Cordon knows the protocols alone; graph/deps.py
chooses the store. `embedded` keeps everything in one directory of one machine.

A protocol says what a store promises: isolation, durability, concurrency, errors. tests/graph/stores/ holds it to that.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from graph.stores.checkpoints import Checkpoints
    from graph.stores.conversations import Conversations
    from graph.stores.journal import Journal, Rows
    from graph.stores.keys import KeyStore
    from graph.stores.leases import Lease
    from graph.stores.limits import Counters
    from graph.stores.lists import ListStore
    from graph.stores.sessions import SessionStore
    from graph.stores.spaces import Spaces
    from graph.stores.uploads import Uploads


@dataclass(frozen=True)
class HealthStatus:
    """How a part is, for people: what was found, and what to do about it."""

    status: Literal["ok", "warn", "fail"]
    found: str
    do: str = ""


class Stores(Protocol):
    """All that is kept, each part opened on first use. Threads may share one, and ask for different parts of it at the
    same time."""

    def spaces(self, embeddings: str) -> "Spaces":
        """The documents, for the embedding model of this name. Hold the lease."""

    def checkpoints(self, serde: "SerializerProtocol") -> "Checkpoints":
        """What is written goes through the serializer. Hold the lease."""

    @property
    def journal(self) -> "Journal":
        """A line for every run."""

    def rows(self, name: Literal["false_positives", "withheld"]) -> "Rows":
        """What people said of the guards: runs that were stopped wrongly; sentences that were withheld, as samples."""

    @property
    def conversations(self) -> "Conversations":
        """Remembered turns."""

    @property
    def keys(self) -> "KeyStore":
        """API keys, without their secrets."""

    @property
    def sessions(self) -> "SessionStore":
        """Who is signed in."""

    @property
    def lists(self) -> "ListStore":
        """What an operator says is public."""

    @property
    def uploads(self) -> "Uploads":
        """Files that wait to be read."""

    @property
    def counters(self) -> "Counters":
        """What each key and tenant has left of its limits."""

    def hold(self) -> "Lease":
        """Use of the stores by this process. Raises IndexUnavailable when another one has them for itself."""

    def join(self, files: tuple[int, ...]) -> "Lease":
        """The lease as a process has it that was handed its files."""

    def thread(self, name: str) -> AbstractContextManager[None]:
        """Inside it no other turn of the thread runs, of all that share the stores."""

    def examine(self) -> dict[Literal["engine", "place", "documents"], HealthStatus]:
        """What it runs on, where it lies, and what it holds; nothing is changed."""

    def remains(self, names: Collection[str]) -> list[str]:
        """Where one of these names (run ids and keys of tenants and threads, hexadecimal) is still kept, in whatever
        form, but for the journal."""

    def backup(self, out: BinaryIO) -> dict[str, str]:
        """Write all of it; what it holds, names to SHA-256. Raises Unavailable while a process uses it. Both raise
        BadInput where a store has tools of its own for this: the hint names them."""

    def restore(self, source: BinaryIO) -> dict[str, str]:
        """Take what `backup` wrote where there is nothing yet; every byte is checked first. Raises BadInput and leaves
        nothing behind when it is damaged, not whole or no backup."""

    def close(self) -> None:
        """Let go of all that is open, but for spaces and checkpoints, which are closed by who asked for them."""
