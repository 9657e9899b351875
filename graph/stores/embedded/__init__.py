"""Everything in one directory, CORDON_HOME: SQLite files, Chroma's, and plain ones."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from graph.stores.embedded.journal import FileJournal
from graph.stores.embedded.lines import JsonLines

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from graph.stores.embedded.checkpoints import SqliteCheckpoints
    from graph.stores.embedded.conversations import SqliteConversations
    from graph.stores.embedded.keys import SqliteKeys
    from graph.stores.embedded.spaces import SqliteSpaces


class Embedded:
    """`serves`: it belongs to a service, which never uses Chroma: Chroma's files are for one process, and whatever it
    writes, it lets no other thread run meanwhile."""

    def __init__(self, home: Path, *, serves: bool = False) -> None:
        self._home, self._serves = home, serves

    def spaces(self, embeddings: str) -> "SqliteSpaces":
        from graph.stores.embedded.chroma import EXACT_LIMIT, Chroma
        from graph.stores.embedded.exact import Exact
        from graph.stores.embedded.spaces import SqliteSpaces

        index = self._home / "index"
        vectors = Exact() if self._serves else Chroma(index / "chroma", above=EXACT_LIMIT)
        return SqliteSpaces(index, embeddings, vectors)

    @cached_property
    def journal(self) -> FileJournal:
        return FileJournal(self._home / "audit" / "journal.jsonl")

    def rows(self, name: Literal["false_positives", "withheld"]) -> JsonLines:
        return JsonLines(self._home / "audit" / f"{name}.jsonl")

    @cached_property
    def conversations(self) -> "SqliteConversations":
        from graph.stores.embedded.conversations import SqliteConversations

        return SqliteConversations(self._home / "conversations")

    def checkpoints(self, serde: "SerializerProtocol") -> "SqliteCheckpoints":
        from graph.stores.embedded.checkpoints import SqliteCheckpoints

        return SqliteCheckpoints(self._home / "checkpoints.db", serde)

    @cached_property
    def keys(self) -> "SqliteKeys":
        from graph.stores.embedded.keys import SqliteKeys

        return SqliteKeys(self._home)

    def close(self) -> None:
        for name in ("conversations", "keys"):
            opened = self.__dict__.pop(name, None)
            if opened is not None:
                opened.close()
