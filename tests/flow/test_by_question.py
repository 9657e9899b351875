"""A model's sentence that the check doubts, and the sentence that answers has: it leaves, marked, and is verified."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent, VerifiedSentence
from graph.audit.verify import verify
from graph.policy import grounding
from tests.support.models import Scripted, sentences

FEES = """# Fees

Payment is generally due within 30 days of the invoice.

Invoices four months overdue end the work on current projects.

If you are away from work for more than seven work days, a disability claim may be required of you.
"""
QUESTION = "We just got the bill for the course. How long do we have until we must pay it?"
OWN = "The payment is generally due within 30 days of the invoice."


CLAIM = "You may need a disability claim."


@pytest.fixture
def asked(settings_of: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """What the embedded check doubts, whatever its weights are."""
    judge = grounding.supports

    def doubting(claim: str, passages: Sequence[str], *encoder: Any) -> list[grounding.Support]:
        known = judge(claim, passages, *encoder)
        return [replace(one, score=0.3) for one in known] if claim in (OWN, CLAIM) else known

    monkeypatch.setattr(grounding, "supports", doubting)
    (tmp_path / "fees.md").write_text(FEES)

    def ask(text: str, question: str = QUESTION, context: int = 8_192) -> tuple[Agent, Any]:
        model = Scripted(reply=lambda prompt: sentences((text, [1])))
        settings = settings_of(artifacts=False, model="stub", support_opinion="off", context=context)
        agent = Agent(settings, model=model)
        agent.ingest([tmp_path / "fees.md"], tenant_id="U1")
        return agent, json.loads(json.dumps(agent.ask(question, tenant_id="U1")))

    return ask


def test_it_leaves_and_is_verified_by_its_numbers(asked: Callable[..., Any]) -> None:
    agent, reply = asked(OWN)
    with agent:
        assert [(one["text"], one.get("by_question")) for one in reply["sentences"]] == [(OWN, True)]
        assert verify(reply, agent.deps.index).ok
        streamed = [
            event.text
            for event in agent.stream(QUESTION, tenant_id="U1", thread_id="s")
            if isinstance(event, VerifiedSentence)
        ]
        assert streamed == [OWN]
        other = json.loads(json.dumps(reply).replace("within 30 days", "within 31 days"))
        assert not verify(other, agent.deps.index).ok
        unmarked = {
            **reply,
            "sentences": [{k: v for k, v in s.items() if k != "by_question"} for s in reply["sentences"]],
        }
        assert not verify(unmarked, agent.deps.index).ok


def test_another_number_is_quoted_over(asked: Callable[..., Any]) -> None:
    agent, reply = asked("The payment is generally due within 14 days of the invoice.")
    with agent:
        assert "14 days" not in reply["answer"]


def test_a_condition_follows_it(asked: Callable[..., Any]) -> None:
    agent, reply = asked(CLAIM, "I am away from work for two weeks. What may be required of me?")
    with agent:
        assert [one["text"] for one in reply["sentences"]] == [CLAIM, FEES.strip().rpartition("\n")[2]]
        assert verify(reply, agent.deps.index).ok


def test_a_larger_model_is_judged_by_its_words_alone(asked: Callable[..., Any]) -> None:
    agent, reply = asked(OWN, context=32_768)
    with agent:
        assert not any(one.get("by_question") for one in reply["sentences"])
