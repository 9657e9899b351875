"""Everything that is shared in one PostgreSQL database with pgvector, for any number of workers.

What stays with each worker: what it computes, pages while they are read, artefacts and traces.
"""

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, BinaryIO, Literal, NoReturn

from graph.errors import BadInput, CordonError
from graph.stores import HealthStatus
from graph.stores.postgres.conversations import PostgresConversations
from graph.stores.postgres.database import ALL, Database, checked
from graph.stores.postgres.journal import PostgresJournal, PostgresRows
from graph.stores.postgres.keys import PostgresKeys
from graph.stores.postgres.lists import PostgresLists
from graph.stores.postgres.session import PostgresCounters, Session
from graph.stores.postgres.sessions import PostgresSessions
from graph.stores.postgres.uploads import PostgresUploads

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from graph.stores.postgres.checkpoints import PostgresCheckpoints
    from graph.stores.postgres.spaces import PostgresSpaces


class Postgres:
    """`connections` at most, of this process, and one more for what lasts as long as it does; `wait_s` for a free one.
    Nothing is opened before it is used."""

    def __init__(self, url: str, *, connections: int = 10, wait_s: float = 5) -> None:
        self._database = Database(checked(url), connections, wait_s)
        self._session = Session(self._database)
        self.journal = PostgresJournal(self._database)
        self.conversations = PostgresConversations(self._database)
        self.keys = PostgresKeys(self._database, self._session)
        self.sessions = PostgresSessions(self._database, self._session)
        self.lists = PostgresLists(self._database)
        self.uploads = PostgresUploads(self._database, self._session)
        self.counters = PostgresCounters(self._session)

    def spaces(self, embeddings: str) -> "PostgresSpaces":
        from graph.stores.postgres.spaces import PostgresSpaces

        return PostgresSpaces(self._database, embeddings)

    def checkpoints(self, serde: "SerializerProtocol") -> "PostgresCheckpoints":
        from graph.stores.postgres.checkpoints import PostgresCheckpoints

        return PostgresCheckpoints(self._database, serde)

    def rows(self, name: Literal["false_positives", "withheld"]) -> PostgresRows:
        return PostgresRows(self._database, name)

    def hold(self) -> "SharedLease":
        self._session.ask("SELECT 1")  # what cannot work says so at once
        return SharedLease(self._session)

    def join(self, files: tuple[int, ...]) -> "SharedLease":
        return self.hold()

    def thread(self, name: str) -> AbstractContextManager[None]:
        return self._session.turn(name)

    def examine(self) -> dict[Literal["engine", "place", "documents"], HealthStatus]:
        try:
            with self._database.transaction(ALL) as cursor:
                sql = "SELECT split_part(version(), ' ', 2), extversion FROM pg_extension WHERE extname = 'vector'"
                server, vector = cursor.execute(sql).fetchall()[0]
                sql = "SELECT pg_size_pretty(pg_database_size(current_database())), max(number) FROM migrations"
                size, version = cursor.execute(sql).fetchall()[0]
                whose = [tenant for (tenant,) in cursor.execute("SELECT tenant FROM spaces ORDER BY tenant")]
            documents = sum(self._documents(tenant) for tenant in whose)
        except CordonError as error:
            lost = HealthStatus("fail", str(error), error.hint)
            return {"engine": lost, "place": lost, "documents": lost}
        none = HealthStatus("warn", "none yet", "cordon ingest PATH --tenant T (or --public)")
        return {
            "engine": HealthStatus("ok", f"PostgreSQL {server} with pgvector {vector}"),
            "place": HealthStatus("ok", f"{self._database.place}, tables of version {version}, {size}"),
            "documents": HealthStatus("ok", f"{documents} in {len(whose)} spaces") if documents else none,
        }

    def _documents(self, tenant: str) -> int:
        [(count,)] = self._database.rows(tenant, "SELECT count(*) FROM documents WHERE tenant = %s", tenant)
        return int(count)

    def remains(self, names: Collection[str]) -> list[str]:
        with self._database.transaction(ALL, long=True) as cursor:
            return [place for (place,) in cursor.execute("SELECT * FROM remains(%s)", [list(names)])]

    def backup(self, out: BinaryIO) -> dict[str, str]:
        self._by_its_own("pg_dump --format=custom")

    def restore(self, source: BinaryIO) -> dict[str, str]:
        self._by_its_own("pg_restore")

    def _by_its_own(self, tool: str) -> NoReturn:
        raise BadInput(
            "a database is copied, and brought back, with its own tools.",
            hint=f"Use {tool}, as the owner of the tables (docs/operations.md).",
        )

    def close(self) -> None:
        self._session.close()
        self._database.close()


class SharedLease:
    """A lease that any number may have; it holds while the database answers."""

    def __init__(self, session: Session) -> None:
        self._session: Session | None = session

    @property
    def files(self) -> tuple[int, ...]:
        if self._session is None:
            raise ValueError("the stores are not held")
        return ()

    def held(self) -> bool:
        return self._session is not None and self._session.lives()

    def release(self) -> None:
        self._session = None
