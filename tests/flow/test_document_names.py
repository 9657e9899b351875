"""A list of documents names a table by its file; the name is cited, and verified later."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.audit.verify import verify
from graph.settings import Settings


@pytest.fixture
def agent(tmp_path: Path, settings_of: Callable[..., Settings]) -> Agent:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "opening_hours.csv").write_text("Place,Monday\nLong hall,closed\nLibrary,10-17\n")
    (tmp_path / "in" / "rules.md").write_text("# Rules of the house\n\nShoes are left at the door.\n")
    one = Agent(settings_of(artifacts=False))
    one.ingest(tmp_path / "in", tenant_id="T1")
    return one


def test_a_table_goes_by_its_file_name(agent: Agent) -> None:
    reply = agent.ask("What documents do you have?", tenant_id="T1")
    assert [s["text"] for s in reply["sentences"]] == ["opening_hours.csv", "Rules of the house"]
    report = verify(dict(reply), agent.deps.index)
    assert report.ok, report


def test_another_name_is_not_verified(agent: Agent) -> None:
    reply = dict(agent.ask("What documents do you have?", tenant_id="T1"))
    other = "salaries.csv"
    reply["sentences"] = [{**reply["sentences"][0], "text": other}, *reply["sentences"][1:]]
    reply["answer"] = reply["answer"].replace("opening_hours.csv", other)
    assert not verify(reply, agent.deps.index).ok
