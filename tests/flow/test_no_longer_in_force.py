"""Which documents are no longer in force, through the door: each with the sentence that says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.audit.verify import verify
from graph.knowledge.index import Index
from tests.support.models import Scripted

GONE = "This policy has been withdrawn."
LATER = "This policy supersedes the travel policy of 2019."
DOCUMENTS = {
    "car_policy.md": f"# Car policy\n\n{GONE}\n\nCars are booked at the desk.\n",
    "travel_policy_2019.md": "# Travel policy of 2019\n\nTrips are booked at the desk.\n",
    "journeys.md": f"# Policy on journeys\n\n{LATER} Trips are booked online.\n",
    "lab_rules.md": "# Lab policy\n\nA policy that has been withdrawn is kept for ten years. Coats are worn.\n",
    "key_order.md": "# Order on keys\n\nValid until: 3 March 2021\n\nKeys are kept in the safe.\n",
}


@pytest.fixture
def office(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    return filled(opened(), tmp_path)


def filled(agent: Agent, folder: Path) -> Agent:
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text)
        agent.ingest(folder / name, tenant_id="office")
    (folder / "board_policy.md").write_text(f"# Board policy\n\n{GONE}\n")
    agent.ingest(folder / "board_policy.md", tenant_id="office", groups=("board",))
    (folder / "pool_policy.md").write_text(f"# Pool policy\n\n{GONE}\n")
    agent.ingest(folder / "pool_policy.md", tenant_id="other")
    return agent


def answered(agent: Agent, question: str, **who: Any) -> dict[str, str]:
    """By file what is quoted from it."""
    reply = json.loads(json.dumps(agent.ask(question, **{"tenant_id": "office", **who})))
    if reply["sentences"]:
        assert verify(reply, agent.deps.index).ok
    files = {citation["n"]: citation["filename"] for citation in reply["citations"]}
    return {files[n]: sentence["text"] for sentence in reply["sentences"] for n in sentence["citations"]}


def test_each_is_named_by_what_says_so(office: Agent) -> None:
    expected = {"car_policy.md": GONE, "journeys.md": LATER}
    assert answered(office, "Which policies are no longer in force?") == expected
    assert answered(office, "Which policies have been superseded?") == expected
    both = answered(office, "Are there any documents that have expired?")
    assert both == {**expected, "key_order.md": "Valid until: 3 March 2021"}


def test_only_what_the_asker_may_see(office: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Which policies are no longer in force?"
    assert "board_policy.md" not in answered(office, question)
    assert "board_policy.md" in answered(office, question, groups=("board",))
    assert "pool_policy.md" not in answered(office, question, groups=("board",))
    every = office.deps.index
    monkeypatch.setattr(Index, "visible", lambda index, reader: [*_everything(every)])
    assert "board_policy.md" not in answered(office, question)  # the guard behind the search


def _everything(index: Index) -> Any:
    for where in ("office", "office/board", "other"):
        if (space := index.space(where)) is not None:
            yield where, space


def test_where_none_is_gone_the_question_is_searched_for(opened: Callable[..., Agent], tmp_path: Path) -> None:
    agent = opened()
    (tmp_path / "lab_rules.md").write_text(DOCUMENTS["lab_rules.md"])
    agent.ingest(tmp_path / "lab_rules.md", tenant_id="office")
    assert GONE not in answered(agent, "Which policies are no longer in force?").values()


def test_a_model_is_not_asked_which_they_are(opened: Callable[..., Agent], tmp_path: Path) -> None:
    model = Scripted(reply=lambda *_: pytest.fail("the model was asked"))
    agent = filled(opened(chat=model, model="stub"), tmp_path)
    assert answered(agent, "Which policies are no longer in force?") == {"car_policy.md": GONE, "journeys.md": LATER}
