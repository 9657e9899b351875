"""A model that says a part of what the documents answer: quotes that clearly answer follow its sentences."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent, VerifiedSentence
from graph.audit.verify import verify
from graph.policy.answer.refusals import COMPLETED
from tests.support.models import Scripted, sentences

RULES = """# Volunteers

Volunteers are paid for each session after it has ended. Each volunteer is paid 45 francs for a session, and the cost of the journey.

## Rooms

The waiting room is opened at eight by the porter.
"""
QUESTION = "How much are volunteers paid for each session?"
BOTH = "When are volunteers paid for a session, and how much?"
PART, WHOLE = (
    "Volunteers are paid for each session after it has ended.",
    ("Each volunteer is paid 45 francs for a session, and the cost of the journey."),
)


@pytest.fixture
def asked(settings_of: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    file = tmp_path / "rules.md"
    file.write_text(RULES)

    def ask(text: str, question: str = QUESTION) -> tuple[Agent, Any]:
        model = Scripted(reply=lambda prompt: sentences((text, [1])))
        agent = Agent(settings_of(artifacts=False, model="stub", context=8_192), model=model)
        agent.ingest([file], tenant_id="U1")
        return agent, json.loads(json.dumps(agent.ask(question, tenant_id="U1")))

    return ask


def test_what_a_model_left_out_follows_as_a_quote(asked: Callable[..., Any]) -> None:
    agent, reply = asked(PART, BOTH)
    with agent:
        assert [one["text"] for one in reply["sentences"]] == [PART, WHOLE]
        assert "completed" in reply["safety_flags"] and reply["answer"].endswith(COMPLETED)
        assert verify(reply, agent.deps.index).ok
        unsaid = {**reply, "answer": reply["answer"].removesuffix(COMPLETED).rstrip()}
        assert not verify(unsaid, agent.deps.index).ok
        shown = [e.text for e in agent.stream(BOTH, tenant_id="U1", thread_id="s") if isinstance(e, VerifiedSentence)]
        assert shown == [PART, WHOLE]


def test_an_answer_that_says_it_all_stays_as_it_is(asked: Callable[..., Any]) -> None:
    agent, reply = asked("Each volunteer is paid 45 francs for a session and the journey's cost.")
    with agent:
        assert "completed" not in reply["safety_flags"] and "45 francs" in reply["answer"]
        assert WHOLE not in reply["answer"]


def test_the_year_that_was_left_out_follows(settings_of: Callable[..., Any], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("graph.answering.completing.COMPLETES", 99.0)  # no quote is good enough by the reader alone
    (tmp_path / "meetings.md").write_text(
        "# Meetings\n\nThe whole team meets every summer. In 2022 the team met in Porto and Ghent. In 2023 it met in Turku.\n"
    )
    for question, more in (
        ("Where did the team meet in 2022 and 2023?", True),
        ("Where did the team meet in 2022?", False),
    ):
        model = Scripted(reply=lambda prompt: sentences(("In 2022 the team met in Porto and Ghent.", [1])))
        settings = settings_of(artifacts=False, model="stub", context=8_192, home=tmp_path / question[-6:-1])
        with Agent(settings, model=model) as agent:
            agent.ingest([tmp_path / "meetings.md"], tenant_id="U1")
            reply = agent.ask(question, tenant_id="U1")
            assert ("Turku" in reply["answer"], "completed" in reply["safety_flags"]) == (more, more)


def test_two_numbers_alone_are_followed_by_the_row_that_has_both(
    settings_of: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.answering.completing.COMPLETES", 99.0)  # nothing but the row of the numbers
    rows = ["Part,March,December", "Parent company,129,125", "Broker-dealers,27,31", "Subsidiaries,250,222"]
    (tmp_path / "liquidity.csv").write_text("\n".join(rows) + "\n")
    model = Scripted(reply=lambda prompt: sentences(("27 vs 31", [1])))
    with Agent(settings_of(artifacts=False, model="stub", context=8_192), model=model) as agent:
        agent.ingest([tmp_path / "liquidity.csv"], tenant_id="U1")
        reply = agent.ask("What was the liquidity of broker-dealers in March and December?", tenant_id="U1")
    assert [one["text"] for one in reply["sentences"]] == [
        "27 vs 31",
        "Part: Broker-dealers; March: 27; December: 31",
    ]
