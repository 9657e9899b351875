"""What every store of keys promises."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graph.stores import Stores
from graph.stores.keys import Key, KeyStore
from graph.timestamps import timestamp


@pytest.fixture
def kept(stores: Stores) -> Iterator[KeyStore]:
    yield stores.keys
    stores.close()


def key(name: str, tenant: str = "T1", user: str = "ann", created: str = "2026-01-01T00:00:00.000Z") -> Key:
    return Key(name, tenant, user, "member", created)


def test_a_key_is_found_with_its_hash_and_an_unknown_one_is_not(kept: KeyStore) -> None:
    made = replace(key("a"), expires=timestamp(days=1), groups=("board", "staff"))
    kept.add(made, b"x" * 32)
    assert kept.find("a") == (made, b"x" * 32) and kept.find("b") is None


def test_keys_come_oldest_first_and_of_one_tenant_when_asked(kept: KeyStore) -> None:
    for one in (key("a", created="2026-01-02"), key("b", "T2"), key("c")):
        kept.add(one, b"")
    assert [one.key_id for one in kept.all()] == ["b", "c", "a"]
    assert [one.key_id for one in kept.all("T1")] == ["c", "a"] and kept.all("T3") == []


def test_a_revoked_key_stays_revoked_at_that_time_for_all_who_share_the_store(stores: Stores, kept: KeyStore) -> None:
    kept.add(key("a"), b"")
    kept.revoke("a", "2026-02-01")
    kept.revoke("a", "2026-03-01")
    kept.revoke("never", "2026-03-01")
    found = kept.find("a")
    assert found is not None and found[0].revoked == "2026-02-01" and not found[0].valid


def test_the_pepper_is_one_and_stays(kept: KeyStore) -> None:
    pepper = kept.pepper()
    kept.close()
    assert len(pepper) == 32 and kept.pepper() == pepper


def test_a_tenants_or_users_keys_are_forgotten_and_no_others(kept: KeyStore) -> None:
    assert kept.forget("T1") == 0
    for one in (key("a"), key("b", user="bob"), key("c", user="bob"), key("d", "T2")):
        kept.add(one, b"")
    assert kept.forget("T1", "bob") == 2 and [one.key_id for one in kept.all("T1")] == ["a"]
    assert kept.forget("T1") == 1 and [one.key_id for one in kept.all()] == ["d"]
