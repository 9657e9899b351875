"""What is kept of the turns' vectors between two questions never tells anything that the file does not."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.stores.conversations import SHOWN
from graph.stores.embedded import turn_vectors
from graph.stores.embedded.conversations import SqliteConversations

ASKED = np.array([1, 0], np.float32)


def add(kept: SqliteConversations, run: str, *vector: float, who: str = "ann", groups: Sequence[str] = ()) -> None:
    reply = {**dict.fromkeys(SHOWN, ""), "run_id": run}
    audiences = [groups] if groups else []
    kept.add("T1", who, "t", reply, {"topic": run}, np.array(vector, np.float32) if vector else None, audiences)


def runs(kept: SqliteConversations, limit: int = 9, groups: Sequence[str] = ()) -> list[str]:
    found = kept.search("T1", "ann", ASKED, limit, groups)
    assert all(one.turn == {"topic": one.run_id} for one in found)
    return [one.run_id for one in found]


@pytest.fixture
def two(tmp_path: Path) -> tuple[SqliteConversations, SqliteConversations]:
    """As two processes have them."""
    return SqliteConversations(tmp_path / "turns"), SqliteConversations(tmp_path / "turns")


def test_what_another_process_adds_is_found(two: tuple[SqliteConversations, SqliteConversations]) -> None:
    here, there = two
    assert runs(here) == []
    add(there, "r1", 0.6, 0.8)
    assert runs(here) == ["r1"]
    add(there, "other", 1, 0, who="bob")
    add(there, "silent")
    add(there, "wide", 1, 0, 0)
    add(there, "r2", 1, 0)
    assert runs(here) == ["r2", "r1"]


def test_what_another_process_forgets_is_found_no_more(two: tuple[SqliteConversations, SqliteConversations]) -> None:
    here, there = two
    for run in ("r1", "r2", "r3"):
        add(there, run, 1, 0)
    assert runs(here) == ["r1", "r2", "r3"]
    there.forget("T1", run_ids=["r2"])
    assert runs(here) == ["r1", "r3"]
    [known] = here._vectors._known.values()
    assert sum(map(len, known.vectors)) == 2  # nor is it in memory any longer
    there.forget("T1", run_ids=["r3"])
    add(there, "r4", 0, 1)  # it has the number of r3
    assert runs(here) == ["r1", "r4"] and here.search("T1", "ann", ASKED, 2)[1].score == 0
    there.forget("T1", run_ids=["r4"])
    add(there, "bobs", 1, 0, who="bob")
    assert runs(here) == ["r1"]


def test_a_turn_that_is_kept_again_counts_as_it_is_now(two: tuple[SqliteConversations, SqliteConversations]) -> None:
    here, there = two
    add(here, "r1", 1, 0)
    add(here, "r2", 0.6, 0.8)
    assert runs(here) == ["r1", "r2"]
    add(there, "r1", 0, 1)
    assert runs(here) == ["r2", "r1"]


def test_a_number_that_somebody_else_has_by_now_tells_nothing(
    two: tuple[SqliteConversations, SqliteConversations], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = two
    add(here, "r1", 1, 0)
    scores = here._vectors.scores

    def between(*given: Any) -> Any:
        found = scores(*given)
        there.forget("T1", run_ids=["r1"])
        add(there, "bobs", 1, 0, who="bob")
        return found

    monkeypatch.setattr(here._vectors, "scores", between)
    assert runs(here) == []


def test_those_that_may_not_be_read_now_are_passed_over(two: tuple[SqliteConversations, SqliteConversations]) -> None:
    here, _ = two
    for n in range(5):
        add(here, f"closed{n}", 1, 0, groups=["g"])
    add(here, "open", 0, 1)
    assert runs(here, 2, ["g"]) == ["closed0", "closed1"] and runs(here, 2) == ["open"]


def test_many_are_put_together_and_few_are_kept(
    two: tuple[SqliteConversations, SqliteConversations], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, _ = two
    for n in range(100):
        add(here, f"r{n:02}", n, 100 - n)
        assert runs(here, 1) == [f"r{n:02}"]
    [known] = here._vectors._known.values()
    assert len(known.vectors) < 40 and sum(map(len, known.vectors)) == 100
    monkeypatch.setattr(turn_vectors, "MOST_BYTES", known.size - 1)
    assert runs(here, 1) == ["r99"] and not here._vectors._known
    assert runs(here, 1) == ["r99"]


def test_an_erasure_takes_them_at_once(two: tuple[SqliteConversations, SqliteConversations]) -> None:
    here, _ = two
    add(here, "r1", 1, 0)
    assert runs(here) == ["r1"] and here._vectors._known
    here.forget("T1", run_ids=["r1"])
    assert not here._vectors._known and runs(here) == []
