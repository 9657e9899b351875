"""Which documents mention something, through the door: all that the asker may see, one place of each."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.administration.replay import replay
from graph.agent import Agent
from graph.audit.chain import is_run
from graph.audit.verify import verify
from graph.knowledge import retriever
from graph.knowledge.retriever import MENTIONING
from graph.policy.evidence import access
from tests.support.models import Scripted

DOCUMENTS = {
    "crane_policy.md": "# Crane policy\n\nThe crane is checked each May.\n\nOnly drivers use it.\n",
    "report.md": "# Report of the year\n\nTwo people were hurt. The crane stood still for a week.\n",
    "visit.md": "# Visits\n\n- Helmets near the crane\n- Call Dana on 0300-1234567 about the crane\n",
    "garden.md": "# Garden\n\nThe roses are cut in March.\n",
}
SECRET = "# Secret\n\nThe crane will be sold in June.\n"


@pytest.fixture
def yard(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent = opened()
    for name, text in DOCUMENTS.items():
        (tmp_path / name).write_text(text)
        agent.ingest(tmp_path / name, tenant_id="yard")
    (tmp_path / "secret.md").write_text(SECRET)
    agent.ingest(tmp_path / "secret.md", tenant_id="yard", groups=("board",))
    (tmp_path / "other.md").write_text(SECRET.replace("June", "July"))
    agent.ingest(tmp_path / "other.md", tenant_id="other")
    return agent


def files(agent: Agent, question: str, **who: Any) -> list[str]:
    reply = json.loads(json.dumps(agent.ask(question, **{"tenant_id": "yard", **who})))
    if reply["sentences"]:
        assert verify(reply, agent.deps.index).ok
    assert "0300" not in json.dumps(reply)
    return sorted({citation["filename"] for citation in reply["citations"]})


def test_each_document_that_mentions_it_is_quoted_once(yard: Agent) -> None:
    reply = yard.ask("Which documents mention the crane?", tenant_id="yard")
    assert len(reply["sentences"]) == len(reply["citations"]) == 3
    assert files(yard, "Which documents mention the crane?") == ["crane_policy.md", "report.md", "visit.md"]


def test_a_kind_of_document(yard: Agent) -> None:
    assert files(yard, "Which policies mention the crane?") == ["crane_policy.md"]


def test_only_what_the_asker_may_see(yard: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Where is the crane mentioned?"
    assert files(yard, question, groups=["board"]) == ["crane_policy.md", "report.md", "secret.md", "visit.md"]
    assert files(yard, question, tenant_id="other") == ["other.md"]
    monkeypatch.setattr(access, "denied", lambda *_: None)  # the search itself leaves out what others may see
    assert files(yard, question) == ["crane_policy.md", "report.md", "visit.md"]


def test_what_nobody_mentions(yard: Agent) -> None:
    assert files(yard, "Which documents mention the submarine?") == []


def test_more_than_are_shown_is_a_part(yard: Agent, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for at in range(MENTIONING + 3):
        (many / f"log_{at}.md").write_text(f"# Log {at}\n\nOn day {at} the pump ran for {at + 3} hours.\n")
    yard.ingest(many, tenant_id="yard")
    reply = yard.ask("Which documents mention the pump?", tenant_id="yard")
    assert len(reply["sentences"]) == MENTIONING and "partial" in reply["safety_flags"]


def test_what_search_may_have_left_out_is_a_part(yard: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retriever, "MENTIONS", 2)
    reply = yard.ask("How many documents mention the crane?", tenant_id="yard")
    assert "in all" not in reply["answer"] and "partial" in reply["safety_flags"] and reply["confidence"] != "high"


def test_a_run_replays(yard: Agent) -> None:
    yard.ask("Which documents mention the crane?", tenant_id="yard")
    (run,) = [replay(entry, yard.deps, None) for entry in yard.deps.journal.entries() if is_run(entry)]
    assert run.equal and not run.differs


def test_a_chat_model_is_not_asked(tmp_path: Path, settings_of: Callable[..., Any]) -> None:
    for at in range(12):
        (tmp_path / f"log_{at}.md").write_text(f"# Log {at}\n\nOn day {at} the pump ran for {at + 3} hours.\n")
    model = Scripted(reply=lambda *_: pytest.fail("the model was asked"))
    with Agent(settings_of(artifacts=False, model="stub"), model=model) as agent:
        agent.ingest(tmp_path, tenant_id="U1")
        assert len(agent.ask("Where is the pump mentioned?", tenant_id="U1")["sentences"]) == 12
