"""Five kinds of fault of a model, twenty of each: what leaves is a verified answer, an honest no, or an outage."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from graph.agent import Agent
from graph.policy.answer import refusals
from tests.support.models import Scripted, quoting

QUESTION = "How many people are in PunjabThal after the removals?"
TELLTALE = "quokkas rule the moon"  # in every faulty text, in no document


def garbage(rng: random.Random, good: str) -> str:
    return "".join(rng.choice('{}[]":,\\\n\x00\ud800é漢 ') for _ in range(rng.randrange(1, 400))) + TELLTALE


def wrong_schema(rng: random.Random, good: str) -> str:
    shapes: list[Any] = [
        {"answer": TELLTALE},
        [TELLTALE],
        {"answered": "yes", "sentences": TELLTALE},
        {"answered": True, "sentences": [{"text": TELLTALE, "sources": [rng.randrange(1, 99)]}]},
        {"answered": True, "sentences": [{"sources": [1]}, {"text": [TELLTALE], "sources": "1"}]},
        {"answered": None, "sentences": {"text": TELLTALE}},
    ]
    return json.dumps(rng.choice(shapes))


def empty(rng: random.Random, good: str) -> str:
    return rng.choice(["", " ", "\n\n", "{}", "[]", "null", '""', '{"answered": true, "sentences": []}'])


def half(rng: random.Random, good: str) -> str:
    return good[: rng.randrange(1, len(good))]


def over_long(rng: random.Random, good: str) -> str:
    filler = {"text": f"{TELLTALE} {rng.random()}", "sources": [1]}
    sentences = json.loads(good)["sentences"] + [filler] * rng.choice([60, 300, 800])
    return json.dumps({"answered": True, "sentences": sentences})


@pytest.mark.parametrize("fault", [garbage, wrong_schema, empty, half, over_long])
def test_a_fault_never_leaves(opened: Callable[..., Agent], fault: Callable[[random.Random, str], str]) -> None:
    rng = random.Random(fault.__name__)
    model = Scripted(reply=lambda prompt: fault(rng, quoting(prompt)))
    agent = opened(chat=model, model="faulty")
    for n in range(20):
        reply = agent.ask(QUESTION, tenant_id="U1", thread_id=f"{fault.__name__}-{n}")
        assert reply.decision in ("answer", "no_answer", "unavailable"), reply.decision
        assert TELLTALE not in json.dumps(reply)
        if reply.decision == "answer":
            assert all(s["citations"] and s["support"] > 0.3 for s in reply.sentences)
        else:
            assert reply.sentences == [] and reply.citations == []
        assert reply.decision != "no_answer" or reply.answer in (
            refusals.NOT_IN_DOCUMENTS,
            *map(refusals.withheld, refusals.DROPPED),
        )
