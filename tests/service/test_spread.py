"""Ingestion by several at once: the same documents as by one, once each, and on from where a kill ended it."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import IndexUnavailable
from graph.knowledge.ingest import Outcome, Source, files
from graph.service.ingest_process import Ended
from graph.service.spread import Spread
from graph.settings import Settings, load
from graph.stores.postgres.migrate import migrate
from tests.support.command import ROOT, Run, environment
from tests.support.postgres import OWNER, Server, of_files

Held = Callable[..., dict[str, tuple[str, int]]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of which some get ids beside each other's, some have one content, and one cannot be read."""
    place = tmp_path / "files"
    for n in range(6):
        (place / f"part{n}").mkdir(parents=True)
        (place / f"part{n}" / "readme.md").write_text(f"# Part {n}\n\nValve {n} opens at noon, and closes at {n}.\n")
        (place / f"part{n}" / "same.md").write_text("# Same\n\nThe kiln is fired on Mondays.\n")
    (place / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    return place


def told(done: "subprocess.CompletedProcess[str]") -> list[dict[str, Any]]:
    return sorted(map(json.loads, done.stdout.splitlines()), key=lambda row: row["name"])


@pytest.fixture
def held(settings_of: Callable[..., Settings]) -> Held:
    """File name → id and chunks of each document of U1."""

    def of(home: Path, **known: Any) -> dict[str, tuple[str, int]]:
        with Agent(settings_of(home=home, artifacts=False, **known)) as agent:
            found = agent.documents(tenant_id="U1")
        assert len({one["filename"] for one in found}) == len(found)
        return {one["filename"]: (one["doc_id"], one["chunks"]) for one in found}

    return of


def test_several_store_what_one_stores(folder: Path, tmp_path: Path, inside: Run, held: Held) -> None:
    one = told(inside("ingest", str(folder), "--tenant", "U1", "--json", home=tmp_path / "one"))
    several = ["ingest", str(folder), "--tenant", "U1", "--json", "--workers", "3"]
    first = inside(*several, home=tmp_path / "several")
    rows, at_first = told(first), held(tmp_path / "several")
    statuses = [row["status"] for row in rows]
    assert first.returncode == 0 and sorted(statuses) == sorted(row["status"] for row in one)
    assert (statuses.count("indexed"), statuses.count("quarantined")) == (7, 1)
    ids = {name: found for name, found in at_first.items() if "readme" in name}
    assert ids == {name: found for name, found in held(tmp_path / "one").items() if "readme" in name}
    assert len([name for name in at_first if "same" in name]) == 1  # whichever came first
    assert {row["status"] for row in told(inside(*several, home=tmp_path / "several"))} == {"unchanged", "quarantined"}
    assert held(tmp_path / "several") == at_first


@pytest.mark.slow
def test_it_goes_on_where_a_kill_ended_it(
    tmp_path: Path, held: Held, database_of: Callable[[Path], dict[str, Any]]
) -> None:
    place = tmp_path / "files"
    place.mkdir()
    for n in range(60):
        (place / f"note{n}.md").write_text(f"# Note {n}\n\n" + f"Valve {n} opens at noon of day {n}. " * 40)
    command = [
        sys.executable,
        "-m",
        "graph.service.cli",
        "ingest",
        str(place),
        "--tenant",
        "U1",
        "--json",
        "--workers",
        "2",
    ]
    environ = environment(tmp_path / "home", **database_of(tmp_path / "home"))
    running = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert running.stdout is not None
    before = [running.stdout.readline() for _ in range(5)]
    running.kill()
    running.communicate()
    until = time.monotonic() + 60  # its readers end with it, and give the home back
    again: Any = None
    while again is None or again.returncode == 4:
        assert time.monotonic() < until, again
        again = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, cwd=ROOT)
    rows = told(again)
    done = {json.loads(row)["name"] for row in before}
    assert again.returncode == 0 and len(rows) == 60
    assert {row["name"] for row in rows if row["status"] == "unchanged"} >= done
    assert len(held(tmp_path / "home")) == 60


class Worker:
    """Reads nothing: gives what `does` gives."""

    def __init__(self, does: Callable[[Source], Outcome]) -> None:
        self.does, self.closed = does, False

    def read(self, source: Source, go_on: Callable[[], None]) -> Outcome:
        go_on()
        return self.does(source)

    def close(self) -> None:
        self.closed = True


def spread(folder: Path, *does: Callable[[Source], Outcome]) -> tuple[Spread, list[Source], list[Worker]]:
    workers = [Worker(one) for one in does]
    return Spread(load(environ={}), workers, lambda many: None), list(files([folder], "U1")), workers


def indexed(source: Source) -> Outcome:
    return Outcome(source.name, source.name, "indexed")


def test_files_whose_ids_or_contents_meet_are_not_read_at_the_same_time(folder: Path) -> None:
    now, met, own = set[str](), list[str](), threading.Lock()

    def watched(source: Source) -> Outcome:
        with own:
            met.extend([source.path.name] if source.path.name in now else [])
            now.add(source.path.name)
        time.sleep(0.01)
        with own:
            now.discard(source.path.name)
        return indexed(source)

    readers, sources, workers = spread(folder, watched, watched, watched)
    assert sorted(at for at, _ in readers(sources)) == list(range(13)) and met == []
    assert all(worker.closed for worker in workers)


def test_a_file_that_brings_its_reader_down_is_tried_again_once(folder: Path) -> None:
    tries: dict[str, int] = {}

    def dies(source: Source) -> Outcome:
        tries[source.name] = tries.get(source.name, 0) + 1
        if source.path.name == "broken.pdf" or (tries[source.name] == 1 and source.path.name == "same.md"):
            raise Ended("it died", killed=True)
        return indexed(source)

    readers, sources, _ = spread(folder, dies, dies)
    found = {sources[at].name: outcome for at, outcome in readers(sources)}
    assert [name for name, outcome in found.items() if outcome.status != "indexed"] == ["broken.pdf"]
    assert found["broken.pdf"].reason.startswith("too_much") and tries["broken.pdf"] == 2


def test_an_index_that_fails_ends_all_of_it(folder: Path) -> None:
    def fails(source: Source) -> Outcome:
        raise IndexUnavailable("the database is away.")

    readers, sources, workers = spread(folder, fails, indexed)
    with pytest.raises(IndexUnavailable):
        list(readers(sources))
    assert all(worker.closed for worker in workers)


@pytest.mark.parametrize(
    "wrong, why",
    [
        (["--workers", "0"], "--workers is 1 to 64"),
        (["--workers", "2", "--scheduler", "tcp://x:1"], "workers of its own"),
        pytest.param(["--scheduler", "tcp://127.0.0.1:1"], "need a database", marks=of_files),
    ],
)
def test_what_cannot_be_is_told(folder: Path, tmp_path: Path, inside: Run, wrong: list[str], why: str) -> None:
    done = inside("ingest", str(folder), "--tenant", "U1", *wrong, home=tmp_path / "home")
    assert done.returncode == 2 and why in done.stderr


# -- a cluster -------------------------------------------------------------------------------------------------------


@contextmanager
def cluster(url: str, home: Path, **settings: str) -> Iterator[str]:
    """The address of a scheduler with two workers, each a process with settings of its own."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed (the extra dask)")
    known = {**environment(home), "CORDON_DATABASE_URL": url, "PYTHONPATH": str(ROOT), **settings}
    before = dict(os.environ)
    os.environ.update(known)
    try:
        made = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1", silence_logs=50
        )
    finally:
        for name in known.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
    with made:
        yield made.scheduler_address


@pytest.fixture
def url(postgres: Server) -> Iterator[str]:
    name = postgres.database(like="prepared")
    migrate(postgres.url(name, OWNER), postgres.url(name))
    yield postgres.url(name)
    postgres.drop(name)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_stores_what_one_process_stores(
    folder: Path, tmp_path: Path, inside: Run, url: str, held: Held
) -> None:
    inside("ingest", str(folder), "--tenant", "U1", "--json", home=tmp_path / "one")
    with cluster(url, tmp_path / "theirs") as address:
        command = ["ingest", str(folder), "--tenant", "U1", "--json", "--scheduler", address]
        rows = told(inside(*command, home=tmp_path / "home", database_url=url))
        assert [row["status"] for row in rows].count("indexed") == 7
        again = told(inside(*command, home=tmp_path / "home", database_url=url))
        assert {row["status"] for row in again} == {"unchanged", "quarantined"}
    ids, alone = held(tmp_path / "home", database_url=url), held(tmp_path / "one")
    assert {n: f for n, f in ids.items() if "readme" in n} == {n: f for n, f in alone.items() if "readme" in n}
    with cluster(url, tmp_path / "theirs", CORDON_CHUNK_TOKENS="100") as address:
        done = inside(*command[:-1], address, home=tmp_path / "home", database_url=url)
        assert "other settings: chunk_tokens" in done.stderr and done.returncode == 2
    done = inside(*command[:-1], "tcp://127.0.0.1:1", home=tmp_path / "home", database_url=url)
    assert "no Dask scheduler" in done.stderr and done.returncode == 4
