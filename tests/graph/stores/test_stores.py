"""What every store as a whole promises: who may use it, whose turn it is, what it says of itself, a copy and back."""

import io
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.errors import BadInput, CordonError, IndexUnavailable
from graph.stores import Stores
from graph.stores.limits import Allowance, Refusal
from tests.graph.stores.conftest import STORES


@pytest.fixture(params=STORES)
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[str], Stores]:
    """A store below the folder of that name: the same name is the same store, as another process sees it."""
    return lambda name: STORES[request.param](tmp_path / name)


def test_a_lease_is_shared_by_who_is_handed_it_and_by_nobody_else(another: Callable[[str], Stores]) -> None:
    lease = another("a").hold()
    shared = another("a").join(lease.files)
    assert lease.held() and shared.held()
    with pytest.raises(IndexUnavailable, match="is using"):
        another("a").hold()
    another("b").hold().release()
    lease.release()
    assert not lease.held()
    with pytest.raises(ValueError, match="not held"):
        _ = lease.files
    another("a").hold().release()


def test_turns_of_a_thread_come_one_after_the_other_and_of_two_at_once(stores: Stores) -> None:
    inside, said = threading.Event(), []

    def turn() -> None:
        inside.set()
        with stores.thread("one"):
            said.append("second")

    with stores.thread("one"):
        waiting = threading.Thread(target=turn)
        waiting.start()
        assert inside.wait(10)
        with stores.thread("two"):
            waiting.join(0.1)
            said.append("first")
    waiting.join()
    assert said == ["first", "second"]


def test_places_and_tokens_are_taken_together_and_given_back(stores: Stores) -> None:
    key, other = (Allowance("key", name, 60, 2) for name in ("a", "b"))
    tenant, counters = Allowance("tenant", "t", 4, 3), stores.counters
    assert [counters.enter([key, tenant]) for _ in range(3)] == [None, None, Refusal("key", 0)]
    assert counters.enter([other, tenant]) is None and counters.enter([other, tenant]) == Refusal("tenant", 0)
    counters.leave([key, tenant])
    assert counters.enter([other, tenant]) is None
    counters.leave([other, tenant])
    refused = counters.enter([other, tenant])  # the fifth in this minute
    assert refused is not None and refused.kind == "tenant" and 0 < refused.wait_s <= 15
    assert counters.enter([Allowance("tenant", "u", 4, 3)]) is None


def test_it_says_how_it_is(stores: Stores) -> None:
    found = stores.examine()
    assert found.keys() == {"engine", "place", "documents"}
    assert {name: state.status for name, state in found.items()} == {"engine": "ok", "place": "ok", "documents": "warn"}
    assert found["documents"].do


def test_what_still_holds_a_name_is_told(stores: Stores) -> None:
    name, other = "0f" * 16, "1e" * 16
    stores.hold().release()
    assert stores.remains([name]) == []
    stores.rows("withheld").append({"about": name})
    stores.journal.append({"run_id": other, "tenant_id": "T1"})
    assert len(stores.remains([name])) == 1 and stores.remains([other]) == []


def test_a_copy_is_restored_where_there_is_nothing_and_only_whole(another: Callable[[str], Stores]) -> None:
    one, copy = another("a"), io.BytesIO()
    one.rows("withheld").append({"n": 1})
    run = one.journal.append({"run_id": "r", "tenant_id": "T1"})
    held = one.backup(copy)
    with pytest.raises(BadInput, match="no whole backup"):
        another("b").restore(io.BytesIO(copy.getvalue()[:-400]))
    assert another("b").restore(io.BytesIO(copy.getvalue())) == held
    assert list(another("b").journal.entries()) == [run] and another("b").rows("withheld").all() == [{"n": 1}]
    with pytest.raises(BadInput, match="not empty"):
        another("b").restore(io.BytesIO(copy.getvalue()))
    lease = one.hold()
    with pytest.raises(CordonError, match="is using"):
        one.backup(io.BytesIO())
    lease.release()
