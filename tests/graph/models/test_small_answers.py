"""What a small model is known to write in prose: a value alone, half an answer, nothing; and how sure the answer is."""

from typing import Any

import pytest

from graph.agent import Agent
from graph.policy import grounding
from tests.support import invariants as inv
from tests.support.openai_server import Say

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")  # sockets that the collector closes


def checked(one: Agent, reply: Any) -> Any:
    assert inv.unvalidated(reply) == []
    assert inv.unfaithful(one, "U1", reply, inv.state_of(one, "U1", "default")["evidence"]) == []
    return reply


def test_prose_that_cannot_be_read_is_not_asked_for_again(talk: Any) -> None:
    one, server = talk(Say("[4] [4] [4] [4]"), draft_form="prose")
    reply = checked(one, one.ask("Which participants of PunjabThal were later removed?", tenant_id="U1"))
    assert (reply["draft"], len(server.requests)) == ("dropped", 1)
    assert "extractive_fallback" in reply["safety_flags"] and reply["sentences"]


@pytest.mark.parametrize("draft", ["45 students", "45"])
def test_a_value_alone_is_shown_as_the_sentence_that_says_it(talk: Any, draft: str) -> None:
    one, _ = talk(Say(draft), draft_form="prose", context=8192, support_opinion="off")
    reply = checked(one, one.ask("How many students is the LLM security unit limited to?", tenant_id="U1"))
    assert (reply["draft"], reply["sentences"][0]["text"]) == ("verified", "The unit is limited to 45 students.")
    assert not reply["answer"].startswith("The model")


def test_a_value_that_answers_is_followed_by_the_sentence_that_says_it(talk: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("graph.answering.completing.beside", lambda *given: {})
    one, _ = talk(Say("45 students"), draft_form="prose", context=8192, support_opinion="off")
    reply = checked(one, one.ask("How many students is the LLM security unit limited to?", tenant_id="U1"))
    assert [s["text"] for s in reply["sentences"]][:2] == ["45 students", "The unit is limited to 45 students."]


def test_a_sentence_is_not_followed_by_the_quote_that_it_rests_on(talk: Any) -> None:
    own = "The unit is limited to 45 students at most."
    one, _ = talk(Say(own), draft_form="prose", context=8192, support_opinion="off")
    reply = checked(one, one.ask("How many students is the LLM security unit limited to?", tenant_id="U1"))
    assert reply["sentences"][0]["text"] == own
    assert not any(s["text"] == "The unit is limited to 45 students." for s in reply["sentences"])


def test_a_value_that_no_quote_has_is_said_to_be_dropped(talk: Any) -> None:
    one, _ = talk(Say("46"), draft_form="prose", context=8192, support_opinion="off")
    reply = checked(one, one.ask("How many students is the LLM security unit limited to?", tenant_id="U1"))
    assert reply["draft"] == "dropped" and reply["answer"].startswith("The model's answer could not be read.")


def test_what_only_just_passes_is_not_answered_with_high_confidence(talk: Any, monkeypatch: Any) -> None:
    def scored(text: str, passages: Any, encoder: Any) -> Any:
        return [grounding.Support(score, 0.0, ((0, 20),)) for _ in passages]

    monkeypatch.setattr(grounding, "supports", scored)
    one, _ = talk(Say("The LLM security unit takes 45 students at most."), draft_form="prose", support_opinion="off")
    confidence = {}
    for score in (0.6, 0.95):
        reply = one.ask("How many students does the LLM security unit take?", tenant_id="U1", thread_id=f"t{score}")
        confidence[score] = reply["confidence"]
    assert confidence == {0.6: "medium", 0.95: "high"}


def test_a_made_up_answer_is_followed_by_quotes_where_these_are_likely_to_answer(talk: Any, monkeypatch: Any) -> None:
    question, made_up = "How many students is the LLM security unit limited to?", "The unit is taught by nine badgers."
    one, _ = talk(Say(made_up), draft_form="prose", context=8192, support_opinion="off")
    quoted = checked(one, one.ask(question, tenant_id="U1"))
    assert "45 students" in quoted["answer"] and "extractive_fallback" in quoted["safety_flags"]
    monkeypatch.setattr("graph.answering.completing.UNSUPPORTED_FROM", 1.0)
    silent = one.ask(question, tenant_id="U1", thread_id="b")
    assert (silent["draft"], silent["sentences"]) == ("dropped", [])
    assert silent["answer"].startswith("The model's draft was not supported by the documents. Nothing of it is shown")
