"""A greeting or thanks around a question change nothing of its answer; alone they are no question."""

from typing import Any

import pytest

from graph.agent import Agent
from graph.policy.answer import refusals

QUESTION = "How many people are in PunjabThal after the removals?"


@pytest.mark.parametrize(
    "asked",
    [
        f"Hello, I hope you are well. {QUESTION} Thank you very much for your help!",
        f"Good morning team! Sorry to bother you with this.\n\n{QUESTION}\n\nMany thanks in advance",
    ],
)
def test_a_polite_question_gets_the_same_answer(agent: Agent, asked: str) -> None:
    plain, polite = (dict[str, Any](agent.ask(question, tenant_id="U1")) for question in (QUESTION, asked))
    assert plain["decision"] == "answer"
    same = ("decision", "answer", "citations", "confidence", "understood")
    assert {key: plain.get(key) for key in same} == {key: polite.get(key) for key in same}
    assert polite["question"] == asked


def test_a_follow_up_after_thanks_is_one(agent: Agent) -> None:
    known: Any = {"tenant_id": "U1", "memory": "buffer", "thread_id": "courtesy"}
    agent.ask(QUESTION, **known)
    assert agent.ask("Thank you so much! And how many were removed?", **known)["memory"]["turns_used"] == 1


@pytest.mark.parametrize("said", ["Thank you so much!", "Hello", "Hi!\n\nMany thanks for your help."])
def test_who_asks_nothing_is_invited_to(agent: Agent, said: str) -> None:
    reply = agent.ask(said, tenant_id="U1")
    assert (reply["decision"], reply["answer"]) == ("no_answer", refusals.NOTHING_ASKED)
    assert reply["safety_flags"] == ["nothing_asked"] and reply["citations"] == []
