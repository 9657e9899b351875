"""A small SQLite file of its own, made on first use, mode 0600: what is looked up with every request."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from graph.errors import Unavailable
from graph.files import private_directory


class SmallFile:
    """`made` makes its tables, or brings those of an earlier version up to date. Threads may share one; every statement
    is durable by itself."""

    def __init__(self, path: Path, what: str, made: Callable[[sqlite3.Connection], object]) -> None:
        self.path, self._what, self._made = path, what, made
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """The connection, for one thread at a time. Raises Unavailable."""
        with self._lock, self.outages():
            if self._db is None:
                self._db = self._open()
            yield self._db

    def forget(self, table: str, tenant_id: str, user_id: str = "") -> int:
        """Erase the rows of a tenant, or of one user of it, bytes included. How many it was."""
        if not self.path.exists():
            return 0
        with self.opened() as db:
            gone = db.execute(f"DELETE FROM {table} WHERE tenant_id = ? AND ? IN ('', user_id)", (tenant_id, user_id))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return gone.rowcount

    @contextmanager
    def outages(self) -> Iterator[None]:
        """What goes wrong with the file becomes Unavailable."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(
                f"the {self._what} in {self.path.name} cannot be used: {error}.",
                hint="Mend the permissions of CORDON_HOME, or make room.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        private_directory(self.path.parent)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        db = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=5)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA secure_delete = ON")
        self._made(db)
        return db
