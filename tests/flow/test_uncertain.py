"""An answer whose confidence is "low" says so, through the door; a clear one does not."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import nodes.respond as responding
from graph.agent import Agent
from graph.audit.verify import verify
from graph.policy.answer import refusals
from tests.support.models import Scripted, sentences

BOATS = "# Boats\n\nMembers may take out a boat for three hours. The keeper of the boats signs the book.\n"
CLEAR = "How long may members take out a boat?"


def boats(agent: Agent, tmp_path: Path) -> Agent:
    (tmp_path / "boats.md").write_text(BOATS)
    agent.ingest(tmp_path / "boats.md", tenant_id="O1")
    return agent


def test_a_clear_answer_has_no_word_about_doubt(opened: Callable[..., Agent], tmp_path: Path) -> None:
    reply = boats(opened(home=tmp_path / "home"), tmp_path).ask(CLEAR, tenant_id="O1")
    assert reply["confidence"] == "high" and "uncertain" not in reply["safety_flags"]
    assert refusals.UNCERTAIN not in reply["answer"]


WRITTEN = Scripted(reply=lambda _: sentences(("Members may take out a boat for three hours.", [1])))


@pytest.mark.parametrize("chat", [None, WRITTEN], ids=["quoted", "written"])
def test_what_the_reader_doubts_says_so_and_the_record_holds_it(
    opened: Callable[..., Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chat: Scripted | None
) -> None:
    for border in ("HIGH", "MEDIUM"):
        monkeypatch.setattr(responding, border, 99.0)
    agent = boats(opened(home=tmp_path / "home", chat=chat), tmp_path)
    reply = agent.ask(CLEAR, tenant_id="O1")
    assert reply["confidence"] == "low" and "uncertain" in reply["safety_flags"]
    assert reply["answer"].endswith(refusals.UNCERTAIN) and refusals.besides(reply["answer"]) == refusals.UNCERTAIN
    assert verify(reply, agent.deps.index).ok
    assert not verify({**reply, "safety_flags": []}, agent.deps.index).ok


def test_a_list_of_documents_is_no_answer_to_doubt(
    opened: Callable[..., Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responding, "LISTED_MEDIUM", 99.0)
    monkeypatch.setattr(responding, "LISTED_HIGH", 99.0)
    reply = boats(opened(home=tmp_path / "home"), tmp_path).ask("Which documents are there?", tenant_id="O1")
    assert reply["confidence"] == "low" and "uncertain" not in reply["safety_flags"]


class Beside:
    """A reader to whom nothing answers."""

    def scores(self, question: str, passages: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.full(len(passages), -1.0, np.float32)


@pytest.mark.parametrize(("border", "doubted"), [(0.85, False), (1.1, True)])
def test_what_a_model_wrote_is_not_doubted_where_the_documents_say_all_of_it(
    opened: Callable[..., Agent], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, border: float, doubted: bool
) -> None:
    monkeypatch.setattr(responding, "SURE_FROM", border)  # what stands in a document word by word has a support of 1
    monkeypatch.setattr(responding, "reader", lambda _: Beside())
    written = Scripted(reply=lambda _: sentences(("Members may take out a boat for three hours.", [1])))
    agent = boats(
        opened(home=tmp_path / "home", chat=written, model="large", openai_base_url="http://[::1]:9"), tmp_path
    )
    reply = agent.ask(CLEAR, tenant_id="O1")
    assert reply["confidence"] == ("low" if doubted else "medium")
    assert ("uncertain" in reply["safety_flags"]) == doubted
