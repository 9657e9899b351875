"""Chroma: blank where it holds nothing, asked only while it is in step, made anew when damaged; files and a server."""

import logging
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.agent import Agent
from graph.context import ReadScope
from graph.deps import stores
from graph.errors import BadSettings, IndexUnavailable
from graph.knowledge.index import CANDIDATES, Index
from graph.settings import load
from graph.stores.embedded import FILES, Embedded, chroma
from graph.stores.embedded.chroma import Chroma
from graph.stores.embedded.space import SqliteSpace
from graph.stores.embedded.spaces import SqliteSpaces
from tests.graph.stores.test_vectors import Held
from tests.support.servers import chroma_server, free_port
from tests.support.spaces import Pointing, directions, index_at, put


def test_the_room_of_an_empty_index_is_blank_on_disk(tmp_path: Path) -> None:
    vectors = np.eye(3, 384, dtype=np.float32)
    first = Chroma(tmp_path)
    first.sync(Held(vectors[:2]))
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert room.stat().st_size > 100_000  # as hnswlib leaves it: room for a hundred, none taken
    assert not any(room.read_bytes())
    first.close()

    room.write_bytes(b"another tenant's text ".ljust(room.stat().st_size, b"!"))  # what an earlier version wrote
    again = Chroma(tmp_path)
    again.sync(Held(vectors))
    assert not any(room.read_bytes())
    assert again.nearest(Held(vectors), vectors[1], 1) == [2]
    again.drop()


def test_an_index_that_has_outgrown_its_first_room_is_left_alone(tmp_path: Path) -> None:
    held = Held(np.random.default_rng(0).normal(size=(1_100, 384)).astype(np.float32))
    index = Chroma(tmp_path)
    index.sync(held)
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert any(room.read_bytes())
    assert index.nearest(held, held.vectors[700], 1) == [701]
    index.drop()


def test_an_empty_space_has_no_copy_and_one_that_was_emptied_loses_it(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = Chroma(folder)
    index.sync(Held(directions(0)))
    assert not folder.exists()
    for key in ("one", "two"):
        index.sync(Held(directions(11), key=key))
    index.sync(Held(directions(0), key="one"))
    assert [one.name for one in index._client.list_collections()] == ["space-two"]
    index.sync(Held(directions(0), key="two"))
    assert not folder.exists()


# -- in step ------------------------------------------------------------------------------------------------------


def fill(index: Index, count: int, name: str = "d", seed: int = 0) -> np.ndarray:
    """One document of so many chunks with random directions; returns them."""
    space = index.space("T1", create=True)
    assert space is not None
    vectors = directions(count, seed=seed)
    put(space, name, *[f"word{n} " for n in range(count)], vectors=vectors)
    return vectors


def found(index: Index, number: int) -> list[str]:
    return [hit.chunk_id for hit in index.search(ReadScope("T1"), str(number), 5)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows Chroma gave, question by question; -1 where it was not in step."""
    seen: list[int] = []
    genuine = Chroma._approximate

    def watched(self: Chroma, *given: Any) -> list[int] | None:
        rows = genuine(self, *given)
        seen.append(-1 if rows is None else len(rows))
        return rows

    monkeypatch.setattr(Chroma, "_approximate", watched)
    return seen


def test_a_space_answers_before_its_copy_is_there_and_after_it_has_changed(tmp_path: Path, asked: list[int]) -> None:
    pointing = Pointing()
    index, exact = index_at(tmp_path, pointing, chroma=True), index_at(tmp_path, pointing)
    pointing.vectors = fill(index, 150)
    assert found(index, 7)[0] == "d_7" and asked == [-1]
    index.spaces.sync("T1")
    assert found(index, 7) == found(exact, 7) and asked == [-1, 50]
    pointing.vectors = fill(index, 150, seed=1)  # the same document with other vectors under the same names
    assert found(index, 7)[0] == "d_7" and asked == [-1, 50, -1]
    index.spaces.sync("T1")
    assert found(index, 7) == found(exact, 7) and found(index, 7)[0] == "d_7" and asked == [-1, 50, -1, 50, 50]
    space = index.space("T1")
    assert space is not None and space.remove("d")
    fill(index, 120, "e", seed=2)
    assert all(name.startswith("e_") for name in found(index, 7)) and asked[-1] == -1
    index.close()
    exact.close()


def test_a_space_in_step_does_not_read_every_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    pointing = Pointing()
    index = index_at(tmp_path, pointing, chroma=True)
    pointing.vectors = fill(index, 150)
    index.spaces.sync("T1")
    monkeypatch.setattr(SqliteSpace, "matrix", lambda self: pytest.fail("every vector is read"))
    assert found(index, 3)[0] == "d_3"
    assert index.search(ReadScope("T1"), "3", 5, documents=["d"])[0].chunk_id == "d_3"
    index.close()


# -- a damaged copy -----------------------------------------------------------------------------------------------

DAMAGE = {
    "its database is no database": lambda chroma: (chroma / "chroma.sqlite3").write_bytes(b"garbage" * 1_000),
    "its database is cut": lambda chroma: (chroma / "chroma.sqlite3").write_bytes((chroma / "chroma.sqlite3").read_bytes()[:9_000]),
    "a header is garbage": lambda chroma: next(chroma.glob("*/header.bin")).write_bytes(b"garbage"),
    "a header is missing": lambda chroma: next(chroma.glob("*/header.bin")).unlink(),
}  # fmt: skip


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_copy_is_made_anew_and_said_so(tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture) -> None:
    settings = load(environ={}, home=tmp_path / "home", artifacts=False, vectors="chroma")
    (tmp_path / "one.md").write_text("# Vents\n\nThe heron vent opens on Friday.\n")
    (tmp_path / "two.md").write_text("# Gates\n\nThe ibis gate opens on Monday.\n")
    with Agent(settings) as agent:
        agent.ingest(tmp_path / "one.md", tenant_id="T1")
    DAMAGE[how](settings.home / "index" / "chroma")
    with Agent(settings) as agent, caplog.at_level(logging.WARNING, "cordon.index"):
        assert [o.status for o in agent.ingest(tmp_path / "two.md", tenant_id="T1")] == ["indexed"]
        index = agent.deps.index
        space = index.space("T1")
        assert isinstance(space, SqliteSpace) and isinstance(index.spaces, SqliteSpaces)
        vectors = index.spaces._vectors
        assert isinstance(vectors, Chroma)
        held = vectors._approximate(space.key, agent.deps.embedder.embed(["gate"])[0], 5, space.stamp())
        assert sorted(held or []) == sorted(space.matrix()[0])
        assert agent.ask("When does the ibis gate open?", tenant_id="T1").decision == "answer"
    said = [record.getMessage() for record in caplog.records if "damaged" in record.getMessage()]
    assert len(said) <= 1 and all("it was made anew from the documents" in line for line in said)
    assert said or "header" in how  # Chroma itself may do without a header that it can make again


def test_a_copy_that_cannot_be_made_anew_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Chroma, "sync", fails)
    (tmp_path / "one.md").write_text("# Vents\n\nThe heron vent opens on Friday.\n")
    with Agent(load(environ={}, home=tmp_path / "home", artifacts=False, vectors="chroma")) as agent:
        with pytest.raises(IndexUnavailable, match="cannot be written, nor made anew") as told:
            agent.ingest(tmp_path / "one.md", tenant_id="T1")
        assert "Make room" in told.value.hint
        assert agent.ask("When does the heron vent open?", tenant_id="T1").decision == "answer"


# -- a large space ------------------------------------------------------------------------------------------------

MANY, QUESTIONS, RECALL = 25_000, 50, 0.99


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Pointing]:
    """A home whose tenant T1 has a large space, synced as `cordon ingest` does, and questions of any direction."""
    home, pointing = tmp_path_factory.mktemp("large") / "home", Pointing()
    pointing.vectors = directions(QUESTIONS, 4, seed=7)
    index = Index(Embedded(home, chroma=FILES).spaces(pointing.name), pointing)
    space = index.space("T1", create=True)
    assert space is not None
    put(space, "d", *[f"w{n} " for n in range(MANY)], vectors=directions(MANY, 4))
    index.spaces.sync("T1")
    index.close()
    return home, pointing


def answers(home: Path, pointing: Pointing, *, chroma: str = "") -> list[list[str]]:
    """The best ten chunks for each question."""
    index = Index(Embedded(home, chroma=chroma).spaces(pointing.name), pointing)
    try:
        return [[hit.chunk_id for hit in index.search(ReadScope("T1"), str(n), 10)] for n in range(QUESTIONS)]
    finally:
        index.close()


def test_of_a_large_space_chroma_finds_what_exact_search_does(
    large: tuple[Path, Pointing], asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = answers(*large)
    assert asked == []
    with monkeypatch.context() as patched:
        patched.setattr(SqliteSpace, "matrix", lambda self: pytest.fail("every vector is read"))
        near = answers(*large, chroma=FILES)
    assert asked == [CANDIDATES] * QUESTIONS
    assert all(len(ids) == 10 for ids in exact)
    recall = sum(len(set(one) & set(other)) for one, other in zip(near, exact, strict=True)) / (10 * QUESTIONS)
    assert recall >= RECALL and near == answers(*large, chroma=FILES)


def test_who_drops_a_space_drops_the_copy_that_was_made_before_it(large: tuple[Path, Pointing]) -> None:
    home, pointing = large
    assert list((home / "index" / "chroma").glob("*/data_level0.bin"))
    spaces = Embedded(home).spaces(pointing.name)
    spaces.drop("T1")
    assert [path.name for path in (home / "index").rglob("*") if path.is_file()] == []


# -- a server -----------------------------------------------------------------------------------------------------


def test_processes_see_at_once_what_another_one_puts_into_a_space(
    tmp_path: Path, chroma_url: str, asked: list[int]
) -> None:
    pointing = Pointing()
    here, there = (Index(Embedded(tmp_path, chroma=chroma_url).spaces(pointing.name), pointing) for _ in range(2))
    pointing.vectors = fill(there, 150)
    there.spaces.sync("T1")
    assert found(here, 3)[0] == "d_3" and asked == [50]
    space = there.space("T1")
    assert space is not None
    put(space, "new", "w ", vectors=-pointing.vectors[3:4])
    pointing.vectors[3] *= -1
    assert found(here, 3)[0] == "new_0" and asked == [50, -1]  # before the server has it
    there.spaces.sync("T1")
    assert found(here, 3)[0] == "new_0" and asked[-1] == 51 - 1
    for index in (here, there):
        index.close()


def test_homes_at_one_server_do_not_meet_and_one_that_goes_leaves_the_other(
    tmp_path: Path, chroma_url: str, asked: list[int]
) -> None:
    pointing = Pointing()
    one, other = (Index(Embedded(tmp_path / n, chroma=chroma_url).spaces(pointing.name), pointing) for n in "ab")
    pointing.vectors = fill(one, 60)
    fill(other, 60, "e", seed=3)
    for index in (one, other):
        index.spaces.sync("T1")
    assert found(one, 5)[0] == "d_5" and all(name.startswith("e_") for name in found(other, 5))
    one.spaces.drop("T1")
    assert found(one, 5) == [] and found(other, 5) and asked[-1] == 50
    for index in (one, other):
        index.close()


def test_a_server_that_is_gone_is_said_and_every_vector_is_compared(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, asked: list[int]
) -> None:
    pointing, port = Pointing(), free_port()
    with chroma_server(tmp_path / "server", port) as url:
        index = Index(Embedded(tmp_path / "home", chroma=url).spaces(pointing.name), pointing)
        pointing.vectors = fill(index, 60)
        index.spaces.sync("T1")
        assert found(index, 5)[0] == "d_5" and asked == [50]
    with caplog.at_level(logging.WARNING, "cordon.index"):
        assert [found(index, n)[0] for n in (5, 6)] == ["d_5", "d_6"] and asked == [50, -1, -1]
    assert len([r for r in caplog.records if "was not asked" in r.getMessage()]) == 1
    with pytest.raises(IndexUnavailable, match="cannot be written") as told:
        fill(index, 61, "e", seed=2)
        index.spaces.sync("T1")
    assert "Is the Chroma server at http://127.0.0.1" in told.value.hint
    with pytest.raises(IndexUnavailable, match="cannot be removed"):
        index.spaces.drop("T1")  # what is erased is gone everywhere, or it is said
    index.close()


def test_a_server_that_says_nothing_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pointing, port = Pointing(), free_port()
    monkeypatch.setattr(chroma, "SERVER_S", 0.5)
    with chroma_server(tmp_path / "server", port) as url:
        index = Index(Embedded(tmp_path / "home", chroma=url).spaces(pointing.name), pointing)
        pointing.vectors = fill(index, 60)
        index.spaces.sync("T1")
        assert found(index, 5)[0] == "d_5"
    with socket.create_server(("127.0.0.1", port)):
        begun = time.monotonic()
        assert found(index, 5)[0] == "d_5" and time.monotonic() - begun < 5
    index.close()


def test_answers_are_the_same_from_a_server_and_a_service_wants_one(
    tmp_path: Path, chroma_url: str, asked: list[int]
) -> None:
    (tmp_path / "gates.md").write_text("# Gates\n\nThe ibis gate opens on Monday. The heron gate opens on Friday.\n")
    told: list[str] = []
    ways: tuple[dict[str, Any], ...] = ({}, {"vectors": "chroma"}, {"vectors": "chroma", "chroma_url": chroma_url})
    for given in ways:
        settings = load(environ={}, home=tmp_path / str(len(told)), artifacts=False, **given)
        with Agent(settings) as agent:
            agent.ingest(tmp_path / "gates.md", tenant_id="T1")
            told.append(agent.ask("When does the ibis gate open?", tenant_id="T1").answer)
    assert len(set(told)) == 1 and "Monday" in told[0] and asked and -1 not in asked
    with pytest.raises(BadSettings, match="Chroma's files are for one process"):
        stores(load(environ={}, home=tmp_path, vectors="chroma"), serves=True)
    with pytest.raises(BadSettings, match="looks for neighbours itself"):
        stores(load(environ={}, home=tmp_path, vectors="chroma", database_url="postgresql://a@b/c"))
