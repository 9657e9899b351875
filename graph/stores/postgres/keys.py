"""API keys, a row each; the pepper in a table of its own, which a dump can leave out (docs/operations.md)."""

import secrets

from graph.stores.keys import Key, key_of, row_of
from graph.stores.postgres.database import ALL, Database
from graph.stores.postgres.session import Session

_COLUMNS = "id, tenant, user_id, role, created, revoked, expires, groups"


class PostgresKeys:
    """A key is looked up before its tenant is known, so all of it is asked of all tenants; and by the doors with every
    request, so on the connection of the session, which waits for no other."""

    def __init__(self, database: Database, session: Session) -> None:
        self._database, self._session = database, session
        self._pepper = b""

    def close(self) -> None:
        """Nothing of its own is open."""

    def pepper(self, first: bytes = b"") -> bytes:
        if not self._pepper:
            with self._database.transaction(ALL) as cursor:
                made = first or secrets.token_bytes(32)
                cursor.execute("INSERT INTO pepper (value) VALUES (%s) ON CONFLICT DO NOTHING", [made])
                [(self._pepper,)] = cursor.execute("SELECT value FROM pepper").fetchall()
        return self._pepper

    def add(self, key: Key, hashed: bytes) -> None:
        sql = f"INSERT INTO keys (hash, {_COLUMNS}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
        self._database.changed(ALL, sql, hashed, *row_of(key))

    def all(self, tenant_id: str = "") -> list[Key]:
        sql = f'SELECT {_COLUMNS} FROM keys WHERE %s IN (\'\', tenant) ORDER BY created COLLATE "C", id COLLATE "C"'
        return [key_of(row) for row in self._database.rows(ALL, sql, tenant_id)]

    def find(self, key_id: str) -> tuple[Key, bytes] | None:
        rows = self._session.ask(f"SELECT hash, {_COLUMNS} FROM keys WHERE id = %s", [key_id])
        return (key_of(rows[0][1:]), bytes(rows[0][0])) if rows else None

    def revoke(self, key_id: str, at: str) -> None:
        self._database.changed(ALL, "UPDATE keys SET revoked = %s WHERE id = %s AND revoked = ''", at, key_id)

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        sql = "DELETE FROM keys WHERE tenant = %s AND %s IN ('', user_id)"
        return self._database.changed(tenant_id, sql, tenant_id, user_id)
