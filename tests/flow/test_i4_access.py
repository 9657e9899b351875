"""I4: when the prompt is built, every piece of evidence in it may be read by the asker."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graph.agent import Agent
from graph.knowledge.index import Index
from graph.stores.spaces import Record
from tests.support import invariants as inv
from tests.support.models import Scripted, everything

TENANTS = ("U1", "U2", "U3", "U4")
QUESTIONS = (
    "What is the budget for 2026 and when does it have to be spent?",
    "Who is the laboratory safety officer?",
    "When does the embargo end?",
    "Which supplier do we buy from and what does it cost?",
    "What went wrong in the near miss?",
    "Summarise the embargo plan",
    "gpu allocation annotation vendor robot cell furnace perovskite",
)


@pytest.fixture
def shown(opened: Any) -> tuple[Agent, Scripted]:
    chat = Scripted(reply=everything)
    return opened(chat=chat, model="stub"), chat


def run(one: Agent, chat: Scripted, question: str, tenant: str, **options: Any) -> list[str]:
    chat.seen.clear()
    reply = one.ask(question, tenant_id=tenant, top_k=20, **options)
    entry = inv.journal_of(one)[-1]
    return inv.unreadable(chat.seen, tenant, inv.texts_of(one, (*TENANTS, "public"))) + inv.wrong_tenant(
        tenant, reply, entry
    )


def test_no_prompt_holds_a_line_of_another_tenant(shown: tuple[Agent, Scripted]) -> None:
    one, chat = shown
    prompts = 0

    @given(st.sampled_from(QUESTIONS), st.sampled_from(TENANTS), st.sampled_from(["baseline", "agent"]))
    @settings(max_examples=12)
    def holds(question: str, tenant: str, mode: str) -> None:
        nonlocal prompts
        assert run(one, chat, question, tenant, mode=mode) == []
        prompts += len(chat.seen)

    holds()
    assert prompts >= 5


def _leaky(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index that also looks into U2's space."""
    honest = Index.visible
    monkeypatch.setattr(Index, "visible", lambda self, who: [*honest(self, who), ("private", self.space("U2"))])


def test_the_check_fails_when_search_and_access_are_broken(
    shown: tuple[Agent, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    _leaky(monkeypatch)
    monkeypatch.setattr("graph.policy.evidence.access.denied", lambda *a, **k: None)
    assert run(*shown, "What is the GPU budget and the annotation vendor?", "U1") != []


def test_the_access_check_alone_holds_when_search_is_broken(
    shown: tuple[Agent, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two locks, not one: a search that strays into another's space is caught by the guard."""
    _leaky(monkeypatch)
    assert run(*shown, "What is the GPU budget and the annotation vendor?", "U1") == []


def test_the_search_alone_holds_when_the_access_check_is_broken(
    shown: tuple[Agent, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.policy.evidence.access.denied", lambda *a, **k: None)
    assert run(*shown, "What is the GPU budget and the annotation vendor?", "U1") == []


def expired(record: Record) -> Record:
    return replace(record, expires="2020-01-01T00:00:00+00:00")


def test_a_document_whose_retention_has_run_out_is_not_shown(opened: Any) -> None:
    chat = Scripted(reply=everything)
    one: Agent = opened(chat=chat, model="stub")
    question = "How much money may we spend on the replacement ultra-low freezer?"
    assert "U1_memo_freezer_budget" in {c["doc_id"] for c in one.ask(question, tenant_id="U1")["citations"]}
    space = one.deps.index.space("U1")
    assert space is not None
    space.change("U1_memo_freezer_budget", expired)
    reply = one.ask(question, tenant_id="U1")
    assert "U1_memo_freezer_budget" not in {c["doc_id"] for c in reply["retrieval"]["candidates"]}
    assert "dropped:expired" in inv.journal_of(one)[-1]["filters_applied"]


def test_where_everything_found_has_expired_access_is_denied(opened: Any) -> None:
    one: Agent = opened()
    for tenant in ("U1", "public"):
        space = one.deps.index.space(tenant)
        assert space is not None
        for record in space.records():
            space.change(record.doc_id, expired)
    reply = one.ask("What is the freezer budget?", tenant_id="U1")
    assert reply["answer"] == "Refusal: AccessDenied. You do not have access to that information."
