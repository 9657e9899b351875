"""Two questions in one, through the door: both are searched for and answered; what is not there is not passed over."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.audit.verify import verify

KEYS = "# Archive\n\nThe keys of the archive are kept by the night porter. They are handed out against a signature.\n"
PARKING = "# Parking\n\nA parking permit costs 14 crowns a month. Permits are sold at the gate.\n"


@pytest.fixture
def house(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent = opened()
    for name, text in (("archive.md", KEYS), ("parking.md", PARKING)):
        (tmp_path / name).write_text(text)
        agent.ingest(tmp_path / name, tenant_id="house")
    return agent


def test_both_are_answered(house: Agent) -> None:
    question = "Who keeps the keys of the archive, and what does a parking permit cost?"
    reply = house.ask(question, tenant_id="house")
    assert (
        "night porter" in reply["answer"] and "14 crowns" in reply["answer"] and "partial" not in reply["safety_flags"]
    )
    assert {c["filename"] for c in reply["citations"]} == {"archive.md", "parking.md"}
    assert verify(json.loads(json.dumps(reply)), house.deps.index).ok


def test_what_is_not_there_is_not_passed_over(house: Agent) -> None:
    question = "What does a parking permit cost, and which planet did the astronomers find in 1846?"
    reply = house.ask(question, tenant_id="house")
    assert "14 crowns" in reply["answer"] and "partial" in reply["safety_flags"] and reply["confidence"] != "high"
