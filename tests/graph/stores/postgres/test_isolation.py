"""The database itself keeps tenants apart: no row without a tenant, none of another's, whatever SQL a worker sends."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

from graph.checkpoints import MaskingSerializer
from graph.stores.conversations import SHOWN
from graph.stores.keys import Key
from graph.stores.postgres import Postgres
from graph.stores.postgres.database import ALL
from graph.stores.sessions import Session
from graph.stores.uploads import File, Job
from tests.graph.stores.test_checkpoints import ask
from tests.support.postgres import OWNER, Server
from tests.support.spaces import put

# Table → how many of T2's rows a worker sees that works for T1, each with one row or more of T1's and of T2's.
OF_A_TENANT = (
    "documents", "chunks", "vectors", "postings", "annexes", "judged", "originals", "turns", "lists", "spaces", "journal", "keys",
    "jobs", "sessions_of_people",
)  # fmt: skip
OF_A_NAME = {
    "job_files": "job_id", "job_parts": "job_id", "checkpoints": "thread_id", "checkpoint_blobs": "thread_id",
    "checkpoint_writes": "thread_id",
}  # fmt: skip
OF_ALL = ("samples", "pepper", "buckets", "places")
SEEN_BY_ALL = {"spaces", "journal", "keys", "jobs", "sessions_of_people", *OF_ALL}


def fill(stores: Postgres) -> None:
    """Something of T1 and of T2 in every table."""
    spaces, kept = stores.spaces("model"), stores.checkpoints(MaskingSerializer())
    stores.keys.pepper()
    stores.rows("withheld").append({"text": "x"})
    for name in ("T1", "T2", "T1/a"):
        space = spaces.space(name, create=True)
        assert space is not None
        put(space, "d", f"the secret of {name}", tenant_id=name)
        space.attach("d", "h", name)
        space.keep_original("d", space.records()[0].sha256, name.encode())
        space.judge("guard", {"d_0": name})
    for tenant in ("T1", "T2"):
        reply = {**dict.fromkeys(SHOWN, ""), "run_id": tenant, "timestamp": "now"}
        stores.conversations.add(tenant, "ann", "t", reply, {}, np.ones(2, np.float32))
        stores.lists.change(tenant, lambda known: {"a": 1})
        stores.journal.append({"run_id": tenant, "tenant_id": tenant})
        stores.keys.add(Key(tenant, tenant, "ann", "member", "now"), b"")
        stores.sessions.add(Session(tenant, tenant, "ann", "member", "Ann", 1, 1, 9), 2)
        stores.uploads.begin(tenant)
        with stores.uploads.file(tenant, 0) as out:
            out.write(b"secret")
        stores.uploads.save(Job(tenant, tenant, "ann", "queued", "now", [File("a", 6)]))
        ask(kept, tenant, "secret")
        kept.saver.put_writes(
            {"configurable": {"thread_id": tenant, "checkpoint_ns": "", "checkpoint_id": "1"}},
            [("said", ["x"])],
            "task",
        )


@pytest.fixture(scope="module")
def filled(postgres: Server) -> Iterator[str]:
    """The name of a database that has something of two tenants in every table."""
    name = postgres.database(like="prepared")
    stores = Postgres(postgres.url(name))
    fill(stores)
    stores.counters.enter([])
    stores.close()
    with postgres.admin(name) as admin:
        admin.execute("INSERT INTO cordon.buckets VALUES ('key', 'a', 1, now())")
        admin.execute("INSERT INTO cordon.places VALUES ('key', 'a', 1, 1)")
    yield name
    postgres.drop(name)


@pytest.fixture
def worker(postgres: Server, filled: str) -> Iterator[Callable[..., list[Any]]]:
    """Raw SQL, as the workers' role has it, for a tenant and a name."""
    with psycopg.connect(postgres.url(filled)) as connection:

        def run(sql: str, tenant: str = "", name: str = "") -> list[Any]:
            with connection.transaction():
                connection.execute("SET LOCAL search_path = cordon, public")
                if tenant or name:
                    connection.execute("SELECT set_config('cordon.tenant', %s, true)", [tenant])
                    connection.execute("SELECT set_config('cordon.name', %s, true)", [name])
                done = connection.execute(sql)
                return done.fetchall() if done.description else [done.rowcount]

        yield run


def others(run: Callable[..., list[Any]], table: str) -> int:
    """Rows that are seen in a table by who may see none, or T1's only."""
    if table in OF_ALL:
        return sum(run(f"SELECT count(*) FROM {table}", tenant)[0][0] for tenant in ("", "T1"))
    column = OF_A_NAME.get(table, "tenant")
    known = {"name" if table in OF_A_NAME else "tenant": "T1"}
    return int(
        run(f"SELECT count(*) FROM {table}")[0][0]
        + run(f"SELECT count(*) FROM {table} WHERE {column} NOT IN ('T1', 'T1/a')", **known)[0][0]
    )


@pytest.fixture
def tables(postgres: Server, filled: str) -> set[str]:
    with postgres.admin(filled) as admin:
        rows = admin.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'cordon'::regnamespace AND relkind IN ('r', 'p')"
            " AND NOT relispartition"
        )
        return {name for (name,) in rows}


def test_every_table_has_rows_to_hide_and_a_policy(postgres: Server, filled: str, tables: set[str]) -> None:
    guarded = {*OF_A_TENANT, *OF_A_NAME, *OF_ALL}
    assert tables - guarded == {"migrations", "checkpoint_migrations", "journal_head"}  # nothing of anybody
    with postgres.admin(filled) as admin:
        for table in guarded:
            [(count, forced)] = admin.execute(
                f"SELECT (SELECT count(*) FROM cordon.{table}), relrowsecurity AND relforcerowsecurity FROM pg_class"
                f" WHERE oid = 'cordon.{table}'::regclass"
            ).fetchall()
            assert forced and count >= (1 if table in OF_ALL else 2), table


@pytest.mark.parametrize("table", [*OF_A_TENANT, *OF_A_NAME, *OF_ALL])
def test_a_worker_sees_no_row_without_a_tenant_and_none_of_another(
    worker: Callable[..., list[Any]], table: str
) -> None:
    assert others(worker, table) == 0
    known = {"name": "T1"} if table in OF_A_NAME else {"tenant": ALL if table in OF_ALL else "T1"}
    assert worker(f"SELECT count(*) FROM {table}", **known)[0][0] > 0
    if table not in SEEN_BY_ALL:
        assert worker(f"SELECT count(*) FROM {table}", ALL, ALL)[0][0] == 0


OF_A_SPACE = ("documents", "chunks", "vectors", "postings", "annexes", "judged", "originals")


@pytest.mark.parametrize("table", OF_A_SPACE)
def test_what_groups_share_is_seen_under_its_own_name_alone(worker: Callable[..., list[Any]], table: str) -> None:
    """Inside a tenant as between two: nothing of the other space, whatever SQL a worker sends."""
    for mine, theirs in (("T1", "T1/a"), ("T1/a", "T1"), ("T1/b", "T1/a"), ("T2", "T1/a"), ("*", "T1/a")):
        assert worker(f"SELECT count(*) FROM {table} WHERE tenant = '{theirs}'", mine) == [(0,)]
        assert worker(f"DELETE FROM {table} WHERE tenant = '{theirs}'", mine) == [0]
    assert worker(f"SELECT count(*) > 0 FROM {table}", "T1/a") == [(True,)]


def test_a_tenant_sees_which_groups_have_spaces_and_changes_none(worker: Callable[..., list[Any]]) -> None:
    seen = 'SELECT tenant FROM spaces ORDER BY tenant COLLATE "C"'
    assert worker(seen, "T1") == [("T1",), ("T1/a",)] and worker(seen, "T2") == [("T2",)]
    assert worker(seen, "T1/a") == [("T1/a",)]
    assert worker("UPDATE spaces SET version = 9 WHERE tenant = 'T1/a'", "T1") == [0]


@pytest.mark.parametrize("table", [*OF_A_TENANT, *OF_A_NAME, *OF_ALL])
def test_without_its_policy_each_table_would_be_seen(postgres: Server, filled: str, table: str) -> None:
    """The test above goes red where the policy is missing: what keeps the rows apart is the policy."""
    name = postgres.database(like=filled)
    try:
        with postgres.admin(name) as admin:
            admin.execute(f"DROP POLICY one ON cordon.{table}")
            admin.execute(f"ALTER TABLE cordon.{table} DISABLE ROW LEVEL SECURITY")
        with psycopg.connect(postgres.url(name), autocommit=True) as connection:
            connection.execute("SET search_path = cordon, public")
            assert others(lambda sql, *_, **__: connection.execute(sql).fetchall(), table) > 0
    finally:
        postgres.drop(name)


@pytest.mark.parametrize("table", [table for table in OF_A_TENANT if table not in ("spaces", "journal")])
def test_a_worker_changes_nothing_of_another_tenant(worker: Callable[..., list[Any]], table: str) -> None:
    assert worker(f"DELETE FROM {table} WHERE tenant = 'T2'", "T1") == [0]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        worker(
            f'INSERT INTO {table} OVERRIDING SYSTEM VALUE SELECT (jsonb_populate_record(one, \'{{"tenant": "T2"}}\')).* FROM {table} one',
            "T1",
        )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM vectors_1",
        "SELECT make_space('T2', 'model')",
        "SELECT drop_space('T2')",
        "SELECT index_vectors('T2', 8, 8)",
        "ALTER TABLE documents DISABLE ROW LEVEL SECURITY",
        "DROP POLICY one ON documents",
        "SET ROLE cordon_owner",
        "SET SESSION AUTHORIZATION postgres",
        "CREATE TABLE mine (a text)",
        "DELETE FROM journal",
        "TRUNCATE documents",
        "UPDATE spaces SET tenant = 'T2'",
    ],
)
def test_the_role_owns_nothing_and_cannot_get_round_it(worker: Callable[..., list[Any]], sql: str) -> None:
    with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedTable)):
        worker(sql, "T1")


def test_what_is_lent_to_the_worker_tells_no_row(worker: Callable[..., list[Any]]) -> None:
    assert worker("SELECT * FROM remains(ARRAY['the secret'])") == []  # too short for a name
    with pytest.raises(psycopg.errors.InsufficientPrivilege):  # it says so instead of showing everything
        worker("SET LOCAL row_security = off; SELECT * FROM documents", "T1")


def test_the_owner_is_refused_as_a_worker(postgres: Server, filled: str) -> None:
    from graph.errors import Unavailable

    for role in (OWNER, "postgres"):
        stores = Postgres(postgres.url(filled, role))
        with pytest.raises(Unavailable, match="row-level security"):
            stores.keys.all()
        stores.close()
