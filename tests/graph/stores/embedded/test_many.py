"""Many tenants in one process: files and vectors are let go, and nobody at work notices."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from graph.agent import Agent
from graph.knowledge.embeddings import shared
from graph.knowledge.index import Index
from graph.settings import load
from graph.stores.embedded.conversations import SqliteConversations
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.space import SqliteSpace
from graph.stores.embedded.spaces import SqliteSpaces
from tests.support.command import ROOT
from tests.support.spaces import index_at, put


def handles(below: Path) -> int:
    """How many files below the folder this process holds open."""
    found = 0
    for link in Path("/proc/self/fd").iterdir():
        try:
            found += str(link.readlink()).startswith(str(below))
        except OSError:
            continue
    return found


pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are counted in /proc")


@pytest.fixture
def index(tmp_path: Path) -> Index:
    return index_at(tmp_path / "index", shared(), most_open=4)


def made(index: Index, tenant: str) -> SqliteSpace:
    space = index.space(tenant, create=True)
    assert isinstance(space, SqliteSpace)
    put(space, f"doc_{tenant}", f"the valve of {tenant}")
    return space


def test_the_latest_stay_open_and_the_others_come_back(index: Index, tmp_path: Path) -> None:
    spaces = [made(index, f"T{n}") for n in range(40)]
    assert handles(tmp_path) <= 3 * 5
    assert [space.count() for space in spaces] == [(1, 1)] * 40  # those that were let go, too
    for n in range(40):
        index.space(f"T{n}")
    assert handles(tmp_path) <= 3 * 40
    assert all(index.space(f"T{n}") is spaces[n] for n in range(40))  # one object, one lock
    index.close()
    assert handles(tmp_path) == 0


def test_a_space_in_which_a_thread_reads_stays_open(index: Index) -> None:
    space = made(index, "reader")
    reading, go_on = threading.Event(), threading.Event()
    seen: list[object] = []

    def read() -> None:
        with space.reading():
            seen.append(space.count())
            reading.set()
            go_on.wait(30)
            seen.append(space.count())

    thread = threading.Thread(target=read)
    thread.start()
    reading.wait(30)
    for n in range(10):
        made(index, f"T{n}")
    assert space._opened is not None and not space.rest()
    go_on.set()
    thread.join()
    assert seen == [(1, 1), (1, 1)]
    made(index, "one more")
    assert space._opened is None
    index.close()


def test_threads_that_search_while_spaces_come_and_go_find_what_is_theirs(index: Index) -> None:
    for n in range(12):
        made(index, f"T{n}")
    wrong: list[object] = []

    def work(seed: int) -> None:
        dice = np.random.default_rng(seed)
        try:
            for _ in range(40):
                n = int(dice.integers(12))
                space = index.space(f"T{n}")
                assert isinstance(space, SqliteSpace)
                with space.reading():
                    if space.document_names()[0][0] != f"doc_T{n}" or len(space.matrix()[0]) != 1:
                        wrong.append(n)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    index.close()


def test_a_space_that_was_dropped_does_not_come_back_empty(index: Index) -> None:
    from graph.errors import IndexUnavailable

    space = made(index, "gone")
    index.spaces.drop("gone")
    with pytest.raises(IndexUnavailable, match="is missing"):
        space.count()
    assert not space.path.exists()


def test_conversations_of_many_tenants(tmp_path: Path) -> None:
    kept = SqliteConversations(tmp_path, most_open=4)
    reply = dict.fromkeys(
        ("timestamp", "question", "decision", "answer", "sentences", "citations", "confidence", "refusal", "verdict", "safety_flags"), ""
    )  # fmt: skip
    for n in range(40):
        kept.add(f"T{n}", "ann", "t", reply | {"run_id": f"r{n}"}, {}, None)
    assert handles(tmp_path) <= 3 * 4
    assert [kept.turns(f"T{n}", "ann", "t")[0]["run_id"] for n in range(40)] == [f"r{n}" for n in range(40)]
    kept.close()


MANY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
from pathlib import Path
from graph.agent import Agent
from graph.settings import load
base = Path(sys.argv[1])
(base / "one.md").write_text("# Vents\\n\\nThe heron vent opens on Friday.\\n")
with Agent(load(environ={}, home=base / "home", artifacts=False)) as agent:
    for n in range(40):
        agent.ingest(base / "one.md", tenant_id=f"T{n}")
        reply = agent.ask("When does the heron vent open?", tenant_id=f"T{n}", memory="buffer")
        assert reply.decision == "answer", (n, reply.answer)
"""


@pytest.mark.slow
def test_forty_tenants_where_few_files_may_be_open(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    with Agent(load(environ={}, home=tmp_path / "home", artifacts=False)) as agent:
        assert len(agent.threads(tenant_id="T39")) == 1


def test_a_marker_that_is_damaged_or_names_another_space_is_passed_over(tmp_path: Path) -> None:
    """What there is for groups is told by markers; none leads to another tenant's space, or hides one beside it."""
    made = SqliteSpaces(tmp_path, "model", Exact())
    for name in ("T1/a", "T1/b", "T1/c", "T2/a"):
        assert made.space(name, create=True) is not None
    markers = {path.read_text(): path for path in tmp_path.rglob("*.made")}
    markers["T1/a"].write_text("T2/a")
    markers["T1/b"].write_bytes(b"\xff")
    made.close()
    again = SqliteSpaces(tmp_path, "model", Exact())
    assert again.audiences("T1") == ["T1/c"] and again.audiences("T2") == ["T2/a"]
    again.close()
