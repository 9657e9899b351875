"""What every store of operators' lists promises."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graph.stores import Stores
from graph.stores.lists import ListStore


@pytest.fixture
def kept(stores: Stores) -> ListStore:
    return stores.lists


def with_one(known: dict[str, Any]) -> dict[str, Any]:
    return {"entries": [*known.get("entries", []), "é \U0001f512 \x00"]}


def test_there_is_none_until_one_is_made_and_each_tenant_has_its_own(kept: ListStore) -> None:
    assert kept.load("T1").value == {}
    kept.change("T1", with_one)
    assert kept.load("T1").value == {"entries": ["é \U0001f512 \x00"]} and kept.load("T2").value == {}


def test_one_that_has_not_changed_is_not_loaded_again(kept: ListStore) -> None:
    kept.change("T1", with_one)
    first = kept.load("T1")
    assert kept.load("T1", first) is first
    kept.change("T1", with_one)
    second = kept.load("T1", first)
    assert len(second.value["entries"]) == 2 and second.stamp != first.stamp
    kept.change("T1", lambda known: known)
    assert kept.load("T1", second) is not second


def test_a_change_that_fails_changes_nothing(kept: ListStore) -> None:
    kept.change("T1", with_one)
    with pytest.raises(ZeroDivisionError):
        kept.change("T1", lambda known: {"entries": 1 // 0})
    assert len(kept.load("T1").value["entries"]) == 1
    kept.change("T1", with_one)  # no lock is left


def test_changes_come_one_after_the_other(kept: ListStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: kept.change("T1", with_one), range(12)))
    assert len(kept.load("T1").value["entries"]) == 12


def test_a_forgotten_one_is_gone_and_the_others_stay(kept: ListStore) -> None:
    for tenant in ("T1", "T2"):
        kept.change(tenant, with_one)
    before = kept.load("T1")
    for _ in range(2):
        kept.forget("T1")
    assert kept.load("T1", before).value == {} and kept.load("T2").value
