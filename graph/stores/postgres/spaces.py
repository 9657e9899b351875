"""All spaces of one embedding model."""

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg

from graph.errors import IndexUnavailable
from graph.stores.postgres.database import ALL, Database
from graph.stores.postgres.space import EF_CONSTRUCTION, EXACT, M, PostgresSpace

FRESH_S = 1.0  # in which a space that was there is not looked for again: a question asks for it some eighty times


class PostgresSpaces:
    """`exact`: chunks up to which every vector of a space is compared, and no index is made of them."""

    def __init__(self, database: Database, embeddings: str, *, exact: int = EXACT) -> None:
        self._database, self._embeddings, self._exact = database, embeddings, exact
        self._spaces: dict[str, PostgresSpace] = {}
        self._seen: dict[str, float] = {}  # when each was last asked for in the database
        self._opening = threading.Lock()
        # Of this thread's reader: its cursor, the tenant that it is set to, what it has read of each space.
        self._here = threading.local()

    def close(self) -> None:
        self._spaces.clear()

    def space(self, tenant: str, *, create: bool = False) -> PostgresSpace | None:
        if tenant in self._spaces and time.monotonic() - self._seen[tenant] < FRESH_S:
            return self._spaces[tenant]
        sql = "SELECT embeddings FROM spaces WHERE tenant = %s"
        with self.asking(tenant) as cursor:
            row = cursor.execute(sql, [tenant]).fetchone()
        if row is None and create:
            with self.writing(tenant) as cursor:
                cursor.execute("SELECT make_space(%s, %s)", [tenant, self._embeddings])
                row = cursor.execute(sql, [tenant]).fetchone()
        if row is None:
            self._spaces.pop(tenant, None)
            return None
        if row[0] != self._embeddings:
            raise IndexUnavailable(
                f"the index was made with the embeddings {row[0]!r}, not {self._embeddings!r}.",
                hint=f"Set CORDON_EMBEDDINGS back, or give {self._embeddings!r} a database of its own.",
            )
        with self._opening:
            self._seen[tenant] = time.monotonic()
            return self._spaces.setdefault(tenant, PostgresSpace(self, tenant))

    def names(self) -> list[str]:
        with self.writing(ALL) as cursor:
            return [name for (name,) in cursor.execute('SELECT tenant FROM spaces ORDER BY tenant COLLATE "C"')]

    def audiences(self, tenant: str) -> list[str]:
        sql = "SELECT tenant FROM spaces WHERE split_part(tenant, '/', 1) = %s AND tenant <> %s"
        with self.asking(tenant) as cursor:
            return sorted(name for (name,) in cursor.execute(sql, [tenant, tenant]))

    def sync(self, tenant: str) -> None:
        """Make the index of the vectors where there is none and it is worth it. Later vectors go into it by
        themselves. Nobody writes to this space meanwhile."""
        with self.writing(tenant, long=True) as cursor:
            sql = "SELECT chunks > %s AND NOT indexed FROM spaces WHERE tenant = %s"
            if cursor.execute(sql, [self._exact, tenant]).fetchone() == (True,):
                cursor.execute("SELECT index_vectors(%s, %s, %s)", [tenant, M, EF_CONSTRUCTION])

    def drop(self, tenant: str, *, if_empty: bool = False) -> None:
        with self.writing(tenant, long=True) as cursor:
            if if_empty:  # whoever writes there waits for this row, and finds that it is gone
                cursor.execute("SELECT 1 FROM spaces WHERE tenant = %s FOR UPDATE", [tenant])
                if cursor.execute("SELECT 1 FROM documents WHERE tenant = %s LIMIT 1", [tenant]).fetchone():
                    return
            cursor.execute("SELECT drop_space(%s)", [tenant])
        self._spaces.pop(tenant, None)

    # -- for a space --------------------------------------------------------------------------------------

    def writing(self, tenant: str, *, long: bool = False) -> AbstractContextManager["psycopg.Cursor[Any]"]:
        """As `Database.transaction`; raises IndexUnavailable."""
        return self._database.transaction(tenant, long=long, raises=IndexUnavailable)

    @contextmanager
    def asking(self, tenant: str) -> Iterator["psycopg.Cursor[Any]"]:
        """The reader's cursor where this thread reads, else one of its own."""
        cursor = getattr(self._here, "cursor", None)
        if cursor is None:
            with self._database.transaction(tenant, raises=IndexUnavailable) as own:
                yield own
            return
        with self._database.outages(IndexUnavailable):
            if self._here.tenant != tenant:
                cursor.execute("SELECT set_config('cordon.tenant', %s, true)", [tenant])
                self._here.tenant = tenant
            yield cursor

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All spaces as they stand, on one connection, for this thread."""
        if getattr(self._here, "cursor", None) is not None:
            yield
            return
        with self._database.transaction(snapshot=True, raises=IndexUnavailable) as cursor:
            self._here.cursor, self._here.tenant, self._here.known = cursor, "", {}
            try:
                yield
            finally:
                self._here.cursor = self._here.known = None

    def known(self, tenant: str) -> dict[str, Any]:
        """What this thread has read of a space inside `reading`; outside of it a new dict that nobody keeps."""
        known: dict[str, dict[str, Any]] | None = getattr(self._here, "known", None)
        return {} if known is None else known.setdefault(tenant, {})
