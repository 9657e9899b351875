"""Remembered turns, a row each."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from graph.stores.conversations import SHOWN, THREADS, KeptTurn, Recalled, thread_of
from graph.stores.postgres.database import Database
from graph.stores.vectors import floats

_READ = "NOT EXISTS (SELECT 1 FROM jsonb_array_elements(audiences) AS one WHERE NOT one ?| %s::text[])"


class PostgresConversations:
    """In the table `turns`."""

    def __init__(self, database: Database) -> None:
        self._database, self._rows = database, database.rows

    def close(self) -> None:
        """Nothing of its own is open."""

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
        shown = json.dumps({key: reply[key] for key in SHOWN if key in reply})
        floats = None if vector is None else np.asarray(vector, np.float32).tolist()
        row = [tenant, user, thread, reply["run_id"], reply["timestamp"], shown, json.dumps(gist), floats]
        row += [json.dumps(list(map(sorted, audiences))), name]
        with self._database.transaction(tenant) as cursor:
            cursor.execute("DELETE FROM turns WHERE tenant = %s AND run_id = %s", [tenant, reply["run_id"]])
            cursor.execute(
                "INSERT INTO turns"
                " (tenant, user_id, thread_id, run_id, timestamp, turn, gist, embedding, audiences, name)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s::float8[]::vector, %s::text::jsonb, %s)",
                row,
            )

    def threads(
        self, tenant: str, user: str, groups: Collection[str] = (), words: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        readable = f"FROM turns WHERE tenant = %s AND user_id = %s AND {_READ}"
        who: list[Any] = [tenant, user, sorted(groups)]
        matching, values = "", [*who]
        if words:
            matching, values = " AND thread_id = ANY(%s)", [*who, self._with_words(tenant, readable, who, words)]
        rows = self._rows(
            tenant,
            f"{THREADS.format(readable + matching)} WHERE tenant = %s AND user_id = %s ORDER BY last DESC",
            *(*values, tenant, user),
        )
        return list(map(thread_of, rows))

    def _with_words(self, tenant: str, readable: str, who: list[Any], words: Sequence[str]) -> list[str]:
        """Threads. Compared here: what a small letter is depends on the database's locale."""
        parts = "turn::jsonb ->> 'question', turn::jsonb ->> 'answer', name"
        texts = self._rows(tenant, f"SELECT thread_id, concat_ws(' ', {parts}) {readable}", *who)
        wanted = [word.casefold() for word in words]
        return sorted({thread for thread, text in texts if all(word in text.casefold() for word in wanted)})

    def rename(self, tenant: str, user: str, thread: str, name: str, groups: Collection[str] = ()) -> bool:
        theirs = f"tenant = %s AND user_id = %s AND thread_id = %s AND {_READ}"
        sql = f"UPDATE turns SET name = %s WHERE {theirs}"
        return self._database.changed(tenant, sql, name, tenant, user, thread, sorted(groups)) > 0

    def any(self, tenant: str, user: str, groups: Collection[str] = ()) -> bool:
        theirs = f"tenant = %s AND user_id = %s AND embedding IS NOT NULL AND {_READ}"
        return bool(self._rows(tenant, f"SELECT 1 FROM turns WHERE {theirs} LIMIT 1", tenant, user, sorted(groups)))

    def turns(self, tenant: str, user: str, thread: str, groups: Collection[str] = ()) -> list[dict[str, Any]]:
        theirs = f"tenant = %s AND user_id = %s AND thread_id = %s AND {_READ}"
        sql = f"SELECT turn FROM turns WHERE {theirs} ORDER BY id"
        return [json.loads(turn) for (turn,) in self._rows(tenant, sql, tenant, user, thread, sorted(groups))]

    def search(
        self, tenant: str, user: str, vector: np.ndarray, limit: int, groups: Collection[str] = ()
    ) -> list[Recalled]:
        """Every turn of the user is compared; those of another embedding model have another length."""
        rows = self._rows(
            tenant,
            "SELECT run_id, thread_id, -(embedding <#> %s::float8[]::vector) AS score, gist FROM turns WHERE tenant ="
            " %s AND user_id = %s AND CASE WHEN embedding IS NULL THEN false ELSE vector_dims(embedding) = %s END"
            f" AND {_READ} ORDER BY score DESC, id LIMIT %s",
            np.asarray(vector, np.float32).tolist(), tenant, user, len(vector), sorted(groups), limit,
        )  # fmt: skip
        return [Recalled(run, thread, float(score), json.loads(gist)) for run, thread, score, gist in rows]

    def all(self, tenant: str) -> list[KeptTurn]:
        columns = "user_id, thread_id, turn, gist, embedding::real[], audiences, name"
        rows = self._rows(tenant, f"SELECT {columns} FROM turns WHERE tenant = %s ORDER BY id", tenant)
        return [
            KeptTurn(user, thread, json.loads(turn), json.loads(gist), stored and floats(stored), audiences, name)
            for user, thread, turn, gist, stored, audiences, name in rows
        ]

    def forget(
        self, tenant: str, *, user: str | None = None, thread: str | None = None, run_ids: Sequence[str] | None = None
    ) -> int:
        runs = None if run_ids is None else list(run_ids)
        named = {"tenant = %s": tenant, "user_id = %s": user, "thread_id = %s": thread, "run_id = ANY(%s)": runs}
        wanted = {condition: value for condition, value in named.items() if value is not None}
        return self._database.changed(tenant, f"DELETE FROM turns WHERE {' AND '.join(wanted)}", *wanted.values())
