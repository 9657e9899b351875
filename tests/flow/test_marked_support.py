"""CORDON_SUPPORT=marked: what the evidence supports only weakly leaves with a mark, and never without it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent, VerifiedSentence
from graph.audit.verify import verify
from graph.policy.grounding import MARK
from tests.support.models import Scripted, sentences

LOANS = "# Loans\n\nBooks are lent for ten days. Films are lent for three days. It is not allowed to lend maps.\n"
QUESTION = "How long are books lent?"
WEAK, FALSE, OTHER_ROW = (
    "Books must come back to the library within ten days.",
    "Books are lent for twelve days.",
    "Books are lent for three days.",
)


@pytest.fixture
def asked(settings_of: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    file = tmp_path / "loans.md"
    file.write_text(LOANS)

    def ask(text: str, support: str, **more: Any) -> tuple[Agent, Any]:
        model = Scripted(reply=lambda prompt: sentences((text, [1])))
        agent = Agent(settings_of(support=support, artifacts=False, model="stub"), model=model)
        agent.ingest([file], tenant_id="U1")
        return agent, json.loads(json.dumps(agent.ask(QUESTION, tenant_id="U1", **more)))

    return ask


@pytest.mark.parametrize(
    ("text", "support", "shown"),
    [(WEAK, "marked", True), (WEAK, "strict", False), (FALSE, "marked", False), (OTHER_ROW, "marked", False)],
)
def test_only_what_is_weak_and_exact_is_marked(asked: Callable[..., Any], text: str, support: str, shown: bool) -> None:
    agent, reply = asked(text, support)
    with agent:
        assert ((text + MARK) in reply["answer"]) is shown is ("weakly_supported" in reply["safety_flags"])
        assert text not in reply["answer"].replace(text + MARK, "")
        assert verify(reply, agent.deps.index).ok
        if shown:
            assert reply["confidence"] == "low" and reply["sentences"][0]["doubted"] is True


def test_a_mark_that_was_taken_off_does_not_verify(asked: Callable[..., Any]) -> None:
    agent, reply = asked(WEAK, "marked")
    with agent:
        bare = json.loads(json.dumps(reply).replace(MARK, ""))
        assert not verify(bare, agent.deps.index).ok
        unsaid = {**reply, "sentences": [{k: v for k, v in s.items() if k != "doubted"} for s in reply["sentences"]]}
        assert not verify(unsaid, agent.deps.index).ok
        swapped = json.loads(json.dumps(reply).replace(WEAK, FALSE))
        assert not verify(swapped, agent.deps.index).ok


def test_a_stream_marks_it_too(asked: Callable[..., Any]) -> None:
    agent, _ = asked(WEAK, "marked")
    with agent:
        first = next(iter(agent.stream(QUESTION, tenant_id="U1", thread_id="s")))
        assert isinstance(first, VerifiedSentence) and first.text == WEAK + MARK
