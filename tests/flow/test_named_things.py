"""Where each site has a document of its own, a question that names one is answered from that."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.agent import Agent
from tests.support.models import Scripted, sentences, sources_in

PLACES = {
    "Aldermoor": ("North", "the west basin", 40),
    "Brackwater": ("East", "the inner basin", 55),
    "Corrie": ("South", "the old lock", 30),
    "Dunmouth": ("West", "", 0),
}


@pytest.fixture
def harbours(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    return with_harbours(opened(), tmp_path)


def with_harbours(agent: Agent, tmp_path: Path) -> Agent:
    folder = tmp_path / "harbours"
    folder.mkdir()
    for place, (side, basin, depth) in PLACES.items():
        mooring = (
            f"## Mooring\n\nSailing boats moor in {basin}. The mooring fee is {depth} crowns a night.\n"
            if basin
            else ""
        )
        (folder / f"{place.lower()}.md").write_text(
            f"---\n  title: {place} (H{place[:2].upper()})\n---\n\n## Entrance\n\nBoats come in from the {side.lower()}.\n\n{mooring}\n"
            "## Watch\n\nThe watch is on duty from 06:00 to 22:00.\n",
            encoding="utf-8",
        )
    (folder / "rules.md").write_text(
        "# Rules for all harbours\n\n## Fires\n\nNo open fire is allowed on a moored boat.\n", encoding="utf-8"
    )
    agent.ingest([folder], tenant_id="U1")
    return agent


@pytest.mark.parametrize("question", ["What is the mooring fee in {}?", "what is {}'s mooring fee?"])
def test_the_place_that_is_named_answers(harbours: Agent, question: str) -> None:
    for place, (_, basin, depth) in PLACES.items():
        reply = harbours.ask(question.format(place if "What" in question else place.lower()), tenant_id="U1")
        if basin:
            assert f"{depth} crowns" in reply["answer"], place
            assert {c["filename"].rpartition("/")[2] for c in reply["citations"]} == {f"{place.lower()}.md"}


def test_of_another_place_nothing_is_sure(harbours: Agent) -> None:
    reply = harbours.ask("What is the mooring fee in Dunmouth?", tenant_id="U1")
    assert reply["confidence"] == "low" and "crowns" not in reply["answer"]


def test_a_small_model_is_not_shown_another_place(opened: Callable[..., Agent], tmp_path: Path) -> None:
    model = Scripted(reply=lambda prompt: sentences(("The mooring fee is 55 crowns a night.", [1])))
    agent = with_harbours(opened(chat=model, model="stub", context=8192), tmp_path)
    reply = agent.ask("What is the mooring fee in Dunmouth?", tenant_id="U1")
    assert model.seen and "crowns" not in str(sources_in(model.seen[0])) and "crowns" not in reply["answer"]


def test_what_holds_for_all_places_holds_for_one(harbours: Agent) -> None:
    reply = harbours.ask("May I light an open fire on a boat moored in Corrie?", tenant_id="U1")
    assert "No open fire is allowed" in reply["answer"]


def test_another_tenants_place_is_not_named(harbours: Agent) -> None:
    reply = harbours.ask("What is the mooring fee in Corrie?", tenant_id="U2")
    assert "crowns" not in str(reply)


def test_a_title_that_the_question_writes_as_a_word_names_nothing(opened: Callable[..., Agent], tmp_path: Path) -> None:
    page = tmp_path / "travel.md"
    page.write_text("# Travel\n\nTravel requests are signed by the head of department.\n", encoding="utf-8")
    agent = opened()
    agent.ingest([page], tenant_id="U1")
    named = {}
    for question in ("Who signs requests of Travel?", "Who signs travel requests?"):
        handles = agent.ask(question, tenant_id="U1")["retrieval"]["candidates"]
        named[question] = handles[0].get("why")
    assert [*named.values()] == ["the document asked for", None]
