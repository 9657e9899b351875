"""A talk of several turns through the door: what a follow-up leans on is read with it, and a new subject stands alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.administration.replay import replay
from graph.agent import Agent
from graph.audit.chain import is_run
from tests.support.models import Scripted, sentences

INCIDENTS = """# Incident handling

A P1 incident is answered within 15 minutes. A P2 incident is answered within two hours. If a P2 incident
happens outside working hours, it is answered by the duty officer within four hours.

The head of operations is told about each P1 incident. The team lead is told about each P2 incident.

## Ways to sterilise seeds

- Ethanol: shake the seeds for 20 minutes.
- Bleach: soak the seeds for 40 minutes and rinse them three times.
- Chlorine gas: leave the seeds in the jar for four hours.
"""
VAULT = """# Vault

The vault is opened by two people. The vault is counted every Friday by the head teller.

# Parking

A parking permit costs 40 euros a year. Visitors park behind the mill.
"""


@pytest.fixture
def office(opened: Callable[..., Agent], tmp_path: Path) -> Callable[..., Agent]:
    def make(**more: Any) -> Agent:
        agent = opened(**more)
        for name, text in {"incidents.md": INCIDENTS, "vault.md": VAULT}.items():
            (tmp_path / name).write_text(text)
            agent.ingest(tmp_path / name, tenant_id="O1")
        return agent

    return make


def talk(agent: Agent, *questions: str) -> list[dict[str, Any]]:
    return [dict(agent.ask(one, tenant_id="O1", user_id="a", thread_id="t", memory="buffer")) for one in questions]


FIRST = "How fast is a P1 incident answered?"


@pytest.mark.parametrize(
    ("before", "question", "answer", "understood"),
    [
        ([FIRST], "Sorry, I meant P2", "two hours", "How fast is a P2 incident answered?"),
        ([FIRST], "Who is told?", "head of operations", "Who is told (a P1 incident)?"),
        ([FIRST, "Sorry, I meant P2"], "Even if it happens outside working hours?", "duty officer",
         "How fast is a P2 incident answered if it happens outside working hours?"),
        (["What are the ways to sterilise seeds?"], "How long does the second one take?", "40 minutes",
         "How long does Bleach take?"),
        (["When is the vault counted?", "What does a parking permit cost?"], "Back to the vault: who opens it?", "two people",
         "Who opens the vault?"),
        ([FIRST], "What does a parking permit cost?", "40 euros", ""),
    ],
)  # fmt: skip
def test_a_turn_is_understood_from_the_talk(
    office: Callable[..., Agent], before: list[str], question: str, answer: str, understood: str
) -> None:
    agent = office()
    reply = talk(agent, *before, question)[-1]
    assert answer in reply["answer"]
    assert reply.get("understood", {}).get("text", "") == understood
    entry = [one for one in agent.deps.journal.entries() if is_run(one)][-1]
    assert replay(entry, agent.deps).equal


def test_what_no_document_says_is_not_answered_from_the_talk(office: Callable[..., Agent]) -> None:
    assert talk(office(), FIRST, "What does that cost us in insurance?")[-1]["decision"] == "no_answer"


def test_a_model_is_asked_the_whole_question(office: Callable[..., Agent]) -> None:
    model = Scripted(reply=lambda _: sentences(("A P2 incident is answered within two hours.", [1])))
    talk(office(model="stub", chat=model), FIRST, "Sorry, I meant P2")
    assert "How fast is a P2 incident answered?" in str(model.seen[-1])


def test_without_memory_nothing_is_taken_along(office: Callable[..., Agent]) -> None:
    agent = office()
    agent.ask(FIRST, tenant_id="O1", user_id="a", thread_id="t")
    reply = agent.ask("Sorry, I meant P2", tenant_id="O1", user_id="a", thread_id="t")
    assert "understood" not in dict(reply)


def test_another_person_s_talk_is_not_gone_on_from(office: Callable[..., Agent]) -> None:
    agent = office()
    agent.ask(FIRST, tenant_id="O1", user_id="a", thread_id="t", memory="buffer")
    reply = agent.ask("Sorry, I meant P2", tenant_id="O1", user_id="b", thread_id="t", memory="buffer")
    assert "understood" not in dict(reply)
