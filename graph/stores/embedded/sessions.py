"""Sessions in an SQLite file beside the keys."""

from pathlib import Path

from graph.stores.embedded.small import SmallFile
from graph.stores.sessions import Session, row_of, session_of

_SCHEMA = """CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL,
    role TEXT NOT NULL, name TEXT NOT NULL, created REAL NOT NULL, seen REAL NOT NULL, expires REAL NOT NULL,
    ended INTEGER NOT NULL, groups TEXT NOT NULL, hash BLOB NOT NULL, hint BLOB NOT NULL) WITHOUT ROWID"""
_COLUMNS = "id, tenant_id, user_id, role, name, created, seen, expires, ended, groups, hash, hint"


class SqliteSessions:
    """`sessions.db` of a home."""

    def __init__(self, home: Path) -> None:
        self._file = SmallFile(home / "sessions.db", "sessions", lambda db: db.execute(_SCHEMA))
        self.close = self._file.close

    def add(self, session: Session, now: float) -> bool:
        with self._file.opened() as db:
            db.execute("DELETE FROM sessions WHERE expires <= ?", (now,))
            row = row_of(session)
            marks = ", ".join("?" * len(row))
            sql = f"INSERT INTO sessions ({_COLUMNS}) VALUES ({marks}) ON CONFLICT DO NOTHING"
            return db.execute(sql, row).rowcount == 1

    def find(self, session_id: str) -> Session | None:
        with self._file.opened() as db:
            row = db.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id = ?", (session_id,)).fetchone()
        return session_of(row) if row else None

    def all(self, tenant_id: str = "") -> list[Session]:
        if not self._file.path.exists():
            return []
        sql = f"SELECT {_COLUMNS} FROM sessions WHERE ? IN ('', tenant_id) ORDER BY created, id"
        with self._file.opened() as db:
            return [session_of(row) for row in db.execute(sql, (tenant_id,))]

    def use(self, session_id: str, seen: float) -> None:
        with self._file.opened() as db:
            db.execute("UPDATE sessions SET seen = max(seen, ?) WHERE id = ?", (seen, session_id))

    def end(self, session_id: str) -> None:
        with self._file.opened() as db:
            db.execute("UPDATE sessions SET ended = 1, name = '', hint = x'' WHERE id = ?", (session_id,))

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        return self._file.forget("sessions", tenant_id, user_id)
