"""LangGraph's checkpoints in one SQLite file."""

import sqlite3
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.serde.base import SerializerProtocol
from langgraph.checkpoint.sqlite import SqliteSaver

from graph.errors import Unavailable
from graph.files import private_directory

OPENING_S = 20  # at most to wait for another process that opens the same new memory
_TABLES = ("checkpoints", "writes")
_OLDER = "thread_id = new.thread_id AND checkpoint_id < new.checkpoint_id"
# In the transaction that writes a checkpoint, so that a turn waits for the disk once.
_KEEP_LATEST = f"""
CREATE TRIGGER IF NOT EXISTS keep_latest AFTER INSERT ON checkpoints BEGIN
  {"".join(f"DELETE FROM {table} WHERE {_OLDER};" for table in _TABLES)}
END"""


class SqliteCheckpoints:
    """Opened on first use; a trigger keeps each thread's last checkpoint alone."""

    def __init__(self, path: Path, serde: SerializerProtocol) -> None:
        self._path, self._serde = path, serde
        self._saver: SqliteSaver | None = None

    @property
    def saver(self) -> SqliteSaver:
        if self._saver is None:
            self._saver = self._opened()
        return self._saver

    def _opened(self) -> SqliteSaver:
        private_directory(self._path.parent)
        try:
            connection = sqlite3.connect(self._path, check_same_thread=False)
            self._path.chmod(0o600)
            connection.execute("PRAGMA secure_delete = ON")
            saver = SqliteSaver(connection, serde=self._serde)
            _set_up(saver)
        except sqlite3.Error as error:
            raise Unavailable(
                f"the memory {self._path.name} cannot be used: {error}.", hint="Is the disk full? Free space."
            ) from error
        return saver

    def close(self) -> None:
        saver, self._saver = self._saver, None
        if saver is not None:
            saver.conn.close()

    @contextmanager
    def outages(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            why = f"the conversation cannot be stored: {error}."
            raise Unavailable(why, hint="Is the disk full? Free space.") from error

    def latest(self, thread: str) -> str:
        with self.saver.lock:
            sql = "SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?"
            [(latest,)] = self.saver.conn.execute(sql, (thread,)).fetchall()
        return latest or ""

    def forget(self, threads: Collection[str]) -> int:
        """With the bytes that they leave in the log."""
        with self.outages(), self.saver.lock:
            erased = 0
            with self.saver.conn:
                for thread in threads:
                    sql = "SELECT EXISTS (SELECT 1 FROM checkpoints WHERE thread_id = ?)"
                    erased += self.saver.conn.execute(sql, (thread,)).fetchone()[0]
                    for table in _TABLES:
                        self.saver.conn.execute(f"DELETE FROM {table} WHERE thread_id = ?", (thread,))
            self.saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return erased


def _set_up(saver: Any) -> None:
    """Several processes may open a new home at once; SQLite waits for nobody while its journal changes mode."""
    until = time.monotonic() + OPENING_S
    while True:
        try:
            saver.setup()
            saver.conn.execute(_KEEP_LATEST)
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.05)
