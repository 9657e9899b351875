"""What lasts as long as this process is connected: its number, the threads whose turn it has, its places in the limits.

One connection beside the pool. When the process dies, or the connection does, the server lets go of all of it.
"""

import hashlib
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg

from graph.stores.limits import Allowance, Refusal
from graph.stores.postgres.database import ALL, Connection, Database, unavailable

_CLASS = 0x636F7264  # of the advisory locks that say that a process lives; lives() in migrations knows it
_NUMBERS = 1_000
_PATIENCE_S = 12.0  # with a statement: each is quick, or waits for a lock of a row, for ten seconds at most
_AGAIN_S = 0.05  # until a thread that another process has is tried again


class Session:
    """Safe between threads; calls come one after the other, and each is quick."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._free = threading.Condition(threading.RLock())
        self._connection: Connection | None = None
        self._number = 0
        self._numbers: deque[int] = deque(maxlen=_NUMBERS)
        self._turns: dict[int, int] = {}  # of threads: the session in which the lock was taken

    @property
    def number(self) -> int:
        """Of the process as it is connected now."""
        with self._free:
            self._connected()
            return self._number

    @property
    def numbers(self) -> list[int]:
        """That number, and those of its earlier connections; the last _NUMBERS of them."""
        with self._free:
            self._connected()
            return list(self._numbers)

    def close(self) -> None:
        with self._free:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def lives(self) -> bool:
        """Whether the database answers."""
        try:
            self.ask("SELECT 1")
        except Exception:
            return False
        return True

    def ask(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Raises Unavailable. A connection that broke since it was last used is made anew, once."""
        with self._free:
            for again in (True, False):
                connection = self._connected()
                try:
                    return connection.execute(sql, values).fetchall()
                except psycopg.Error as error:
                    if not connection.broken or not again:
                        raise unavailable(error) from error
            raise AssertionError

    def _connected(self) -> "Connection":
        if self._connection is None or self._connection.broken or self._connection.closed:
            with self._database.outages():
                connection = self._database.connect(_PATIENCE_S)
                try:
                    self._number = self._begun(connection)
                except BaseException:
                    connection.close()
                    raise
            self._numbers.append(self._number)
            self._connection = connection
        return self._connection

    def _begun(self, connection: "Connection") -> int:
        """A number for the process, as it is connected now."""
        connection.execute("SELECT set_config('cordon.tenant', %s, false)", [ALL])
        sql = "SELECT n, pg_advisory_lock(%s, n) FROM (SELECT nextval('sessions')::integer AS n) AS one"
        [(number, _)] = connection.execute(sql, [_CLASS]).fetchall()
        # Jobs that nobody took over meanwhile go on.
        own = "UPDATE jobs SET session = %s WHERE session = ANY(%s)"
        connection.execute(own, [number, list(self._numbers)])
        return int(number)

    # -- whose turn it is in a thread -----------------------------------------------------------------------

    @contextmanager
    def turn(self, thread: str) -> Iterator[None]:
        """As `Stores.thread`."""
        key = int.from_bytes(hashlib.sha256(thread.encode()).digest()[:8], "big", signed=True)
        with self._free:
            while True:
                if key in self._turns:  # of this process
                    self._free.wait()
                elif self.ask("SELECT pg_try_advisory_lock(%s)", [key])[0][0]:
                    self._turns[key] = self._number
                    break
                else:
                    self._free.wait(_AGAIN_S)
        try:
            yield
        finally:
            with self._free:
                if self._turns.pop(key) == self._number:  # else it went with the connection
                    with suppress(Exception):  # as it does with this one
                        self.ask("SELECT pg_advisory_unlock(%s)", [key])
                self._free.notify_all()


class PostgresCounters:
    """Counted in the database, for all processes. A place that a process had goes with it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def enter(self, allowances: Sequence[Allowance]) -> Refusal | None:
        refusals = self._session.ask(
            "SELECT kind, wait_s FROM enter(%s::text[], %s::text[], %s::integer[], %s::integer[], %s)",
            [
                [one.kind for one in allowances],
                [one.name for one in allowances],
                [one.per_minute for one in allowances],
                [one.at_once for one in allowances],
                self._session.number,
            ],
        )
        return Refusal(*refusals[0]) if refusals else None

    def leave(self, allowances: Sequence[Allowance]) -> None:
        with suppress(Exception):  # of a connection that is gone: its places went with it
            self._session.ask(
                # Not below 0, by those who came in on a connection that was lost: for ever too many would fit in.
                "WITH gone AS (UPDATE places SET taken = taken - 1 FROM unnest(%s::text[], %s::text[]) AS one (kind,"
                " name) WHERE places.kind = one.kind AND places.name = one.name AND session = %s AND taken > 0"
                " RETURNING 1) SELECT count(*) FROM gone",
                [[one.kind for one in allowances], [one.name for one in allowances], self._session.number],
            )
