"""The stages behind a real model on a real server: a very small one, which writes nonsense. What holds here holds
whatever a model says: what leaves is supported and on record, what is not stays in, and who goes away ends the work."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from graph.agent import Agent, Reply, VerifiedSentence
from graph.audit.chain import is_run
from graph.audit.verify import verify
from tests.support.small_model import NAME, Running, needed, small_model

pytestmark = [pytest.mark.slow, needed]
QUESTIONS = (
    "How many people are in PunjabThal after the removals?",
    "Which freezer holds the whole blood samples?",
    "Who paints the roof of the station?",
)
DECISIONS = ("answer", "no_answer")


@pytest.fixture(scope="module")
def model() -> Iterator[Running]:
    with small_model() as running:
        yield running


@pytest.fixture
def asked(opened: Callable[..., Agent], model: Running) -> Callable[..., Agent]:
    return lambda **values: opened(**{**model.settings, "context": 8192, "max_tokens": 120, **values})


@pytest.mark.parametrize(("form", "longest"), [("json", 120), ("json", 16), ("prose", 120)])
def test_what_leaves_is_supported_whatever_the_model_writes(asked: Any, form: str, longest: int) -> None:
    agent = asked(draft_form=form, max_tokens=longest)
    for question in QUESTIONS:
        reply = agent.ask(question, tenant_id="U1")
        assert reply.decision in DECISIONS
        assert reply.usage["model"] == NAME and reply.usage["model_calls"] >= 1 and reply.usage["prompt_tokens"] > 50
        assert verify(reply, agent.deps.index).ok or reply.decision != "answer"
    assert len(list(filter(is_run, agent.deps.journal.entries()))) == len(QUESTIONS)


def test_sentences_that_stream_are_those_of_the_reply(asked: Any) -> None:
    *early, reply = asked(draft_form="prose").stream(QUESTIONS[0], tenant_id="U1")
    assert isinstance(reply, Reply) and all(isinstance(one, VerifiedSentence) for one in early)
    assert [one.text for one in early] == [one["text"] for one in reply.sentences][: len(early)]


def test_an_assessment_in_a_few_words_is_no_error(asked: Any) -> None:
    reply = asked(max_tokens=30).ask("Create an assessment brief on text normalisation", tenant_id="U1")
    assert reply.decision in DECISIONS


def test_time_that_runs_out_ends_the_work_at_the_server(asked: Any, model: Running) -> None:
    with asked(max_tokens=16, draft_form="prose", support_opinion="off") as first:
        usage = first.ask(QUESTIONS[0], tenant_id="U1").usage
    agent = asked(max_tokens=2000, model_timeout_s=0.3, model_retries=0, draft_form="prose")
    assert agent.ask(QUESTIONS[0], tenant_id="U1").decision == "unavailable"
    assert model.settles(60) and model.cut_short(usage["prompt_tokens"])
