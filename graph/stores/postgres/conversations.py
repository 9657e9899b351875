"""Remembered turns, a row each."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from graph.stores.conversations import SHOWN, KeptTurn, Recalled, title
from graph.stores.postgres.database import Database


class PostgresConversations:
    def __init__(self, database: Database) -> None:
        self._database = database

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
    ) -> None:
        shown = json.dumps({key: reply[key] for key in SHOWN if key in reply})
        floats = None if vector is None else np.asarray(vector, np.float32).tolist()
        row = [tenant, user, thread, reply["run_id"], reply["timestamp"], shown, json.dumps(gist), floats]
        with self._database.transaction(tenant) as cursor:
            cursor.execute("DELETE FROM turns WHERE tenant = %s AND run_id = %s", [tenant, reply["run_id"]])
            cursor.execute(
                "INSERT INTO turns (tenant, user_id, thread_id, run_id, timestamp, turn, gist, embedding)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s::float8[]::vector)",
                row,
            )

    def threads(self, tenant: str, user: str) -> list[dict[str, Any]]:
        theirs = "tenant = %s AND user_id = %s"
        found = self._rows(
            tenant,
            "SELECT thread.thread_id, n, created, updated, turns.turn FROM (SELECT thread_id, count(*) AS n,"
            " min(timestamp) AS created, max(timestamp) AS updated, min(id) AS first, max(id) AS last FROM turns"
            f" WHERE {theirs} GROUP BY thread_id) AS thread JOIN turns ON id = first WHERE {theirs} ORDER BY last DESC",
            *(tenant, user, tenant, user),
        )
        return [
            {"thread_id": t, "title": title(json.loads(first)["question"]), "turns": n, "created": c, "updated": u}
            for t, n, c, u, first in found
        ]

    def any(self, tenant: str, user: str) -> bool:
        sql = "SELECT 1 FROM turns WHERE tenant = %s AND user_id = %s AND embedding IS NOT NULL LIMIT 1"
        return bool(self._rows(tenant, sql, tenant, user))

    def turns(self, tenant: str, user: str, thread: str) -> list[dict[str, Any]]:
        sql = "SELECT turn FROM turns WHERE tenant = %s AND user_id = %s AND thread_id = %s ORDER BY id"
        return [json.loads(turn) for (turn,) in self._rows(tenant, sql, tenant, user, thread)]

    def search(self, tenant: str, user: str, vector: np.ndarray, limit: int) -> list[Recalled]:
        """Every turn of the user is compared; those of another embedding model have another length."""
        found = self._rows(
            tenant,
            "SELECT run_id, thread_id, -(embedding <#> %s::float8[]::vector) AS score, gist FROM turns WHERE tenant ="
            " %s AND user_id = %s AND CASE WHEN embedding IS NULL THEN false ELSE vector_dims(embedding) = %s END"
            " ORDER BY score DESC, id LIMIT %s",
            np.asarray(vector, np.float32).tolist(), tenant, user, len(vector), limit,
        )  # fmt: skip
        return [Recalled(run, thread, float(score), json.loads(gist)) for run, thread, score, gist in found]

    def all(self, tenant: str) -> list[KeptTurn]:
        sql = "SELECT user_id, thread_id, turn, gist, embedding::real[] FROM turns WHERE tenant = %s ORDER BY id"
        return [
            KeptTurn(user, thread, json.loads(turn), json.loads(gist), floats and np.array(floats, np.float32))
            for user, thread, turn, gist, floats in self._rows(tenant, sql, tenant)
        ]

    def forget(
        self, tenant: str, *, user: str | None = None, thread: str | None = None, run_ids: Sequence[str] | None = None
    ) -> int:
        where, values = "tenant = %s", [tenant]
        if run_ids is not None:
            where, values = where + " AND run_id = ANY(%s)", [tenant, list(run_ids)]  # type: ignore[list-item]
        elif user is not None:
            where, values = where + " AND user_id = %s", [tenant, user]
            if thread is not None:
                where, values = where + " AND thread_id = %s", [tenant, user, thread]
        with self._database.transaction(tenant) as cursor:
            return cursor.execute(f"DELETE FROM turns WHERE {where}", values).rowcount

    def _rows(self, tenant: str, sql: str, *values: Any) -> list[Any]:
        with self._database.transaction(tenant) as cursor:
            return cursor.execute(sql, values).fetchall()
