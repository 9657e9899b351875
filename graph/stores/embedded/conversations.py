"""One SQLite file per tenant, so that no other tenant's turns can change a rank and erasing a tenant is removing a
file."""

import json
import sqlite3
import threading
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from graph.context import key_of
from graph.errors import Unavailable
from graph.files import alone_in
from graph.stores.conversations import SHOWN, THREADS, KeptTurn, Recalled, thread_of
from graph.stores.embedded import open_files
from graph.stores.embedded.turn_vectors import TurnVectors

_MOST_NAMED = 500  # turns looked up in one step; SQLite bounds the parameters of a statement
_SCHEMA = """
CREATE TABLE turns (id INTEGER PRIMARY KEY, user_id TEXT NOT NULL, thread_id TEXT NOT NULL, run_id TEXT NOT NULL UNIQUE,
  timestamp TEXT NOT NULL, turn TEXT NOT NULL, gist TEXT NOT NULL, vector BLOB,
  audiences TEXT NOT NULL DEFAULT '[]', name TEXT NOT NULL DEFAULT '');
CREATE INDEX turns_by_thread ON turns (user_id, thread_id, id);
"""
_LATER = (  # from each version to the next
    "ALTER TABLE turns ADD COLUMN audiences TEXT NOT NULL DEFAULT '[]'",
    "ALTER TABLE turns ADD COLUMN name TEXT NOT NULL DEFAULT ''",
)
_TEXT = "folded(json_extract(turn, '$.question') || ' ' || json_extract(turn, '$.answer') || ' ' || name)"
_READ = """(audiences = '[]' OR NOT EXISTS (SELECT 1 FROM json_each(audiences) AS audience WHERE NOT EXISTS
  (SELECT 1 FROM json_each(audience.value) AS one WHERE one.value IN (SELECT value FROM json_each(?)))))"""


class SqliteConversations:
    """The files used last stay open, `most_open` of them."""

    def __init__(self, directory: Path, *, most_open: int | None = None) -> None:
        self._directory = directory
        self._most_open = most_open or open_files.share(3)
        self._open: dict[str, sqlite3.Connection] = {}  # the one used last at the end
        self._lock = threading.RLock()
        self._vectors = TurnVectors()

    def close(self) -> None:
        with self._lock:
            for connection in self._open.values():
                connection.close()
            self._open.clear()
            self._vectors.forget()

    def add(
        self,
        tenant: str,
        user: str,
        thread: str,
        reply: Mapping[str, object],
        gist: dict[str, Any],
        vector: np.ndarray | None,
        audiences: Sequence[Sequence[str]] = (),
        name: str = "",
    ) -> None:
        shown = json.dumps({key: reply[key] for key in SHOWN if key in reply}, ensure_ascii=False)
        raw = None if vector is None else np.asarray(vector, np.float32).tobytes()
        row = (user, thread, reply["run_id"], reply["timestamp"], shown, json.dumps(gist, ensure_ascii=False), raw)
        columns = "user_id, thread_id, run_id, timestamp, turn, gist, vector, audiences, name"
        sql = f"INSERT OR REPLACE INTO turns ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
        self._run(tenant, sql, (*row, json.dumps(list(map(sorted, audiences))), name), create=True)

    def threads(
        self, tenant: str, user: str, groups: Collection[str] = (), words: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        readable, values = f"FROM turns WHERE user_id = ? AND {_READ}", (user, _json(groups))
        matching, wanted = "", tuple[str, ...]()
        if words:
            each = "".join(f" AND instr({_TEXT}, ?)" for _ in words)
            matching = f" AND thread_id IN (SELECT thread_id {readable}{each})"
            wanted = (*values, *(word.casefold() for word in words))
        sql = f"{THREADS.format(readable + matching)} ORDER BY last DESC"
        return list(map(thread_of, self._run(tenant, sql, (*values, *wanted))))

    def rename(self, tenant: str, user: str, thread: str, name: str, groups: Collection[str] = ()) -> bool:
        theirs = f"UPDATE turns SET name = ? WHERE user_id = ? AND thread_id = ? AND {_READ} RETURNING 1"
        return bool(self._run(tenant, theirs, (name, user, thread, _json(groups))))

    def any(self, tenant: str, user: str, groups: Collection[str] = ()) -> bool:
        sql = f"SELECT 1 FROM turns WHERE user_id = ? AND vector IS NOT NULL AND {_READ} LIMIT 1"
        return bool(self._run(tenant, sql, (user, _json(groups))))

    def turns(self, tenant: str, user: str, thread: str, groups: Collection[str] = ()) -> list[dict[str, Any]]:
        sql = f"SELECT turn FROM turns WHERE user_id = ? AND thread_id = ? AND {_READ} ORDER BY id"
        return [json.loads(turn) for (turn,) in self._run(tenant, sql, (user, thread, _json(groups)))]

    def search(
        self, tenant: str, user: str, vector: np.ndarray, limit: int, groups: Collection[str] = ()
    ) -> list[Recalled]:
        with self._lock:
            ids, scores = self._vectors.scores(tenant, user, vector, partial(self._run, tenant))
        order = np.argsort(-scores, kind="stable")
        nearest = [*zip(ids[order].tolist(), scores[order].tolist(), strict=True)]
        best: list[Recalled] = []
        at, portion = 0, limit
        while at < len(nearest) and len(best) < limit:  # those that the user may not read now are passed over
            turns = self._named(tenant, user, [row for row, _ in nearest[at : at + portion]], groups)
            best += [
                Recalled(*turns[row][:2], score, json.loads(turns[row][2]))
                for row, score in nearest[at : at + portion]
                if row in turns
            ]
            at, portion = at + portion, _MOST_NAMED
        return best[:limit]

    def _named(
        self, tenant: str, user: str, rows: Sequence[int], groups: Collection[str]
    ) -> dict[int, tuple[str, str, str]]:
        """Of these turns of the user run, thread and gist, by number, where somebody in the groups may read them."""
        sql = "SELECT id, run_id, thread_id, gist FROM turns"
        sql += f" WHERE id IN ({','.join('?' * len(rows))}) AND user_id = ? AND {_READ}"
        values = (*rows, user, _json(groups))
        return {row: (run, thread, gist) for row, run, thread, gist in self._run(tenant, sql, values)}

    def all(self, tenant: str) -> list[KeptTurn]:
        sql = "SELECT user_id, thread_id, name, vector, turn, gist, audiences FROM turns ORDER BY id"
        return [
            KeptTurn(user, thread, turn, gist, raw and np.frombuffer(raw, np.float32), audiences, name)
            for user, thread, name, raw, *fields in self._run(tenant, sql, ())
            for turn, gist, audiences in [map(json.loads, fields)]
        ]

    def forget(
        self, tenant: str, *, user: str | None = None, thread: str | None = None, run_ids: Sequence[str] | None = None
    ) -> int:
        runs = None if run_ids is None else _json(run_ids)
        named = {"user_id = ?": user, "thread_id = ?": thread, "run_id IN (SELECT value FROM json_each(?))": runs}
        wanted = {condition: value for condition, value in named.items() if value is not None}
        sql = f"DELETE FROM turns WHERE {' AND '.join(wanted) or 'true'} RETURNING 1"
        gone = self._run(tenant, sql, tuple(wanted.values()))
        if gone:
            self._run(tenant, "PRAGMA wal_checkpoint(TRUNCATE)", ())
        with self._lock:
            self._vectors.forget(tenant)
            if not wanted:
                connection = self._open.pop(key_of(tenant), None)
                if connection is not None:
                    connection.close()
                for path in self._directory.glob(f"{key_of(tenant)}.db*"):
                    path.unlink(missing_ok=True)
        return len(gone)

    def _run(self, tenant: str, sql: str, values: tuple[Any, ...], *, create: bool = False) -> list[Any]:
        name = key_of(tenant)
        path = self._directory / f"{name}.db"
        try:
            with self._lock:
                if name not in self._open:
                    if not create and not path.exists():
                        return []
                    with alone_in(path.parent):
                        self._open[name] = _opened(path)
                self._open[name] = self._open.pop(name)
                while len(self._open) > self._most_open:  # nobody is at work in it: that takes the lock
                    self._open.pop(next(iter(self._open))).close()
                return self._open[name].execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise Unavailable(
                f"the conversations in {path.name} cannot be used: {error}.", hint="Is the disk full? Free space."
            ) from error


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
    path.chmod(0o600)
    connection.create_function("folded", 1, str.casefold, deterministic=True)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA secure_delete = ON")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    todo = [_SCHEMA] if version == 0 else [f"{statement};" for statement in _LATER[version - 1 :]]
    if todo:
        connection.executescript(f"BEGIN; {' '.join(todo)} PRAGMA user_version = {1 + len(_LATER)}; COMMIT;")
    return connection


def _json(names: Collection[str]) -> str:
    return json.dumps(sorted(names))
