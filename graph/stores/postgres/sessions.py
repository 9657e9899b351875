"""Sessions, a row each. One is looked up before its tenant is known, and with every request: as keys are."""

from graph.stores.postgres.database import ALL, Database
from graph.stores.postgres.session import Session as Connected
from graph.stores.sessions import Session, row_of, session_of

_COLUMNS = "id, tenant, user_id, role, name, created, seen, expires, ended, groups, hash, hint"


class PostgresSessions:
    """In the table `sessions_of_people`."""

    def __init__(self, database: Database, connected: Connected) -> None:
        self._database, self._connected = database, connected

    def close(self) -> None:
        """Nothing of its own is open."""

    def add(self, session: Session, now: float) -> bool:
        row = row_of(session)
        marks = ", ".join(["%s"] * len(row))
        with self._database.transaction(ALL) as cursor:
            cursor.execute("DELETE FROM sessions_of_people WHERE expires <= %s", [now])
            sql = f"INSERT INTO sessions_of_people ({_COLUMNS}) VALUES ({marks}) ON CONFLICT DO NOTHING"
            return cursor.execute(sql, row).rowcount == 1

    def find(self, session_id: str) -> Session | None:
        rows = self._connected.ask(f"SELECT {_COLUMNS} FROM sessions_of_people WHERE id = %s", [session_id])
        return session_of(rows[0]) if rows else None

    def all(self, tenant_id: str = "") -> list[Session]:
        sql = f"SELECT {_COLUMNS} FROM sessions_of_people WHERE %s IN ('', tenant) ORDER BY created, id COLLATE \"C\""
        return [session_of(row) for row in self._database.rows(ALL, sql, tenant_id)]

    def use(self, session_id: str, seen: float) -> None:
        sql = "UPDATE sessions_of_people SET seen = greatest(seen, %s) WHERE id = %s"
        self._database.changed(ALL, sql, seen, session_id)

    def end(self, session_id: str) -> None:
        sql = "UPDATE sessions_of_people SET ended = true, name = '', hint = '' WHERE id = %s"
        self._database.changed(ALL, sql, session_id)

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        sql = "DELETE FROM sessions_of_people WHERE tenant = %s AND %s IN ('', user_id)"
        return self._database.changed(tenant_id, sql, tenant_id, user_id)
