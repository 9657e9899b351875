"""Chroma, a copy of the spaces: blank where it holds nothing, asked only while it is in step, made anew when it is damaged."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.agent import Agent
from graph.errors import IndexUnavailable
from graph.knowledge.embeddings import shared
from graph.knowledge.index import Index
from graph.knowledge.space import Record, StoredChunk
from graph.knowledge.vectors import Vectors
from graph.settings import load


def rows(count: int) -> np.ndarray:
    return np.arange(1, count + 1)


def test_the_room_of_an_empty_index_is_blank_on_disk(tmp_path: Path) -> None:
    vectors = np.eye(3, 384, dtype=np.float32)
    first = Vectors(tmp_path)
    first.sync("a", rows(2), vectors[:2], "x 2 2")
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert room.stat().st_size > 100_000  # as hnswlib leaves it: room for a hundred, none taken
    assert not any(room.read_bytes())
    first.close()

    room.write_bytes(b"another tenant's text ".ljust(room.stat().st_size, b"!"))  # what an earlier version wrote
    again = Vectors(tmp_path)
    again.sync("a", rows(3), vectors, "x 3 3")
    assert not any(room.read_bytes())
    assert again.nearest("a", vectors[1], 1, "x 3 3") == [2]
    again.drop()


def test_an_index_that_has_outgrown_its_first_room_is_left_alone(tmp_path: Path) -> None:
    vectors = np.random.default_rng(0).normal(size=(1_100, 384)).astype(np.float32)
    index = Vectors(tmp_path)
    index.sync("a", rows(1_100), vectors, "x 1100 1100")
    (room,) = tmp_path.glob("*/data_level0.bin")
    assert any(room.read_bytes())
    assert index.nearest("a", vectors[700], 1, "x 1100 1100") == [701]
    index.drop()


def test_rows_of_another_file_are_not_taken_for_those_of_this_one(tmp_path: Path) -> None:
    vectors = np.eye(4, 384, dtype=np.float32)
    index = Vectors(tmp_path)
    index.sync("a", rows(2), vectors[:2], "one 2 2")
    index.sync("a", rows(2), vectors[2:], "another 2 2")
    assert index.nearest("a", vectors[3], 1, "another 2 2") == [2]
    assert index.nearest("a", vectors[3], 1, "one 2 2") is None
    index.drop()


# -- above the limit ----------------------------------------------------------------------------------------------


def fill(index: Index, count: int, name: str = "d", seed: int = 0) -> np.ndarray:
    """One document of so many chunks with random directions; returns them."""
    vectors = np.random.default_rng(seed).normal(size=(count, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    space = index.space("T1", create=True)
    assert space is not None
    record = Record(name, f"{name}.txt", name, name, "T1", "private", "text/plain", 1, count, name, "now")
    chunks = [StoredChunk(f"{name}_{n}", name, n, n + 1, None, None, "") for n in range(count)]
    space.put(record, "x" * count, chunks, vectors, [f"word{n}" for n in range(count)])
    return vectors


class Pointing:
    """An embedder whose questions are numbers of chunks."""

    name = "pointing"
    vectors = np.zeros((0, 384), np.float32)

    query_prefix = ""

    def embed(self, texts: Any) -> np.ndarray:
        return self.vectors[[int(text) for text in texts]]

    def count(self, text: str) -> int:
        return 1


def found(index: Index, number: int) -> list[str]:
    return [hit.chunk_id for hit in index.search("T1", str(number), 5)]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows Chroma gave, question by question; -1 where it was not in step."""
    seen: list[int] = []
    nearest = Vectors.nearest

    def watched(self: Vectors, *given: Any) -> list[int] | None:
        rows = nearest(self, *given)
        seen.append(-1 if rows is None else len(rows))
        return rows

    monkeypatch.setattr(Vectors, "nearest", watched)
    return seen


def test_a_large_space_answers_before_its_copy_is_there_and_after_it_has_changed(
    tmp_path: Path, asked: list[int]
) -> None:
    pointing = Pointing()
    index = Index(tmp_path, pointing, exact_limit=100)
    exact = Index(tmp_path, pointing, exact_limit=None)
    pointing.vectors = fill(index, 150)
    assert found(index, 7)[0] == "d_7" and asked == [-1]
    index.mirror("T1")
    assert found(index, 7) == found(exact, 7) and asked == [-1, 50]
    pointing.vectors = fill(index, 150, seed=1)  # the same document with other vectors under the same names
    assert found(index, 7)[0] == "d_7" and asked == [-1, 50, -1]
    index.mirror("T1")
    assert found(index, 7) == found(exact, 7) and found(index, 7)[0] == "d_7" and asked == [-1, 50, -1, 50, 50]
    space = index.space("T1")
    assert space is not None and space.remove("d")
    fill(index, 120, "e", seed=2)
    assert all(name.startswith("e_") for name in found(index, 7)) and asked[-1] == -1
    index.close()
    exact.close()


def test_a_large_space_does_not_read_every_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from graph.knowledge.space import Space

    pointing = Pointing()
    index = Index(tmp_path, pointing, exact_limit=100)
    pointing.vectors = fill(index, 150)
    index.mirror("T1")
    monkeypatch.setattr(Space, "matrix", lambda self: pytest.fail("every vector is read"))
    assert found(index, 3)[0] == "d_3"
    assert index.search("T1", "3", 5, documents=["d"])[0].chunk_id == "d_3"
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
        assert space is not None
        held = index.vectors.nearest(index.key("T1"), shared().embed(["gate"])[0], 5, space.stamp())
        assert sorted(held or []) == sorted(space.matrix()[0])
        assert agent.ask("When does the ibis gate open?", tenant_id="T1").decision == "answer"
    said = [record.getMessage() for record in caplog.records if "damaged" in record.getMessage()]
    assert len(said) <= 1 and all("it was made anew from the documents" in line for line in said)
    assert said or "header" in how  # Chroma itself may do without a header that it can make again


def test_a_copy_that_cannot_be_made_anew_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Vectors, "sync", fails)
    (tmp_path / "one.md").write_text("# Vents\n\nThe heron vent opens on Friday.\n")
    with Agent(load(environ={}, home=tmp_path / "home", artifacts=False)) as agent:
        with pytest.raises(IndexUnavailable, match="cannot be written, nor made anew") as told:
            agent.ingest(tmp_path / "one.md", tenant_id="T1")
        assert "Make room" in told.value.hint
        assert agent.ask("When does the heron vent open?", tenant_id="T1").decision == "answer"
