"""Documents picked by what they say of themselves, through the door."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import pytest

from graph.administration.replay import replay
from graph.agent import Agent
from graph.audit.chain import is_run
from graph.audit.verify import verify
from graph.context import ReadScope
from graph.knowledge import mentions, register
from graph.policy.evidence import access
from nodes.retrieve import INVENTORY
from tests.support.models import Scripted

CARDS = {
    "cards/azide.md": "type: chemical\nlocation: Fridge 2\nvendor: Acme\n---\n# Azide\n\nToxic. Keep it cold.\n",
    "cards/ether.md": "type: chemical\nlocation: Shelf 1\nvendor: Acme\n---\n# Ether\n\nKeep it from sparks.\n",
    "cards/scale.md": "type: equipment\nlocation: Shelf 1\n---\n# Fine scale\n\nWeighs 0.1 mg.\n",
    "projects/moss.md": "type: project\nstatus: archived\nlead: Ada Lind\nreview date: 2024-05-01\n---\n# Moss\n\nOf mosses.\n",
    "projects/rain.md": "type: project\nstatus: active\nlead: Ada Lind\nreview date: 2027-03-01\n---\n# Rain\n\nOf rain.\n",
    "projects/snow.md": "type: project\nstatus: active\nlead: Bo Ek\npi: Ada Lind\nreview date: 2027-08-01\n---\n# Snow\n\nOf snow.\n",
    "notes.md": "owner: Ada Lind\n---\n# Notes\n\nThe kitchen is cleaned by all people of the project.\n",
}


def word(path: Path, **block: str) -> None:
    """A procedure in Word with a table of names and values above its text."""
    document = docx.Document()
    document.add_heading(path.stem.replace("_", " "), 1)
    table = document.add_table(rows=0, cols=2)
    for name, value in block.items():
        cells = table.add_row().cells
        cells[0].text, cells[1].text = name.replace("_", " "), value
    document.add_paragraph("The room is swept on each working day, before anybody else comes in.")
    document.save(str(path))


@pytest.fixture
def lab(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent, folder = opened(), tmp_path / "lab"
    for name, text in CARDS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"---\n{text}")
    word(
        folder / "Sweeping_procedure.docx",
        Owner="Quality Unit",
        Version="3.2",
        Status="Draft",
        Review_date="2027-01-15",
    )
    word(
        folder / "Alarm_procedure.docx",
        Owner="Quality Unit",
        Version="1.0",
        Status="Approved",
        Approved_by="The board",
        Review_date="2026-02-01",
    )
    agent.ingest(folder, tenant_id="lab")
    secret = tmp_path / "secret.md"
    secret.write_text("---\ntype: project\nlead: Ada Lind\nstatus: active\n---\n# Volcano\n\nOf fire.\n")
    agent.ingest(secret, tenant_id="lab", groups=("board",))
    other = tmp_path / "other.md"
    other.write_text("---\ntype: project\nlead: Ada Lind\nstatus: active\n---\n# Tide\n\nOf tides.\n")
    agent.ingest(other, tenant_id="other")
    return agent


def listed(agent: Agent, question: str, **who: Any) -> list[str]:
    reply = json.loads(json.dumps(agent.ask(question, **{"tenant_id": "lab", **who})))
    assert not reply["sentences"] or verify(reply, agent.deps.index).ok
    return sorted({Path(citation["filename"]).stem for citation in reply["citations"]})


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which projects is Ada Lind the lead of?", ["moss", "rain"]),
        ("Which of our projects have been archived?", ["moss"]),
        ("List all projects.", ["moss", "rain", "snow"]),
        ("Which active projects does Bo Ek lead?", ["snow"]),
        ("What chemicals do we have from Acme?", ["azide", "ether"]),
        ("Which chemicals are on shelf 1?", ["ether"]),
        ("Which projects have a review date in 2027?", ["rain", "snow"]),
        ("Which projects have a review date in March 2027?", ["rain"]),
        ("Which projects have a review date before 2027?", ["moss"]),
        ("Which projects have a review date after March 2027?", ["snow"]),
        ("Which projects have a review date since 2027?", ["rain", "snow"]),
        ("Which documents does the Quality Unit own?", ["Alarm_procedure", "Sweeping_procedure"]),
        ("Which documents name Quality as owner?", ["Alarm_procedure", "Sweeping_procedure"]),
        ("Which procedures are still in draft?", ["Sweeping_procedure"]),
        ("Which procedures are approved by the board?", ["Alarm_procedure"]),
        ("Which procedures are approved?", ["Alarm_procedure"]),
        ("Which procedures are due for a review in 2026?", ["Alarm_procedure"]),
        ("Which project has the earliest review date?", ["moss"]),
        ("Which procedure has the latest review date?", ["Sweeping_procedure"]),
    ],
)
def test_documents_are_picked_by_their_fields(lab: Agent, question: str, expected: list[str]) -> None:
    assert listed(lab, question) == expected


def test_they_are_counted(lab: Agent) -> None:
    reply = lab.ask("How many projects does Ada Lind lead?", tenant_id="lab")
    assert reply["answer"].startswith("2 in all:") and reply["confidence"] == "high"
    assert "Moss" in reply["answer"] and "Rain" in reply["answer"]


def test_only_what_the_asker_may_see(lab: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Which projects is Ada Lind the lead of?"
    assert listed(lab, question, groups=["board"]) == ["moss", "rain", "secret"]
    assert listed(lab, question, tenant_id="other") == ["other"]
    monkeypatch.setattr(access, "denied", lambda *_: None)
    assert listed(lab, question) == ["moss", "rain"]
    hits = register.hits(lab.deps.index, ReadScope("lab"), question, INVENTORY)
    assert [hit.doc_id for hit in hits] == ["moss", "rain"]  # the register itself leaves out what others may see


@pytest.mark.parametrize(
    "question",
    [
        "Which people of the project clean the kitchen?",  # asks for no document
        "What is the status of Moss?",
        "Which projects use a sieve of steel?",  # no field says so
        "Which projects mention rain?",
        "Which projects are owned by Bo Ek?",  # who leads one
        "Which projects are not archived?",
        "Which projects have a review date between 2024 and 2026?",
        "Which procedures does the board own?",  # which it approved
        "Who leads the project on snow?",
    ],
)
def test_other_questions_are_none_for_the_register(lab: Agent, question: str) -> None:
    space = next(space for where, space in lab.deps.index.visible(ReadScope("lab")) if where == "private")
    described = [name for _, name in space.document_names()]
    assert not (register.asks(question) and register.picked(question, described))


def test_more_than_are_shown_is_a_part(lab: Agent, tmp_path: Path) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for at in range(INVENTORY + 3):
        (many / f"sample_{at}.md").write_text(f"---\ntype: sample\n---\n# Sample {at}\n\nTaken on day {at}.\n")
    lab.ingest(many, tenant_id="lab")
    reply = lab.ask("List all samples", tenant_id="lab")
    assert len(reply["sentences"]) == INVENTORY and "partial" in reply["safety_flags"]


def test_a_run_replays(lab: Agent) -> None:
    lab.ask("Which projects is Ada Lind the lead of?", tenant_id="lab")
    (run,) = [replay(entry, lab.deps, None) for entry in lab.deps.journal.entries() if is_run(entry)]
    assert run.equal and not run.differs


def test_a_chat_model_is_not_asked(tmp_path: Path, settings_of: Callable[..., Any]) -> None:
    for name, text in CARDS.items():
        (tmp_path / Path(name).name).write_text(f"---\n{text}")
    model = Scripted(reply=lambda *_: pytest.fail("the model was asked"))
    with Agent(settings_of(artifacts=False, model="stub"), model=model) as agent:
        agent.ingest(tmp_path, tenant_id="U1")
        assert len(agent.ask("Which projects is Ada Lind the lead of?", tenant_id="U1")["sentences"]) == 2


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which documents does HR own?", ["Badges", "Clocks"]),
        ("Which documents name HR as owner at the top?", ["Badges", "Clocks"]),
        ("Which documents have an annual review?", ["Alarms", "Badges"]),
        ("Which documents have an annual review cycle?", ["Badges"]),
        ("Which documents are at the top?", []),
    ],
)
def test_a_field_is_asked_for_by_its_word_in_any_form(question: str, titles: list[str]) -> None:
    documents = [
        mentions.name("Alarms", "a.md", [["Owner", "IT Lead"], ["Review date", "Annual"]]),
        mentions.name("Badges", "b.md", [["Owner", "HR Manager / IT Lead"], ["Review cycle", "Annual"]]),
        mentions.name("Clocks", "c.md", [["Owner", "HR"], ["Review", "Monthly"]]),
        mentions.name("Doors", "d.md", [["Owner", "Top management"], ["Process owner", "Ada"]]),
    ]
    assert [documents[at].title for at in register.picked(question, documents)] == titles
