"""A turn whose lock on its thread is lost while it runs: of two that go on from the same state one is kept, and says so."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evals.serving import DOCUMENTS
from graph.agent import Agent
from graph.errors import Unavailable
from graph.settings import load
from graph.stores.postgres.database import Database
from tests.support.invariants import state_of
from tests.support.models import Scripted, quoting
from tests.support.postgres import Server

ASKED = "Which freezer holds the whole blood samples?"


@pytest.fixture
def agents(postgres: Server, tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Each as a worker of its own has it, all on one database."""
    name, made = postgres.database(like="prepared"), list[Agent]()

    def make(reply: Callable[[str], str] = quoting) -> Agent:
        known: dict[str, Any] = {"artifacts": False, "database_url": postgres.url(name)}
        settings = load(environ={}, home=tmp_path / str(len(made)), out=tmp_path / "out", **known)
        made.append(Agent(settings, model=Scripted(reply=reply)))
        return made[-1]

    first = make()
    path = tmp_path / "freezers.md"
    path.write_text(DOCUMENTS["U1"]["freezers.md"])
    assert [one.status for one in first.ingest(path, tenant_id="U1")] == ["indexed"]
    yield make
    for one in made:
        one.close()
    postgres.drop(name)


def asked(agent: Agent) -> Any:
    return agent.ask(ASKED, tenant_id="U1", thread_id="t", memory="buffer")


def without_locks(server: Server) -> None:
    """As after a restart of the server: whoever held a lock by a connection has it no more."""
    with server.admin() as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")


def test_the_second_of_two_turns_that_lost_their_lock_is_none(agents: Callable[..., Agent], postgres: Server) -> None:
    other, between = agents(), list[Any]()

    def slow(prompt: str) -> str:
        if not between:
            without_locks(postgres)
            between.append(None)
            between.append(asked(other))
        return quoting(prompt)

    one = agents(slow)
    with pytest.raises(Unavailable, match="came in between"):
        asked(one)
    assert between[1]["decision"] == "answer"
    assert len(state_of(other, "U1", "t")["memory"]["turns"]) == 1
    assert asked(one)["decision"] == "answer" and len(state_of(other, "U1", "t")["memory"]["turns"]) == 2


def test_a_turn_that_lost_its_lock_alone_is_kept(agents: Callable[..., Agent], postgres: Server) -> None:
    def slow(prompt: str) -> str:
        without_locks(postgres)
        return quoting(prompt)

    one = agents(slow)
    assert asked(one)["decision"] == asked(one)["decision"] == "answer"
    assert len(state_of(one, "U1", "t")["memory"]["turns"]) == 2


def test_a_thread_that_was_forgotten_meanwhile_does_not_come_back(
    agents: Callable[..., Agent], postgres: Server
) -> None:
    other, forgotten = agents(), list[bool]()
    asked(other)

    def slow(prompt: str) -> str:
        if not forgotten:
            without_locks(postgres)
            forgotten.append(other.clear(tenant_id="U1", thread_id="t"))
        return quoting(prompt)

    with pytest.raises(Unavailable, match="came in between"):
        asked(agents(slow))
    assert forgotten == [True] and not state_of(other, "U1", "t").get("memory")


def test_a_question_takes_few_transactions(agents: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is three round trips: what a stage reads is read in one."""
    one, whole, taken = agents(), Database.transaction, list[str]()
    asked(one)

    def counted(self: Database, tenant: str = "", **known: Any) -> Any:
        taken.append(tenant)
        return whole(self, tenant, **known)

    monkeypatch.setattr(Database, "transaction", counted)
    assert asked(one)["decision"] == "answer"
    assert 8 <= len(taken) <= 13, taken
