"""Chroma: blank where it holds nothing, asked for large spaces alone and only while it is in step, made anew when damaged."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.agent import Agent
from graph.context import Reader
from graph.errors import IndexUnavailable
from graph.knowledge.index import CANDIDATES, Index
from graph.settings import load
from graph.stores.embedded import Embedded, chroma
from graph.stores.embedded.chroma import Chroma
from graph.stores.embedded.space import SqliteSpace
from graph.stores.embedded.spaces import SqliteSpaces
from tests.graph.stores.test_vectors import Held
from tests.support.spaces import Pointing, directions, index_at, put


def test_the_room_of_an_empty_index_is_blank_on_disk(tmp_path: Path) -> None:
    vectors = np.eye(3, 384, dtype=np.float32)
    first = Chroma(tmp_path, above=0)
    first.settle(Held(vectors[:2]))
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert room.stat().st_size > 100_000  # as hnswlib leaves it: room for a hundred, none taken
    assert not any(room.read_bytes())
    first.close()

    room.write_bytes(b"another tenant's text ".ljust(room.stat().st_size, b"!"))  # what an earlier version wrote
    again = Chroma(tmp_path, above=0)
    again.settle(Held(vectors))
    assert not any(room.read_bytes())
    assert again.nearest(Held(vectors), vectors[1], 1) == [2]
    again.drop()


def test_an_index_that_has_outgrown_its_first_room_is_left_alone(tmp_path: Path) -> None:
    held = Held(np.random.default_rng(0).normal(size=(1_100, 384)).astype(np.float32))
    index = Chroma(tmp_path, above=0)
    index.settle(held)
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert any(room.read_bytes())
    assert index.nearest(held, held.vectors[700], 1) == [701]
    index.drop()


def test_a_small_space_has_no_copy_and_one_that_shrank_loses_it(tmp_path: Path) -> None:
    folder = tmp_path / "chroma"
    index = Chroma(folder, above=10)
    index.settle(Held(directions(10)))
    assert not folder.exists()
    for key in ("one", "two"):
        index.settle(Held(directions(11), key=key))
    index.settle(Held(directions(5), key="one"))
    assert [one.name for one in index._client.list_collections()] == ["space-two"]
    index.settle(Held(directions(5), key="two"))
    assert not folder.exists()


# -- above the limit ----------------------------------------------------------------------------------------------


def fill(index: Index, count: int, name: str = "d", seed: int = 0) -> np.ndarray:
    """One document of so many chunks with random directions; returns them."""
    space = index.space("T1", create=True)
    assert space is not None
    vectors = directions(count, seed=seed)
    put(space, name, *[f"word{n} " for n in range(count)], vectors=vectors)
    return vectors


def found(index: Index, number: int) -> list[str]:
    return [hit.chunk_id for hit in index.search(Reader("T1"), str(number), 5)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows Chroma gave, question by question; -1 where it was not in step."""
    seen: list[int] = []
    genuine = Chroma._found

    def watched(self: Chroma, *given: Any) -> list[int] | None:
        rows = genuine(self, *given)
        seen.append(-1 if rows is None else len(rows))
        return rows

    monkeypatch.setattr(Chroma, "_found", watched)
    return seen


def test_a_large_space_answers_before_its_copy_is_there_and_after_it_has_changed(
    tmp_path: Path, asked: list[int]
) -> None:
    pointing = Pointing()
    index, exact = index_at(tmp_path, pointing, above=100), index_at(tmp_path, pointing)
    pointing.vectors = fill(index, 150)
    assert found(index, 7)[0] == "d_7" and asked == [-1]
    index.spaces.settle("T1")
    assert found(index, 7) == found(exact, 7) and asked == [-1, 50]
    pointing.vectors = fill(index, 150, seed=1)  # the same document with other vectors under the same names
    assert found(index, 7)[0] == "d_7" and asked == [-1, 50, -1]
    index.spaces.settle("T1")
    assert found(index, 7) == found(exact, 7) and found(index, 7)[0] == "d_7" and asked == [-1, 50, -1, 50, 50]
    space = index.space("T1")
    assert space is not None and space.remove("d")
    fill(index, 120, "e", seed=2)
    assert all(name.startswith("e_") for name in found(index, 7)) and asked[-1] == -1
    index.close()
    exact.close()


def test_a_large_space_does_not_read_every_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    pointing = Pointing()
    index = index_at(tmp_path, pointing, above=100)
    pointing.vectors = fill(index, 150)
    index.spaces.settle("T1")
    monkeypatch.setattr(SqliteSpace, "matrix", lambda self: pytest.fail("every vector is read"))
    assert found(index, 3)[0] == "d_3"
    assert index.search(Reader("T1"), "3", 5, documents=["d"])[0].chunk_id == "d_3"
    index.close()


# -- a damaged copy -----------------------------------------------------------------------------------------------

DAMAGE = {
    "its database is no database": lambda chroma: (chroma / "chroma.sqlite3").write_bytes(b"garbage" * 1_000),
    "its database is cut": lambda chroma: (chroma / "chroma.sqlite3").write_bytes((chroma / "chroma.sqlite3").read_bytes()[:9_000]),
    "a header is garbage": lambda chroma: next(chroma.glob("*/header.bin")).write_bytes(b"garbage"),
    "a header is missing": lambda chroma: next(chroma.glob("*/header.bin")).unlink(),
}  # fmt: skip


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_copy_is_made_anew_and_said_so(
    tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "EXACT_LIMIT", 0)
    settings = load(environ={}, home=tmp_path / "home", artifacts=False)
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
        held = vectors._found(space.key, agent.deps.embedder.embed(["gate"])[0], 5, space.stamp())
        assert sorted(held or []) == sorted(space.matrix()[0])
        assert agent.ask("When does the ibis gate open?", tenant_id="T1").decision == "answer"
    said = [record.getMessage() for record in caplog.records if "damaged" in record.getMessage()]
    assert len(said) <= 1 and all("it was made anew from the documents" in line for line in said)
    assert said or "header" in how  # Chroma itself may do without a header that it can make again


def test_a_copy_that_cannot_be_made_anew_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Chroma, "settle", fails)
    (tmp_path / "one.md").write_text("# Vents\n\nThe heron vent opens on Friday.\n")
    with Agent(load(environ={}, home=tmp_path / "home", artifacts=False)) as agent:
        with pytest.raises(IndexUnavailable, match="cannot be written, nor made anew") as told:
            agent.ingest(tmp_path / "one.md", tenant_id="T1")
        assert "Make room" in told.value.hint
        assert agent.ask("When does the heron vent open?", tenant_id="T1").decision == "answer"


# -- a large space ------------------------------------------------------------------------------------------------

MANY, QUESTIONS, RECALL = 25_000, 50, 0.99


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Pointing]]:
    """A home whose tenant T1 has a space over the limit, settled as `cordon ingest` does, and questions of any
    direction. The limit is low here: a copy of as many chunks as it takes today is minutes in the making."""
    home, pointing = tmp_path_factory.mktemp("large") / "home", Pointing()
    pointing.vectors = directions(QUESTIONS, 4, seed=7)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chroma, "EXACT_LIMIT", MANY - 1)
        index = Index(Embedded(home).spaces(pointing.name), pointing)
        space = index.space("T1", create=True)
        assert space is not None
        put(space, "d", *[f"w{n} " for n in range(MANY)], vectors=directions(MANY, 4))
        index.spaces.settle("T1")
        index.close()
        yield home, pointing


def answers(home: Path, pointing: Pointing, *, serves: bool) -> list[list[str]]:
    """The best ten chunks for each question."""
    index = Index(Embedded(home, serves=serves).spaces(pointing.name), pointing)
    try:
        return [[hit.chunk_id for hit in index.search(Reader("T1"), str(n), 10)] for n in range(QUESTIONS)]
    finally:
        index.close()


def test_of_a_large_space_chroma_finds_what_exact_search_does(
    large: tuple[Path, Pointing], asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = answers(*large, serves=True)
    assert asked == []  # a service has several processes, and Chroma's files are for one
    with monkeypatch.context() as patched:
        patched.setattr(SqliteSpace, "matrix", lambda self: pytest.fail("every vector is read"))
        near = answers(*large, serves=False)
    assert asked == [CANDIDATES] * QUESTIONS
    assert all(len(ids) == 10 for ids in exact)
    recall = sum(len(set(one) & set(other)) for one, other in zip(near, exact, strict=True)) / (10 * QUESTIONS)
    assert recall >= RECALL and near == answers(*large, serves=False)


def test_processes_of_a_service_see_at_once_what_another_one_puts_into_a_large_space(
    large: tuple[Path, Pointing], asked: list[int]
) -> None:
    home, pointing = large
    here, there = (Index(Embedded(home, serves=True).spaces(pointing.name), pointing) for _ in range(2))
    before = [hit.chunk_id for hit in here.search(Reader("T1"), "3", 1)]
    space = there.space("T1")
    assert space is not None
    put(space, "new", "w ", vectors=pointing.vectors[3:4])  # exactly where question 3 points
    there.spaces.settle("T1")
    assert [hit.chunk_id for hit in here.search(Reader("T1"), "3", 1)] == ["new_0"] != before and asked == []
    alone = Index(Embedded(home).spaces(pointing.name), pointing)  # afterwards: the copy is behind, so it is not asked
    assert [hit.chunk_id for hit in alone.search(Reader("T1"), "3", 1)] == ["new_0"] and asked == [-1]
    assert space.remove("new")
    for index in (here, there, alone):
        index.close()


def test_a_service_that_drops_a_space_drops_the_copy_that_was_made_before_it(large: tuple[Path, Pointing]) -> None:
    home, pointing = large
    assert list((home / "index" / "chroma").glob("*/data_level0.bin"))
    spaces = Embedded(home, serves=True).spaces(pointing.name)
    spaces.drop("T1")
    assert [path.name for path in (home / "index").rglob("*") if path.is_file()] == []
