"""A space among processes: one snapshot for a reader, all or nothing for a writer, no bytes left of what was removed."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from graph.errors import IndexUnavailable
from graph.stores.embedded.space import SqliteSpace
from tests.support.spaces import put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "one.db"


def held_by(space: SqliteSpace, word: str) -> int:
    return space.find(np.ones(4, np.float32) / 2, [word], 9).holding[word]


def test_a_writer_elsewhere_is_seen_by_the_next_reader_and_not_by_the_one_at_work(path: Path) -> None:
    here, there = SqliteSpace(path, create=True), SqliteSpace(path)
    put(here, "first", "the ibis valve")
    assert len(there.matrix()[0]) == 1
    with there.reading():
        assert len(there.matrix()[0]) == 1
        put(here, "second", "the tern sensor")
        assert len(there.matrix()[0]) == held_by(there, "the") == 1
    assert len(there.matrix()[0]) == held_by(there, "the") == 2
    here.remove("first")
    assert len(there.matrix()[0]) == 1 and held_by(there, "ibis") == 0


def test_a_write_that_fails_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = SqliteSpace(path, create=True), SqliteSpace(path)
    put(here, "first", "the ibis valve")
    for failure in (sqlite3.OperationalError("disk I/O error"), KeyboardInterrupt()):
        with monkeypatch.context() as broken:

            def fail(doc_id: str, failure: BaseException = failure) -> bool:
                raise failure

            broken.setattr(here, "_remove", fail)
            with pytest.raises((IndexUnavailable, KeyboardInterrupt)):
                here.remove("first")
            with pytest.raises((IndexUnavailable, KeyboardInterrupt)):
                put(here, "second", "the tern sensor")
        assert here.count() == there.count() == (1, 1)
        put(there, "third", "the gull gauge")  # no lock is left
        there.remove("third")
    assert here.remove("first")


def test_what_a_reader_kept_in_the_log_goes_with_the_next_write(path: Path) -> None:
    here, there = SqliteSpace(path, create=True), SqliteSpace(path)
    here.execute("PRAGMA busy_timeout = 50")
    put(here, "first", "the ibis valve is secret")
    log = path.with_name("one.db-wal")
    with there.reading():
        there.count()
        here.remove("first")
        assert b"ibis valve" in log.read_bytes()  # SQLite cannot empty it while somebody reads
    put(here, "second", "the tern sensor")
    assert b"ibis valve" not in log.read_bytes() + path.read_bytes()
    here.close()
    there.close()


def test_vectors_are_read_again_only_when_chunks_changed(path: Path) -> None:
    here, there = SqliteSpace(path, create=True), SqliteSpace(path)
    put(here, "first", "the ibis valve")
    read = here.matrix()[1], there.matrix()[1]
    here.change("first", lambda held: replace(held, title="Valves"))
    assert here.matrix()[1] is read[0] and there.matrix()[1] is read[1]
    put(here, "first", "the tern sensor")
    assert here.matrix()[0].tolist() == there.matrix()[0].tolist() == [2]
    here.close()
    there.close()
