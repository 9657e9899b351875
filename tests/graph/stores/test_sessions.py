"""What every store of sessions promises."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graph.stores import Stores
from graph.stores.sessions import Session, SessionStore
from tests.graph.stores.conftest import Another


@pytest.fixture
def kept(stores: Stores) -> Iterator[SessionStore]:
    yield stores.sessions
    stores.close()


def session(name: str, tenant: str = "T1", user: str = "ann", expires: float = 100) -> Session:
    return Session(name, tenant, user, "member", "Ann Ames", 1.5, 1.5, expires, False, ("a", "b"), b"h" * 32, b"\0hint")


def test_a_session_is_found_as_it_was_and_an_unknown_one_is_not(kept: SessionStore) -> None:
    for one in (session("a"), replace(session("b"), groups=(), hint=b"")):
        assert kept.add(one, 2)
        assert kept.find(one.session_id) == one
    assert kept.find("c") is None


def test_an_id_is_taken_until_its_session_would_have_run_out(kept: SessionStore) -> None:
    assert kept.add(session("a"), 2)
    kept.end("a")
    assert not kept.add(session("a", user="eve"), 99)
    found = kept.find("a")
    assert found is not None and found.ended and found.user_id == "ann"
    assert (found.name, found.hint) == ("", b"")  # nothing personal is kept for nothing
    assert kept.add(session("b", expires=200), 100) and kept.find("a") is None
    assert kept.add(session("a", "T2", expires=300), 100)


def test_use_and_end_are_seen_by_all_who_share_the_store(another: Another) -> None:
    one, other = another("home").sessions, another("home").sessions
    one.add(session("a"), 2)
    other.use("a", 9.5)
    other.use("a", 3)  # of a request that was overtaken
    found = one.find("a")
    assert found is not None and found.seen == 9.5 and not found.ended
    other.end("a")
    other.end("never")
    found = one.find("a")
    assert found is not None and found.ended


def test_sessions_come_oldest_first_and_of_one_tenant_when_asked(kept: SessionStore) -> None:
    assert kept.all() == []
    for one in (replace(session("a"), created=5), session("b", "T2"), session("c")):
        kept.add(one, 2)
    assert [one.session_id for one in kept.all()] == ["b", "c", "a"]
    assert [one.session_id for one in kept.all("T1")] == ["c", "a"] and kept.all("T3") == []


def test_a_tenants_or_users_sessions_are_forgotten_and_no_others(kept: SessionStore) -> None:
    assert kept.forget("T1") == 0
    for one in (session("a"), session("b", user="bob"), session("c", user="bob"), session("d", "T2")):
        kept.add(one, 2)
    assert kept.forget("T1", "bob") == 2 and kept.find("b") is None and kept.find("a") is not None
    assert kept.forget("T1") == 1 and kept.find("a") is None and kept.find("d") is not None
