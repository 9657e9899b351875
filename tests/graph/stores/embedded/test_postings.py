"""What is kept beside the word index: FTS5's own ranking, in step with the chunks, and gone with them."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from graph.stores.embedded import postings
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.postings import PART, WORTH
from graph.stores.embedded.space import SqliteSpace
from graph.stores.embedded.spaces import SqliteSpaces
from tests.support.spaces import put

QUESTIONS: tuple[list[str], ...] = (
    ["w1"],
    ["w3", "w40", "w399"],
    ["often", "w7"],  # in most chunks: FTS5 gives it next to nothing
    ["often"],
    ["walks", "walked"],  # one stem, which counts twice
    ["w1-w2", "w5"],  # a phrase
    ["ref-17", "never"],
    ["never"],
    ["'"],
    [],
)


@pytest.fixture
def space(tmp_path: Path) -> Iterator[SqliteSpace]:
    made = SqliteSpace(tmp_path / "one.db", create=True)
    dice = np.random.default_rng(0)
    for n in range(WORTH // 100 + 2):
        texts = [
            " ".join(f"w{int(w)}" for w in dice.zipf(1.3, int(dice.integers(5, 60))) if w < 400)
            + dice.choice([" often", " often often walking", " often walks", ""], p=[0.5, 0.2, 0.1, 0.2])
            + f" w1 w2 ref {n} "
            for _ in range(100)
        ]
        put(made, f"d{n}", *texts)
    yield made
    made.close()


def by_fts5(space: SqliteSpace, words: list[str], limit: int) -> list[int]:
    query = " OR ".join(postings.quoted(word) for word in words) or '""'
    sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rank, rowid LIMIT ?"
    return [row for (row,) in space.execute(sql, (query, limit))]


def holding(space: SqliteSpace, word: str) -> list[int]:
    found = space.execute("SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (postings.quoted(word),))
    return [row for (row,) in found]


def as_fts5_has_it(space: SqliteSpace) -> None:
    now = space._postings()
    for words in QUESTIONS:
        held = now.holding(words)
        assert {word: now.rows[one.at].tolist() for word, one in held.items()} == {w: holding(space, w) for w in words}
        for limit in (1, 50, 10_000):
            assert now.best(held.values(), limit) == by_fts5(space, words, limit), (words, limit)


def test_words_are_ranked_as_fts5_ranks_them_with_and_without_parts(space: SqliteSpace) -> None:
    assert not space._postings()._begins
    as_fts5_has_it(space)
    space.build_postings()
    assert list(space._postings()._begins) == list(range(WORTH // PART + 1))
    as_fts5_has_it(space)


def test_parts_are_read_only_while_they_hold_what_the_space_holds(space: SqliteSpace) -> None:
    space.build_postings()
    put(space, "more", "w1 w3 walks")
    assert not space._postings()._begins
    as_fts5_has_it(space)
    space.build_postings()
    put(space, "d0", "w1 walked")  # in place of a hundred chunks
    assert not space._postings()._begins
    as_fts5_has_it(space)
    space.build_postings()
    assert space._postings()._begins
    as_fts5_has_it(space)


def test_what_another_process_settles_is_read_and_what_it_writes_is_not_missed(space: SqliteSpace) -> None:
    there = SqliteSpace(space.path)
    assert not there._postings()._begins
    space.build_postings()
    assert there._postings()._begins
    put(space, "more", "w1 w3 walks")
    as_fts5_has_it(there)
    there.close()


def test_a_part_goes_with_the_first_of_its_chunks(space: SqliteSpace) -> None:
    put(space, "secret", "zanzibar")
    space.build_postings()
    assert space.execute("SELECT count(*) FROM postings WHERE stem = 'zanzibar'") == [(1,)]
    old = sqlite3.connect(space.path)  # a Cordon that knows no parts
    old.execute("DELETE FROM chunks WHERE doc_id = 'd0'")
    old.commit()
    old.close()
    assert space.execute("SELECT DISTINCT part FROM postings") == [(1,)]
    space.remove("secret")
    assert space.execute("SELECT count(*) FROM postings") == [(0,)]
    assert b"zanzibar" not in space.path.read_bytes() + space.path.with_name("one.db-wal").read_bytes()


def test_a_small_space_keeps_nothing_beside_its_words(tmp_path: Path) -> None:
    small = SqliteSpace(tmp_path / "small.db", create=True)
    put(small, "d", "w1 w3")
    small.build_postings()
    assert small.execute("SELECT 1 FROM sqlite_master WHERE name = 'postings'") == []


@pytest.mark.parametrize("number", [0, 1, 127, 128, 300, 16_383, 16_384, 2_097_152])
def test_lengths_are_read_as_sqlite_writes_them(number: int) -> None:
    digits = [number >> shift & 127 | 128 for shift in range(21, -1, -7) if shift == 0 or number >> shift]
    written = bytes([*digits[:-1], digits[-1] & 127])
    assert postings._numbers(b"\x05" + written + b"\x81\x00").tolist() == [5, number, 128]


def test_ingestion_settles_the_words_of_a_space(tmp_path: Path) -> None:
    spaces = SqliteSpaces(tmp_path, "model", Exact())
    made = spaces.space("T1", create=True)
    assert made is not None
    put(made, "d", *["w1 w3 "] * (WORTH + 1))
    spaces.sync("T1")
    assert made._postings()._begins
    spaces.close()
