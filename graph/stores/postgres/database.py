"""The database as a worker has it: a bounded pool, transactions that say for whom they work, outages in words.

A connection is looked at when it is used first: the tables must be those of this version, and the role one that
row-level security holds.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakSet

import psycopg
from psycopg import sql
from psycopg.abc import Buffer
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.string import StrDumperUnknown as StrDumper
from psycopg_pool import ConnectionPool, PoolTimeout

from graph.errors import BadSettings, Unavailable
from graph.stores.postgres.migrate import newest

ALL = "*"  # of all tenants; migrations/access.sql says what is seen so
# A worker that hangs in a transaction, or a host that is gone, holds up nobody for long: while the server has an answer
# under way to it, keepalives say nothing, and only tcp_user_timeout ends the waiting (else after a quarter of an hour).
_SESSION = """SET search_path = cordon, public; SET statement_timeout = '60s'; SET lock_timeout = '10s';
    SET idle_in_transaction_session_timeout = '60s'; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5;
    SET tcp_keepalives_count = 3; SET tcp_user_timeout = '20s'; SET client_min_messages = error"""
_SET_TENANT = "SET LOCAL cordon.tenant = {}; SET LOCAL cordon.name = {}"
_BEGIN = f"BEGIN; {_SET_TENANT}"
_SNAPSHOT = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {_SET_TENANT}; SELECT"  # with it, it stands still
PATIENCE_S = 75.0  # for a statement: longer than statement_timeout, which a server that hangs does not apply
_AWAY_S = 1.0  # after a failure to connect nobody tries: else each who waits, or each step of a turn, would wait anew
_CONNECT: dict[str, Any] = {
    "autocommit": True, "prepare_threshold": None, "connect_timeout": 5, "application_name": "cordon",
    "tcp_user_timeout": 10_000, "keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3,
}  # fmt: skip


class Connection(psycopg.Connection[Any]):
    """One that gives up on a server that says nothing though its host answers, which no setting of libpq does."""

    patience_s: float | None = PATIENCE_S

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """As psycopg's, but at most `patience_s` seconds: then the connection is closed."""
        try:
            return super().wait(gen, interval, timeout or self.patience_s)
        except psycopg.errors._WaitTimeout as error:
            self.pgconn.finish()
            raise psycopg.OperationalError(f"the server said nothing for {self.patience_s:g} seconds") from error


class Database:
    """Opened on first use. At most `most` connections; an error where none is free within `wait_s`."""

    def __init__(self, url: str, most: int, wait_s: float) -> None:
        self.url, self._most, self._wait_s = url, most, wait_s
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Connection] | None = None
        self._looked_at: WeakSet[Any] = WeakSet()
        self._used = 0
        self._away, self._away_since = "", 0.0  # why no connection was to be had

    @property
    def place(self) -> str:
        """Where it is, for people: no user, no password."""
        known = conninfo_to_dict(self.url)
        return f"{known.get('dbname', '')} at {known.get('host', 'localhost')}"

    def connect(self, patience_s: float) -> "Connection":
        """A connection beside the pool. Raises Unavailable."""
        if self._just_away:
            raise self._no_connection(Unavailable)
        with self.outages():
            try:
                connection = Connection.connect(self.url, **_CONNECT)
            except psycopg.Error as error:
                self._away, self._away_since = _first_line(error), time.monotonic()
                raise
            connection.patience_s = patience_s
            try:
                _configured(connection)
                self._look_at(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    @contextmanager
    def transaction(
        self,
        tenant: str = "",
        *,
        name: str = "",
        snapshot: bool = False,
        long: bool = False,
        raises: type[Unavailable] = Unavailable,
    ) -> Iterator["psycopg.Cursor[Any]"]:
        """All of it stands, or nothing. `snapshot`: only reads, and sees this moment. `long`: a statement may take more
        than a minute. `raises`: in an outage."""
        begin = sql.SQL(_SNAPSHOT if snapshot else _BEGIN).format(tenant, name)
        with self.outages(raises), self._begun(begin, raises) as connection:
            try:
                with connection.cursor(binary=True) as cursor:
                    if long:
                        connection.patience_s = None
                        cursor.execute("SET LOCAL statement_timeout = 0")
                    yield cursor
                connection.commit()
            except BaseException:
                with suppress(psycopg.Error):  # that it is broken is told already, and the server rolls back
                    connection.rollback()
                raise
            finally:
                connection.patience_s = PATIENCE_S

    def rows(self, tenant: str, sql: str, *values: Any, name: str = "") -> list[Any]:
        """What one statement gives, in a transaction of its own."""
        with self.transaction(tenant, name=name) as cursor:
            return cursor.execute(sql, values).fetchall()

    def changed(self, tenant: str, sql: str, *values: Any) -> int:
        """How many rows one statement changes, in a transaction of its own."""
        with self.transaction(tenant) as cursor:
            return cursor.execute(sql, values).rowcount

    @contextmanager
    def _begun(self, begin: sql.Composed, raises: type[Unavailable]) -> Iterator["Connection"]:
        """A connection of the pool, in a transaction. One that broke while it lay there shows when it begins, and the
        next is taken: to look at each before would be a round trip more for every transaction."""
        until = time.monotonic() + self._wait_s
        while True:
            with self._connection(raises) as connection:
                try:
                    if connection not in self._looked_at:
                        self._look_at(connection, raises)
                    connection.execute(begin)
                except psycopg.Error:
                    if connection.closed and time.monotonic() < until:
                        continue
                    raise
                yield connection
                return

    @contextmanager
    def _connection(self, raises: type[Unavailable]) -> Iterator["Connection"]:
        try:
            connection = self._open().getconn(0.05 if self._just_away else None)
        except PoolTimeout as error:
            raise self._pool_timeout(raises) from error
        with self._lock:
            self._used += 1
        try:
            yield connection
        finally:
            with self._lock:
                self._used -= 1
            if self._pool is not None:
                if connection.closed:  # the others are likely to be: each would be waited for in turn
                    self._pool.drain()
                self._pool.putconn(connection)
            else:
                connection.close()

    def _pool_timeout(self, raises: type[Unavailable]) -> Unavailable:
        if self._used >= self._most:
            return raises(
                f"all {self._most} connections to the database were in use for {self._wait_s:g} seconds.",
                hint="Try again; if it happens often, raise CORDON_DATABASE_CONNECTIONS.",
            )
        if not self._just_away:
            try:  # to learn why: the pool keeps that to itself
                psycopg.connect(self.url, **{**_CONNECT, "connect_timeout": 2}).close()
                self._away = "it does again now"
            except psycopg.Error as error:
                self._away, self._away_since = _first_line(error), time.monotonic()
        return self._no_connection(raises)

    @property
    def _just_away(self) -> bool:
        return time.monotonic() - self._away_since < _AWAY_S

    def _no_connection(self, raises: type[Unavailable]) -> Unavailable:
        return raises(
            f"the database {self.place} gave no connection: {self._away}.",
            hint="Is it up, and does it have connections left? Answers come again when it does.",
        )

    @contextmanager
    def outages(self, raises: type[Unavailable] = Unavailable) -> Iterator[None]:
        """What goes wrong in the database becomes Unavailable."""
        try:
            yield
        except psycopg.Error as error:
            raise unavailable(error, raises) from error

    def _open(self) -> "ConnectionPool[Connection]":
        with self._lock:
            if self._pool is None:
                logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # an outage is told by who meets it
                self._pool = ConnectionPool(
                    self.url,
                    min_size=0,
                    max_size=self._most,
                    timeout=self._wait_s,
                    reconnect_timeout=self._wait_s,  # then the next that asks tries: its pauses grow to minutes
                    connection_class=Connection,
                    kwargs=_CONNECT,
                    configure=_configured,
                    num_workers=1,
                    open=True,
                )
            return self._pool

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _look_at(self, connection: "psycopg.Connection[Any]", raises: type[Unavailable] = Unavailable) -> None:
        try:
            migration = connection.execute("SELECT max(number) FROM migrations").fetchone()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege) as error:
            raise raises(
                f"the database {self.place} is not set up for Cordon, or not for this role.",
                hint="`cordon migrate` sets it up, with CORDON_DATABASE_OWNER_URL.",
            ) from error
        if (version := migration[0] if migration else None) != newest():
            raise raises(
                f"the database {self.place} has tables of version {version}, this Cordon needs {newest()}.",
                hint="Run `cordon migrate` of the newer version, and stop the workers of the older one.",
            )
        privileged = connection.execute(
            "SELECT rolsuper OR rolbypassrls OR EXISTS (SELECT 1 FROM pg_class WHERE relnamespace ="
            " 'cordon'::regnamespace AND pg_has_role(relowner, 'USAGE')) FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        if privileged is None or privileged[0]:
            raise raises(
                "the role of CORDON_DATABASE_URL owns tables of Cordon or stands above row-level security.",
                hint="Give the workers a role of their own: `cordon migrate` makes the one that CORDON_DATABASE_URL"
                " names.",
            )
        self._looked_at.add(connection)


def checked(url: str) -> str:
    """The URL, if it is one. Raises BadSettings, without it."""
    try:
        known = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise BadSettings("CORDON_DATABASE_URL cannot be read.", hint="postgresql://USER:PASSWORD@HOST/NAME") from error
    if not known.get("user") or not known.get("dbname"):
        raise BadSettings(
            "CORDON_DATABASE_URL names no user or no database.", hint="postgresql://USER:PASSWORD@HOST/NAME"
        )
    return url


def unavailable(error: psycopg.Error, raises: type[Unavailable] = Unavailable) -> Unavailable:
    """In words that hold nothing of a row: what PostgreSQL adds as detail is left out."""
    message = error.diag.message_primary or (str(error).strip().splitlines() or [type(error).__name__])[0]
    return raises(
        f"the database could not do it: {message}.", hint="Is it up, and is there room on its disk? Then try again."
    )


def _first_line(error: psycopg.Error) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].removeprefix("connection failed: ")


class _Text(StrDumper):
    """PostgreSQL stores no NUL, so no name that is stored has one. A name with one is looked for with another character
    in its place, and not found."""

    def dump(self, obj: str) -> Buffer | None:
        return super().dump(obj.replace("\0", "\ufffe"))


def _configured(connection: "psycopg.Connection[Any]") -> None:
    connection.adapters.register_dumper(str, _Text)
    connection.execute(_SESSION)
