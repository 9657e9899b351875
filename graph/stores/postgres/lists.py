"""Operators' lists, a row each."""

import json
import uuid
from collections.abc import Callable
from typing import Any

from graph.stores.lists import Loaded
from graph.stores.postgres.database import Database


class PostgresLists:
    """A stamp is a random number, another one after every change."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self, tenant: str, last: Loaded | None = None) -> Loaded:
        seen = str(last.stamp) if last else ""
        sql = "SELECT stamp, CASE WHEN stamp <> %s THEN value END FROM lists WHERE tenant = %s"
        rows = self._database.rows(tenant, sql, seen, tenant)
        if not rows:
            return Loaded(None, {})
        [(stamp, value)] = rows
        return last if last and value is None else Loaded(stamp, json.loads(value))

    def change(self, tenant: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with self._database.transaction(tenant) as cursor:
            cursor.execute("INSERT INTO lists VALUES (%s, '', '{}') ON CONFLICT DO NOTHING", [tenant])
            row = cursor.execute("SELECT value FROM lists WHERE tenant = %s FOR UPDATE", [tenant]).fetchone()
            value = changed(json.loads(row[0]) if row else {})
            sql = "UPDATE lists SET stamp = %s, value = %s WHERE tenant = %s"
            cursor.execute(sql, [uuid.uuid4().hex, json.dumps(value), tenant])

    def forget(self, tenant: str) -> None:
        self._database.changed(tenant, "DELETE FROM lists WHERE tenant = %s", tenant)
