"""The passages that are shown are chosen from more than are shown, by the reader; none of them is one that the asker may not
see, and nothing of those left behind is in the reply."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent

QUESTION = "How long must the kiln cool before we may open the door?"
ANSWER = "Leave it shut for nine hours after firing, until the gauge shows less than 60 degrees."
DECOYS = [
    "The kiln door must be open before the kiln is cleaned. Who opens the kiln?",
    "We open the kiln door with the long key. The kiln door is heavy.",
    "The kiln must cool on a stand of its own. The kiln room has a door.",
    "Before the open day we clean the kiln and its door.",
    "How we cool the kiln room: open the door and both windows.",
    "The kiln door was painted before we may have thought of a long handle.",
]


def kept(opened: Callable[..., Agent], folder: Path, **settings: Any) -> Agent:
    agent = opened(**settings)
    for at, text in enumerate(DECOYS):
        page = folder / f"kiln{at}.md"
        page.write_text(f"# Kiln notes {at}\n\n{text}\n")
        agent.ingest(page, tenant_id="U1")
    (folder / "furnace.md").write_text(f"# Firing the kiln\n\n{ANSWER}\n")
    agent.ingest(folder / "furnace.md", tenant_id="U1")
    return agent


def test_what_answers_is_shown_though_others_are_nearer(opened: Callable[..., Agent], tmp_path: Path) -> None:
    told = {
        rerank: kept(opened, tmp_path, home=tmp_path / rerank, rerank=rerank).ask(QUESTION, tenant_id="U1")
        for rerank in ("off", "auto")
    }
    assert "nine hours" not in told["off"]["answer"]
    assert "nine hours" in told["auto"]["answer"]
    assert [len(reply["retrieval"]["candidates"]) for reply in told.values()] == [5, 5]


@pytest.mark.parametrize("groups", [(), ("staff",)])
def test_a_passage_for_others_is_not_among_those_chosen_from(
    opened: Callable[..., Agent], tmp_path: Path, groups: tuple[str, ...]
) -> None:
    agent = kept(opened, tmp_path)
    (tmp_path / "secret.md").write_text(
        "# Firing\n\nThe kiln must cool for eleven hours before the door may be opened.\n"
    )
    agent.ingest(tmp_path / "secret.md", tenant_id="U1" if groups else "U2", groups=groups)
    assert "eleven" not in str(agent.ask(QUESTION, tenant_id="U1"))
    assert "eleven" in agent.ask(QUESTION, tenant_id="U1" if groups else "U2", groups=groups)["answer"]
