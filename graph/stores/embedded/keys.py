"""API keys in an SQLite file, made on first use, mode 0600; the pepper in a file beside it."""

import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path

from graph.files import private_directory
from graph.stores.embedded.small import SmallFile
from graph.stores.keys import Key, key_of, row_of

_SCHEMA = """CREATE TABLE IF NOT EXISTS keys (id TEXT PRIMARY KEY, hash BLOB NOT NULL, tenant_id TEXT NOT NULL,
    user_id TEXT NOT NULL, role TEXT NOT NULL, created TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT '',
    expires TEXT NOT NULL DEFAULT '', groups TEXT NOT NULL DEFAULT '') WITHOUT ROWID"""
_COLUMNS = "id, tenant_id, user_id, role, created, revoked, expires, groups"


class SqliteKeys:
    """`keys.db` and `keys.pepper` of a home."""

    def __init__(self, home: Path) -> None:
        self._file, self._pepper_path = SmallFile(home / "keys.db", "keys", _made), home / "keys.pepper"
        self.close = self._file.close
        self._pepper = b""

    def pepper(self, first: bytes = b"") -> bytes:
        if not self._pepper:
            with self._file.outages():
                private_directory(self._pepper_path.parent)
                self._pepper = _pepper(self._pepper_path, first)
        return self._pepper

    def add(self, key: Key, hashed: bytes) -> None:
        with self._file.opened() as db:
            db.execute(
                f"INSERT INTO keys (hash, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (hashed, *row_of(key))
            )

    def all(self, tenant_id: str = "") -> list[Key]:
        sql = f"SELECT {_COLUMNS} FROM keys WHERE ? IN ('', tenant_id) ORDER BY created, id"
        with self._file.opened() as db:
            return [key_of(row) for row in db.execute(sql, (tenant_id,))]

    def find(self, key_id: str) -> tuple[Key, bytes] | None:
        with self._file.opened() as db:
            row = db.execute(f"SELECT hash, {_COLUMNS} FROM keys WHERE id = ?", (key_id,)).fetchone()
        return (key_of(row[1:]), bytes(row[0])) if row else None

    def revoke(self, key_id: str, at: str) -> None:
        with self._file.opened() as db:
            db.execute("UPDATE keys SET revoked = ? WHERE id = ? AND revoked = ''", (at, key_id))

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        return self._file.forget("keys", tenant_id, user_id)


def _made(db: sqlite3.Connection) -> None:
    db.execute(_SCHEMA)
    columns = {column for _, column, *_ in db.execute("PRAGMA table_info(keys)")}
    for later in ("expires", "groups"):
        if later not in columns:
            with suppress(sqlite3.OperationalError):  # a home of an earlier version; another process may be quicker
                db.execute(f"ALTER TABLE keys ADD COLUMN {later} TEXT NOT NULL DEFAULT ''")


def _pepper(path: Path, first: bytes) -> bytes:
    """Written once. Two processes that make it at the same time end up with one."""
    if not path.exists():
        fresh = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
        file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(first or secrets.token_bytes(32))
            stream.flush()
            os.fsync(stream.fileno())
        with suppress(FileExistsError):
            os.link(fresh, path)  # atomic, and fails when another was first
        fresh.unlink()
    pepper = path.read_bytes()
    if len(pepper) != 32:
        raise OSError(f"{path.name} is damaged")
    return pepper
