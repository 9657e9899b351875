"""Everything in one directory, CORDON_HOME: SQLite files, Chroma's, and plain ones."""

import os
import sqlite3
from collections.abc import Collection
from contextlib import AbstractContextManager, closing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from graph import remains
from graph.stores import HealthStatus
from graph.stores.embedded import backup
from graph.stores.embedded.home import HomeLock
from graph.stores.embedded.journal import FileJournal
from graph.stores.embedded.keys import SqliteKeys
from graph.stores.embedded.limits import MemoryCounters
from graph.stores.embedded.lines import JsonLines
from graph.stores.embedded.lists import FolderLists
from graph.stores.embedded.sessions import SqliteSessions
from graph.stores.embedded.threads import ByThread
from graph.stores.embedded.uploads import FolderUploads

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from graph.stores.embedded.checkpoints import SqliteCheckpoints
    from graph.stores.embedded.conversations import SqliteConversations
    from graph.stores.embedded.spaces import SqliteSpaces

FILES = "files"  # Chroma's, in the home
ROOM_MB = 100  # less on the disk of a home is a fault


class Embedded:
    """`wait_s` is how long to wait for a process that has the home. `chroma`: "" for none, `files` in the home, or the
    address of a server."""

    def __init__(self, home: Path, *, wait_s: float = 0, chroma: str = "") -> None:
        self._home, self._wait_s, self._chroma = home, wait_s, chroma
        self.journal = FileJournal(home / "audit" / "journal.jsonl")
        self.uploads = FolderUploads(home / "uploads")
        self.lists = FolderLists(home / "public")
        self.counters = MemoryCounters()
        self.keys = SqliteKeys(home)
        self.sessions = SqliteSessions(home)
        self._by_thread = ByThread()

    def spaces(self, embeddings: str) -> "SqliteSpaces":
        from graph.stores.embedded.chroma import Chroma
        from graph.stores.embedded.exact import Exact
        from graph.stores.embedded.spaces import SqliteSpaces

        index = self._home / "index"
        url = "" if self._chroma == FILES else self._chroma
        vectors = Chroma(index / "chroma", url) if self._chroma else Exact()
        return SqliteSpaces(index, embeddings, vectors)

    def checkpoints(self, serde: "SerializerProtocol") -> "SqliteCheckpoints":
        from graph.stores.embedded.checkpoints import SqliteCheckpoints

        return SqliteCheckpoints(self._home / "checkpoints.db", serde)

    @cached_property
    def conversations(self) -> "SqliteConversations":
        from graph.stores.embedded.conversations import SqliteConversations

        return SqliteConversations(self._home / "conversations")

    def rows(self, name: Literal["false_positives", "withheld"]) -> JsonLines:
        return JsonLines(self._home / "audit" / f"{name}.jsonl")

    def hold(self) -> HomeLock:
        return HomeLock(self._home, self._wait_s).acquire()

    def join(self, files: tuple[int, ...]) -> HomeLock:
        return HomeLock.inherited(self._home, *files)

    def thread(self, name: str) -> AbstractContextManager[None]:
        return self._by_thread(name)

    def examine(self) -> dict[Literal["engine", "place", "documents"], HealthStatus]:
        return {"engine": _engine(), "place": _place(self._home), "documents": _documents(self._home)}

    def remains(self, names: Collection[str]) -> list[str]:
        return list(map(str, remains.holding(names, [self._home], apart_from=self.journal.path)))

    def backup(self, out: BinaryIO) -> dict[str, str]:
        return backup.write(self._home, out)

    def restore(self, source: BinaryIO) -> dict[str, str]:
        return backup.read(self._home, source)

    def close(self) -> None:
        self.keys.close()
        self.sessions.close()
        if "conversations" in self.__dict__:
            self.conversations.close()


def _engine() -> HealthStatus:
    with closing(sqlite3.connect(":memory:")) as db:
        (fts,) = db.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()
    if not fts:
        return HealthStatus("fail", "its SQLite has no FTS5", "Use a Python whose SQLite has FTS5.")
    return HealthStatus("ok", f"SQLite {sqlite3.sqlite_version} with FTS5")


def _place(home: Path) -> HealthStatus:
    if not home.exists():
        return HealthStatus("ok", f"{home} does not exist yet; it is made on first use")
    if not os.access(home, os.W_OK | os.X_OK):
        return HealthStatus("fail", f"{home} cannot be written", "Set CORDON_HOME to a directory of yours.")
    free = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
    if free < ROOM_MB * 2**20:
        why = f"only {free // 2**20} MB are free at {home}"
        return HealthStatus("fail", why, "Make room: no run can be recorded on a full disk.")
    if home.stat().st_mode & 0o077:
        return HealthStatus("warn", f"{home} can be read by others", f"chmod 700 {home}")
    return HealthStatus("ok", f"{home}, {free / 2**30:.1f} GB free")


def _documents(home: Path) -> HealthStatus:
    files = sorted((home / "index" / "spaces").rglob("*.db"))
    if not files:
        return HealthStatus("warn", "none yet", "cordon ingest PATH --tenant T (or --public)")
    total = 0
    for file in files:
        try:
            with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
                total += db.execute("SELECT count(*) FROM documents").fetchone()[0]
        except sqlite3.Error as error:
            return HealthStatus("fail", f"{file.name}: {error}", "Restore it, or ingest again.")
    return HealthStatus("ok", f"{total} in {len(files)} spaces")
