"""The journal, a row for each line, and the place and hash of its last one in a row of their own, which whoever writes
locks: one chain, whoever writes. A line, what is beside it and the head change in one transaction."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import psycopg

from graph.audit import chain
from graph.errors import BadInput, NotFound, Unavailable
from graph.stores.journal import Entry, Link, Proof, Row, shown
from graph.stores.postgres.database import ALL, Database

_ADD = "INSERT INTO journal VALUES (%s, %s, %s, %s, %s)"
_AT_ONCE = 1_000  # lines read in one step: no transaction stays open between two


class PostgresJournal:
    """In the tables `journal` and `journal_head`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, entry: Entry) -> Entry:
        chain.check(entry)
        with self._database.transaction(ALL) as cursor:
            return _written(cursor, entry)

    def erase(self, run_ids: Collection[str], receipt: dict[str, Any]) -> Entry:
        gone, tenant, named = set(run_ids), receipt["tenant_id"], []
        with self._database.transaction(ALL) as cursor:
            _head(cursor)  # first: nobody writes meanwhile
            lines = cursor.execute("SELECT line FROM journal WHERE tenant = %s ORDER BY seq", [tenant]).fetchall()
            for (line,) in lines:
                entry = chain.read(line.encode(), "a line")
                if entry.get("run_id", entry.get("about")) in gone and "salt" in entry:
                    named.append(entry["seq"])
                    left = chain.line_of(chain.without_personal(entry, receipt["receipt_id"]))[:-1].decode()
                    cursor.execute("UPDATE journal SET line = %s WHERE seq = %s", [left, entry["seq"]])
            return _written(cursor, {"kind": "erasure", **receipt, "lines": named})

    def entries(self, field: str = "", begins: str = "") -> Iterator[Entry]:
        where, values = "true", []
        if field in ("tenant_id", "run_id"):
            column = field.removesuffix("_id") if field == "tenant_id" else field
            where, values = f"starts_with({column}, %s) AND {column} >= %s", [begins, begins]
        elif field:
            where, values = "position(%s IN line) > 0", [chain.canonical({field: begins})[1:-2]]
        for line in self._lines(where, values):
            entry = chain.read(line.encode(), "a line")
            if not field or str(entry.get(field, "")).startswith(begins):
                yield entry

    def newest(self) -> Iterator[Entry]:
        return (chain.read(line.encode(), "a line") for line in self._lines("true", [], newest=True))

    def lines(self) -> Iterator[bytes]:
        return (line.encode() for line in self._lines("true", []))

    def begin(self, lines: Iterable[bytes]) -> Proof:
        with self._database.transaction(ALL) as cursor:
            if _head(cursor).seq:
                raise BadInput("there is a journal already.", hint="Name a database that has none.")
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            followed = chain.follow(_copied(lines, cursor))
            if followed.broken is not None:
                raise BadInput(f"the lines do not hold: {followed.broken.why} ({followed.broken.line}).")
            cursor.execute("UPDATE journal_head SET seq = %s, hash = %s", [followed.last.seq, followed.last.hash])
        return self.prove()

    def page(
        self, tenant: str, *, limit: int, day: str = "", after: str | None = None, before: str | None = None
    ) -> list[Entry]:
        where, values = "tenant = %s AND position(%s IN line) > 0", [tenant, chain.canonical({"timestamp": day})[1:-2]]
        with self._database.transaction(tenant) as cursor:
            for name, compared, of in ((after, ">", "max"), (before, "<", "min")):
                if name is not None:
                    sql = f"SELECT {of}(seq) FROM journal WHERE tenant = %s AND %s IN (id, run_id)"
                    [(seq,)] = cursor.execute(sql, [tenant, name]).fetchall()
                    if seq is None:
                        raise NotFound("there is no such entry.")
                    where, values = f"{where} AND seq {compared} %s", [*values, seq]
            order = "ASC" if after is not None else "DESC"
            sql = f"SELECT line FROM journal WHERE {where} ORDER BY seq {order} LIMIT %s"
            lines = [line for (line,) in cursor.execute(sql, [*values, limit])]
        entries = [shown(chain.read(line.encode(), "a line of this tenant")) for line in lines]
        return entries if after is not None else entries[::-1]

    def tenant_head(self, tenant: str) -> Link:
        with self._database.transaction(tenant) as cursor:
            if link := _own(cursor, tenant):
                return link
        raise NotFound(f"the journal has no line of {tenant!r}.", hint="`cordon audit tail` shows whose lines it has.")

    def prove(self, ask: Collection[int] = ()) -> Proof:
        with self._database.transaction(ALL) as cursor:
            head = _head(cursor, lock=False)  # before the lines: they may be added while it is read
        return chain.prove((line.encode() for line in self._lines("true", [])), head, ask)

    def state(self) -> str:
        try:
            with self._database.transaction(ALL, snapshot=True) as cursor:
                head = _head(cursor, lock=False)
                row = cursor.execute("SELECT line FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
            last = chain.read(row[0].encode(), "its last line") if row else None
        except Unavailable as error:
            return "away" if isinstance(error.__cause__, psycopg.Error) else "broken"
        if last is not None and last["hash"] != chain.digest(last):
            return "broken"
        return "ok" if head.seq == (last["seq"] if last else 0) else "cut"

    def _lines(self, where: str, values: list[Any], *, newest: bool = False) -> Iterator[str]:
        order, compared = ("DESC", "<") if newest else ("ASC", ">")
        at = 2**62 if newest else 0
        while True:
            sql = f"SELECT seq, line FROM journal WHERE {where} AND seq {compared} %s ORDER BY seq {order} LIMIT %s"
            rows = self._database.rows(ALL, sql, *values, at, _AT_ONCE)
            yield from (line for _, line in rows)
            if len(rows) < _AT_ONCE:
                return
            at = rows[-1][0]


class PostgresRows:
    """The rows of one list, in the table `samples`."""

    def __init__(self, database: Database, name: str) -> None:
        self._database, self._name = database, name

    def append(self, row: Row) -> None:
        self._database.changed(ALL, "INSERT INTO samples (list, row) VALUES (%s, %s)", self._name, json.dumps(row))

    def all(self) -> list[Row]:
        rows = self._database.rows(ALL, "SELECT row FROM samples WHERE list = %s ORDER BY id", self._name)
        return [json.loads(row) for (row,) in rows]

    def forget(self, gone: Callable[[Row], bool]) -> int:
        with self._database.transaction(ALL) as cursor:
            rows = cursor.execute("SELECT id, row FROM samples WHERE list = %s FOR UPDATE", [self._name]).fetchall()
            ids = [number for number, row in rows if gone(json.loads(row))]
            return cursor.execute("DELETE FROM samples WHERE id = ANY(%s)", [ids]).rowcount


def _head(cursor: "psycopg.Cursor[Any]", *, lock: bool = True) -> Link:
    [(seq, last)] = cursor.execute(f"SELECT seq, hash FROM journal_head {'FOR UPDATE' if lock else ''}").fetchall()
    return Link(seq, last)


def _copied(lines: Iterable[bytes], cursor: "psycopg.Cursor[Any]") -> Iterator[bytes]:
    for line in lines:
        cursor.execute(_ADD, _row(chain.read(line, "a line"), line))
        yield line


def _written(cursor: "psycopg.Cursor[Any]", entry: Entry) -> Entry:
    last = _head(cursor)
    own = _own(cursor, tenant) if (tenant := entry.get("tenant_id")) else None
    entry = chain.chained(entry, last if last.hash != chain.GENESIS else None, own)
    row = _row(entry, chain.line_of(entry)[:-1])
    sql = f"WITH line AS ({_ADD}) UPDATE journal_head SET seq = %s, hash = %s"
    cursor.execute(sql, [*row, entry["seq"], entry["hash"]])
    return entry


def _own(cursor: "psycopg.Cursor[Any]", tenant: str) -> Link | None:
    """Of the tenant's last line, in its own chain."""
    sql = "SELECT line FROM journal WHERE tenant = %s ORDER BY seq DESC LIMIT 1"
    row = cursor.execute(sql, [tenant]).fetchone()
    head = chain.tenant_link(row[0].encode()) if row else None
    return head[1] if head else None


def _row(entry: Entry, line: bytes) -> list[Any]:
    return [entry["seq"], *(entry.get(key) for key in ("tenant_id", "run_id", "personal_sha256")), line.decode()]
