"""I6: a citation points into this turn's evidence, and its quote is what stands there in the document."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.agent import Agent
from tests.support import invariants as inv
from tests.support.models import Scripted, everything, quoting, sentences, sources_in

ROOT = Path(__file__).resolve().parents[2]
QUESTIONS = [
    (q["tenant"], q["question"])
    for q in map(json.loads, (ROOT / "evals/datasets/answers.jsonl").read_text(encoding="utf-8").splitlines())
    if q["answerable"]
]


def run(one: Agent, tenant: str, question: str, **options: Any) -> tuple[list[str], int]:
    """The violations, and how many citations there were."""
    reply = one.ask(question, tenant_id=tenant, thread_id="i6", **options)
    evidence = inv.state_of(one, tenant, "i6")["evidence"]
    return inv.unfaithful(one, tenant, reply, evidence), len(reply["citations"])


def test_every_quote_stands_in_its_document(agent: Agent) -> None:
    cited = 0

    @given(st.sampled_from(QUESTIONS), st.sampled_from(["concise", "detailed", "bullet"]))
    @settings(max_examples=15)
    def holds(asked: tuple[str, str], style: str) -> None:
        nonlocal cited
        found, n = run(agent, *asked, style=style)
        assert found == []
        cited += n

    holds()
    assert cited >= 15


def test_whatever_the_model_cites(opened: Any) -> None:
    """A model that says everything it sees, with masked and withheld text in between, is cited truly too."""
    one: Agent = opened(chat=Scripted(reply=everything), model="stub")
    total = 0
    for tenant, question in (
        ("U1", "Who is on the contact list of the genomics laboratory?"),
        ("U1", "How is RNA extracted?"),
        ("U2", "Which errors does the NER notebook list?"),
        ("U3", "How do we procure the gripper?"),
        ("U4", "What does the XRD series show?"),
        ("U4", "How is a centrifuge balanced?"),
    ):
        found, n = run(one, tenant, question, top_k=10)
        assert found == []
        total += n
    assert total >= 30


def test_forged_numbers_are_corrected_or_dropped(opened: Any) -> None:
    def forging(prompt: str) -> str:
        found = sources_in(prompt)
        true = max(found[1].splitlines(), key=len).strip()
        return sentences(
            (true, [99]),
            (true, []),
            ("The moon is made of green cheese, says the board.", [1]),
            (true, [len(found), 1_000_000]),
        )

    one: Agent = opened(chat=Scripted(reply=forging), model="stub")
    found, cited = run(one, "U1", "How many people are in PunjabThal after the removals?")
    assert found == []
    assert cited >= 1
    assert "green cheese" not in json.dumps(inv.state_of(one, "U1", "i6")["sentences"])


@pytest.mark.parametrize("broken", ["offsets", "evidence"])
def test_the_check_fails_on_wrong_places(opened: Any, monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    import graph.answering.verified as stage

    honest = stage._citation

    def wrong(item: Any, found: Any) -> Any:
        citation = honest(item, found)
        return (
            {**citation, "start": citation["start"] + 1}
            if broken == "offsets"
            else {**citation, "chunk_id": "U1_contacts_99"}
        )

    monkeypatch.setattr(stage, "_citation", wrong)
    one: Agent = opened(chat=Scripted(reply=quoting), model="stub")
    assert run(one, "U1", "How many people are in PunjabThal after the removals?")[0] != []


def test_the_check_fails_when_masking_does_not_shift_offsets(opened: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph.answering.verified.to_source", lambda edits, start, end: (start, end))
    one: Agent = opened(chat=Scripted(reply=everything), model="stub")
    assert run(one, "U1", "Who is on the contact list of the genomics laboratory?", top_k=10)[0] != []
