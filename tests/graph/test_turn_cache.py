"""What a turn has found out it does not find out again, and nothing of it reaches another turn."""

import contextvars
import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from graph import checkpoints, turn_cache
from graph.agent import Agent
from graph.knowledge.embeddings import once, shared
from graph.models.fair_semaphore import CURRENT_TENANT
from graph.policy import pii
from tests.support.invariants import state_of


class Counted:
    """An embedder that notes what it was asked."""

    name, query_prefix = shared().name, ""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return shared().embed(texts)

    def count(self, text: str) -> int:
        return shared().count(text)


def in_a_turn(work: Callable[[], object]) -> None:
    def run() -> None:
        turn_cache.begin()
        work()

    contextvars.Context().run(run)


def test_a_text_is_embedded_once_in_a_turn_and_again_in_the_next() -> None:
    model = Counted()

    def work() -> None:
        assert once(model, "who?") is once(model, "who?")

    in_a_turn(work)
    assert model.asked == ["who?"]
    in_a_turn(work)
    assert model.asked == ["who?", "who?"]
    once(model, "who?"), once(model, "who?")
    assert len(model.asked) == 4  # outside a turn nothing is kept


def test_a_question_is_embedded_once_on_its_way_into_memory(opened: Callable[..., Agent]) -> None:
    one, model = opened(), Counted()
    question = "Who keeps the shared calendar?"
    one.ask(question, tenant_id="U1", thread_id="t", memory="buffer")  # so that there is a memory to look through
    one.deps.__dict__["embedder"] = one.deps.index.embedder = model
    one.ask(question, tenant_id="U1", thread_id="t", memory="buffer")
    assert model.asked.count(question) == 1


def test_evidence_is_not_masked_again_before_it_is_stored(
    opened: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, looked, find = opened(), [], pii.find

    def noted(text: str) -> list[pii.Span]:
        looked.append(text)
        return find(text)

    monkeypatch.setattr(pii, "find", noted)
    monkeypatch.setattr(checkpoints, "_CLEAN", {})
    one.ask("Which freezer holds the whole blood samples?", tenant_id="U1", thread_id="t")
    items = state_of(one, "U1", "t")["evidence"]
    assert items and not {item["text"] for item in items if not item["withheld"]} & {*looked}


def test_what_is_kept_because_it_is_public_is_masked_where_it_is_stored(
    opened: Callable[..., Agent], tmp_path: Path
) -> None:
    one = opened()
    (tmp_path / "desk.md").write_text(
        "# Pottery\n\nThe potters fire celadon glazes when you write to kiln@example.org a week before.\n"
    )
    one.ingest(tmp_path / "desk.md", tenant_id="U1")
    one.deps.public.add("U1", "kiln@example.org", one.deps.journal, by="local")
    reply = one.ask("When do the potters fire celadon glazes?", tenant_id="U1", thread_id="t")
    assert "kiln@example.org" in reply.answer
    assert "kiln@example.org" not in json.dumps(state_of(one, "U1", "t")["evidence"])


def test_the_time_told_is_that_of_the_whole_turn(opened: Callable[..., Agent]) -> None:
    one = opened()
    begun = time.perf_counter()
    reply = one.ask("Which freezer holds the whole blood samples?", tenant_id="U1", thread_id="t", memory="buffer")
    whole = (time.perf_counter() - begun) * 1_000
    stages = sum(ms for name, ms in reply["timings_ms"].items() if name != "total")
    recorded = next(e for e in one.deps.journal.newest() if e["kind"] == "run")["latency_ms"]
    assert stages <= recorded <= reply["timings_ms"]["total"] <= whole


def test_what_one_tenant_stored_is_looked_through_again_for_another(monkeypatch: pytest.MonkeyPatch) -> None:
    text, find = "The kiln opens at nine, twenty past.", pii.find
    looked: list[str] = []

    def noted(text: str) -> list[pii.Span]:
        looked.append(CURRENT_TENANT.get())
        return find(text)

    def store(tenant: str) -> None:
        CURRENT_TENANT.set(tenant)
        assert checkpoints.masked({"text": text}) == {"text": text}

    monkeypatch.setattr(pii, "find", noted)
    for tenant in ("K1", "K1", "K2", "K1"):
        contextvars.Context().run(store, tenant)
    assert looked == ["K1", "K2"]
