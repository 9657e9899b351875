"""Several workers on one database, and a database that goes away: each a process of its own where it must be killed."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from graph.errors import IndexUnavailable, Unavailable
from graph.stores.limits import Allowance, Refusal
from graph.stores.postgres import Postgres, database, session
from graph.stores.postgres.database import Database
from graph.stores.postgres.migrate import migrate, newest
from graph.stores.uploads import File, Job
from tests.support.postgres import OWNER, Server, server

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    name = postgres.database(like="prepared")
    yield postgres.url(name)
    postgres.drop(name)


@pytest.fixture
def worker(url: str) -> Iterator[Callable[..., Postgres]]:
    with ExitStack() as done:

        def make(connections: int = 4, wait_s: float = 2) -> Postgres:
            made = Postgres(url, connections=connections, wait_s=wait_s)
            done.callback(made.close)
            return made

        yield make


@pytest.fixture
def killed(url: str) -> Iterator[Callable[[str], "subprocess.Popen[str]"]]:
    """A process that does something with `stores`, says so, and then waits to be killed."""
    with ExitStack() as done:

        def start(does: str) -> "subprocess.Popen[str]":
            code = (
                "import sys, time; from graph.stores.postgres import Postgres; from graph.stores.limits import Allowance\n"
                "from graph.stores.uploads import File, Job\n"
                f"stores = Postgres({url!r})\n{does}\nprint('done', flush=True); time.sleep(600)"
            )
            process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=ROOT)
            done.enter_context(process)
            done.callback(process.kill)
            assert process.stdout is not None and process.stdout.readline() == "done\n"
            return process

        yield start


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    """The server sees soon that a process is gone, not at once."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_thread_is_one_workers_at_a_time(worker: Callable[..., Postgres]) -> None:
    one, other, said = worker(), worker(), list[str]()

    def turn() -> None:
        with other.thread("t"):
            said.append("second")

    with one.thread("t"):
        waiting = threading.Thread(target=turn)
        waiting.start()
        with other.thread("u"):
            waiting.join(0.3)
            said.append("first")
    waiting.join()
    assert said == ["first", "second"]


def test_a_thread_is_free_again_when_its_worker_dies(
    worker: Callable[..., Postgres], killed: Callable[..., object]
) -> None:
    process = killed("turn = stores.thread('t'); turn.__enter__()")
    taken = threading.Event()

    def turn() -> None:
        with worker().thread("t"):
            taken.set()

    waiting = threading.Thread(target=turn)
    waiting.start()
    assert not taken.wait(0.5)
    process.kill()  # type: ignore[attr-defined]
    assert taken.wait(60)
    waiting.join()


def test_limits_hold_across_workers_and_a_dead_ones_places_come_back(
    worker: Callable[..., Postgres], killed: Callable[..., object]
) -> None:
    one, key = worker(), Allowance("key", "a", 60, 2)
    process = killed("assert stores.counters.enter([Allowance('key', 'a', 60, 2)]) is None")
    assert one.counters.enter([key]) is None and one.counters.enter([key]) == Refusal("key", 0)
    process.kill()  # type: ignore[attr-defined]
    until(lambda: one.counters.enter([key]) is None)


def test_a_job_is_its_workers_and_the_next_ones_when_that_dies(
    worker: Callable[..., Postgres], killed: Callable[..., object]
) -> None:
    process = killed(
        "stores.uploads.begin('j')\nwith stores.uploads.file('j', 0) as out: out.write(b'x' * 5_000_000)\n"
        "stores.uploads.save(Job('j', 'T1', 'ann', 'queued', 'now', [File('a', 5_000_000)]))\n"
        "stores.uploads.begin('half')"
    )
    one, other = worker(), worker()
    assert list(one.uploads.jobs()) == list(one.uploads.left()) == []
    seen = [one.uploads.elsewhere(*who) for who in (("T1", "ann"), ("T1", "bob"), ("T2", "ann"))]
    assert [[job.job_id for job in jobs] for jobs in seen] == [["j"], [], []]
    process.kill()  # type: ignore[attr-defined]
    until(lambda: bool(one.uploads.left()))
    assert not other.uploads.left() and not one.uploads.elsewhere("T1", "ann")
    assert [job.job_id for job in one.uploads.jobs()] == ["j"] and list(other.uploads.jobs()) == []
    with one.uploads.local("j", 0) as path:
        assert Path(path).read_bytes() == b"x" * 5_000_000
    one.uploads.save(Job("j", "T1", "ann", "done", "now", [File("a", 3)]))


def test_workers_write_one_chain(worker: Callable[..., Postgres]) -> None:
    both = worker(), worker()

    def write(stores: Postgres) -> None:
        for n in range(25):
            stores.journal.append({"run_id": f"r{n}", "tenant_id": "T1"})

    writers = [threading.Thread(target=write, args=[stores]) for stores in both for _ in range(2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert both[0].journal.prove().entries == 100 and both[0].journal.prove().holds


def test_a_chain_that_was_tampered_with_is_told(worker: Callable[..., Postgres], postgres: Server, url: str) -> None:
    stores = worker()
    for n in range(4):
        stores.journal.append({"run_id": f"r{n}", "tenant_id": "T1"})
    name = str(conninfo_to_dict(url)["dbname"])
    for sql, why in (
        ("UPDATE cordon.journal SET line = replace(line, 'r1', 'r7') WHERE seq = 2", "changed after it was written"),
        ("DELETE FROM cordon.journal WHERE seq = 2", "missing, added or out of order"),
        ("DELETE FROM cordon.journal WHERE seq = 4", "was cut: 4 entries were written"),
        ("DELETE FROM cordon.journal", "was emptied"),
    ):
        with postgres.admin(name) as admin:
            before = list(admin.execute("SELECT * FROM cordon.journal ORDER BY seq"))
            admin.execute(sql)
            broken = stores.journal.prove().broken
            assert broken is not None and why in broken.why
            admin.execute("DELETE FROM cordon.journal")
            admin.cursor().executemany("INSERT INTO cordon.journal VALUES (%s, %s, %s, %s, %s)", before)
    assert stores.journal.prove().holds


def test_no_free_connection_in_time_is_told(worker: Callable[..., Postgres]) -> None:
    stores = worker(connections=1, wait_s=0.3)
    spaces = stores.spaces("model")
    space = spaces.space("T1", create=True)
    assert space is not None
    with space.reading(), pytest.raises(Unavailable, match="all 1 connections"):
        stores.keys.all()
    assert stores.keys.all() == []


def test_workers_that_set_up_a_database_at_once_set_it_up_once(postgres: Server) -> None:
    name = postgres.database()
    done: list[object] = []

    def set_up() -> None:
        try:
            done.append(migrate(postgres.url(name, OWNER), postgres.url(name)))
        except Exception as error:
            done.append(error)

    several = [threading.Thread(target=set_up) for _ in range(4)]
    for one in several:
        one.start()
    for one in several:
        one.join()
    files = sorted(path.name for path in (ROOT / "graph/stores/postgres/migrations").glob("[0-9]*.sql"))
    assert sorted(map(str, done)) == sorted(["[]", "[]", "[]", str(files)])
    postgres.drop(name)


def test_a_database_of_another_version_or_none_is_told(
    postgres: Server, worker: Callable[..., Postgres], url: str
) -> None:
    name = str(conninfo_to_dict(url)["dbname"])
    with postgres.admin(name) as admin:
        admin.execute("INSERT INTO cordon.migrations VALUES (99, '0099_later.sql')")
    with pytest.raises(Unavailable, match=f"version 99, this Cordon needs {newest()}"):
        worker().keys.all()
    with pytest.raises(IndexUnavailable, match="version 99"):
        worker().spaces("model").space("T1")
    with pytest.raises(Unavailable, match="newer Cordon"):
        migrate(postgres.url(name, OWNER), url)
    bare = postgres.database()
    stores = Postgres(postgres.url(bare))
    with pytest.raises(Unavailable, match="not set up"):
        stores.keys.all()
    assert {state.status for state in stores.examine().values()} == {"fail"}
    stores.close()
    postgres.drop(bare)


@pytest.mark.slow
def test_what_was_answered_survives_a_kill_of_the_server_and_answers_come_again() -> None:
    with server(options="") as own:  # as an operator has it: every commit on disk
        migrate(own.url("prepared", OWNER), own.url("prepared"))
        stores = Postgres(own.url("prepared"), connections=3, wait_s=1)
        lease = stores.hold()
        done: list[int] = []
        wrong: list[Exception] = []

        def write(name: str) -> None:
            for n in range(400):
                try:
                    with stores.thread(name):
                        done.append(stores.journal.append({"run_id": f"{name}{n}", "tenant_id": "T1"})["seq"])
                except Unavailable:
                    time.sleep(0.2)
                except Exception as error:
                    wrong.append(error)

        writers = [threading.Thread(target=write, args=[name]) for name in "abc"]
        for writer in writers:
            writer.start()
        until(lambda: len(done) > 50)
        own.stop("immediate")
        assert not lease.held() and stores.journal.state() == "away"
        with pytest.raises(Unavailable):
            stores.keys.all()
        own.start()
        until(lambda: lease.held())
        for writer in writers:
            writer.join()
        proof = stores.journal.prove()
        assert wrong == [] and proof.holds and set(done) <= set(range(1, proof.entries + 1))
        assert len(set(done)) == len(done) > 300 and stores.journal.state() == "ok"
        stores.close()


def test_who_came_in_on_a_connection_that_was_lost_leaves_no_room_for_two(worker: Callable[..., Postgres]) -> None:
    stores, key = worker(), [Allowance("key", "a", 60, 1)]
    assert stores.counters.enter(key) is None
    stores._session.close()
    assert stores.counters.enter(key) is None
    for _ in range(2):
        stores.counters.leave(key)
    assert [stores.counters.enter(key) for _ in range(2)] == [None, Refusal("key", 0)]


def test_a_connection_on_which_nothing_is_said_is_given_up(
    worker: Callable[..., Postgres], postgres: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server's process stands still, and its host answers for it: no timer of TCP ends that."""
    monkeypatch.setattr(session, "_PATIENCE_S", 1.0)
    stores = worker()
    lease, asked = stores.hold(), list[object]()
    with postgres.admin() as admin:
        sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'cordon' AND datname = %s"
        [(pid,)] = admin.execute(sql, [conninfo_to_dict(url)["dbname"]]).fetchall()
    asking = threading.Thread(target=lambda: asked.append(stores.keys.find("none")), daemon=True)
    os.kill(pid, signal.SIGSTOP)
    try:
        asking.start()
        asking.join(10)
        assert asked == [None] and lease.held()  # on another connection
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_statement_may_take_longer_only_where_it_is_known_to(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE_S", 0.5)
    known = Database(url, most=1, wait_s=2)
    sleep = "SELECT pg_sleep(1.5)"
    with known.transaction() as cursor:
        cursor.execute("SELECT 1")
    with pytest.raises(Unavailable, match=r"said nothing for 0\.5 seconds"), known.transaction() as cursor:
        cursor.execute(sleep)
    with known.transaction(long=True) as cursor:
        cursor.execute(sleep)
    with pytest.raises(Unavailable, match="said nothing"), known.transaction() as cursor:
        cursor.execute(sleep)
    known.close()


def test_who_stands_in_line_while_the_database_is_away_is_told_at_once(
    worker: Callable[..., Postgres], monkeypatch: pytest.MonkeyPatch
) -> None:
    stores, tried = worker(wait_s=0.3), list[float]()

    def connect(*arguments: Any, **known: Any) -> Any:
        tried.append(time.monotonic())
        time.sleep(0.3)
        raise psycopg.OperationalError("connection failed: timeout")

    def asked() -> None:
        with pytest.raises(Unavailable, match="timeout"):
            stores.counters.enter([])
        with pytest.raises(Unavailable, match="timeout"):
            stores.keys.all()

    monkeypatch.setattr(database.Connection, "connect", connect)
    begun = time.monotonic()
    for _ in range(5):
        asked()
    assert time.monotonic() - begun < 1 and len(tried) <= 2  # one of the session, one of the pool
    monkeypatch.setattr(database, "_AWAY_S", 0.0)
    with pytest.raises(Unavailable, match="timeout"):
        stores.counters.enter([])
    assert len(tried) > 1


def test_connections_that_lie_behind_a_dead_one_are_not_tried_one_after_the_other(
    worker: Callable[..., Postgres], postgres: Server, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE_S", 1.0)
    stores = worker(connections=4)
    with ExitStack() as open_at_once:
        for _ in range(4):
            open_at_once.enter_context(stores._database.transaction())
    with postgres.admin() as admin:
        sql = "SELECT pid FROM pg_stat_activity WHERE application_name = 'cordon' AND datname = %s"
        silent = [pid for (pid,) in admin.execute(sql, [conninfo_to_dict(url)["dbname"]]).fetchall()]
    assert len(silent) == 4
    for pid in silent:
        os.kill(pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        assert stores.keys.all() == []
        assert time.monotonic() - begun < 2
    finally:
        for pid in silent:
            os.kill(pid, signal.SIGCONT)


def test_answers_come_again_as_soon_as_the_database_does(postgres: Server, url: str, tmp_path: Path) -> None:
    """The pool alone would try after pauses that double: here 1, 2 and 4 seconds, after ten minutes four minutes."""
    away = Path(tempfile.mkdtemp(dir="/tmp"))
    stores = Postgres(url.replace(str(postgres.folder), str(away)), connections=2, wait_s=0.5)
    for _ in range(4):  # as people do who wait
        with pytest.raises(Unavailable):
            stores.keys.all()
        time.sleep(0.5)
    (away / ".s.PGSQL.5432").symlink_to(postgres.folder / ".s.PGSQL.5432")
    assert stores.keys.all() == []
    stores.close()
    shutil.rmtree(away)
