"""What Cordon keeps, said as protocols with their plain records. The rest of Cordon knows these and no store;
graph/deps.py names the one that is used. `embedded` keeps everything in one directory of one machine.

A protocol says what a store promises: isolation, durability, concurrency, errors. tests/graph/stores/ holds it to that.
"""

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from graph.stores.checkpoints import Checkpoints
    from graph.stores.conversations import Conversations
    from graph.stores.journal import Journal, Rows
    from graph.stores.keys import KeyStore
    from graph.stores.spaces import Spaces


class Stores(Protocol):
    """All that is kept, each part opened on first use."""

    def spaces(self, embeddings: str) -> "Spaces":
        """The documents, for the embedding model of this name."""

    @property
    def journal(self) -> "Journal": ...

    def rows(self, name: Literal["false_positives", "withheld"]) -> "Rows":
        """What people said of the guards: runs that were stopped wrongly; sentences that were withheld, as samples."""

    @property
    def conversations(self) -> "Conversations": ...

    def checkpoints(self, serde: "SerializerProtocol") -> "Checkpoints":
        """What is written goes through the serializer."""

    @property
    def keys(self) -> "KeyStore": ...

    def close(self) -> None:
        """Let go of all that is open but spaces and checkpoints, which are closed by who asked for them."""
