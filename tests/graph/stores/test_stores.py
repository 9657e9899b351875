"""What every store as a whole promises: who may use it, whose turn it is, what it says of itself."""

import threading

import pytest

from graph.stores import Stores
from graph.stores.limits import Allowance, Refusal
from tests.graph.stores.conftest import Another


def test_a_lease_is_shared_by_who_is_handed_it_until_it_is_given_back(another: Another) -> None:
    lease = another("a").hold()
    shared = another("a").join(lease.files)
    assert lease.held() and shared.held()
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
