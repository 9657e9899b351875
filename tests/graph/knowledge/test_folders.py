"""Files of one name from two folders, files that are gone from a folder, and one name in two forms of Unicode."""

import json
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.errors import BadInput
from graph.settings import Settings

LOOM = "# The loom\n\nThe loom of the weaving shed is oiled every Tuesday by the keeper of the shed.\n"
KILN = "# The kiln\n\nThe kiln in the yard is fired twice a month, and only with two people present.\n"


@pytest.fixture
def agent(settings_of: Callable[..., Settings]) -> Iterator[Agent]:
    with Agent(settings_of(artifacts=False)) as agent:
        yield agent


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(agent: Agent) -> list[str]:
    return sorted(document["filename"] for document in agent.documents(tenant_id="U1"))


def test_two_documents_of_one_name_from_two_folders_are_both_there(tmp_path: Path, agent: Agent) -> None:
    one, two = written(tmp_path / "loom" / "README.md", LOOM), written(tmp_path / "kiln" / "README.md", KILN)
    agent.ingest([one], tenant_id="U1")
    [outcome] = agent.ingest([two.parent], tenant_id="U1")
    assert outcome.reason == "kept beside the one of that name from another folder"
    assert names(agent) == ["README.md", "kiln/README.md"]
    # Each is brought up to date by its own file.
    written(two, KILN.replace("twice", "thrice"))
    [outcome] = agent.ingest([two], tenant_id="U1")
    assert outcome.status == "indexed" and outcome.replaced
    assert [o.status for o in agent.ingest([one, two], tenant_id="U1")] == ["unchanged", "unchanged"]
    assert names(agent) == ["README.md", "kiln/README.md"]
    texts = [agent.document(d["doc_id"], tenant_id="U1")["text"] for d in agent.documents(tenant_id="U1")]
    assert any("loom" in text for text in texts) and any("thrice" in text for text in texts)


def test_a_new_version_from_another_folder_takes_the_place_of_the_old_one_and_that_is_said(
    tmp_path: Path, agent: Agent
) -> None:
    agent.ingest([written(tmp_path / "2024" / "loom.md", LOOM)], tenant_id="U1")
    new = written(tmp_path / "2025" / "loom.md", LOOM.replace("Tuesday", "Friday"))
    [outcome] = agent.ingest([new], tenant_id="U1")
    assert outcome.replaced and outcome.reason == "in place of the one of that name from another folder"
    assert names(agent) == ["loom.md"]


def test_what_is_gone_from_a_folder_is_told_and_removed_with_sync_on_record(tmp_path: Path, agent: Agent) -> None:
    folder = tmp_path / "notes"
    written(folder / "loom.md", LOOM)
    gone = written(folder / "sub" / "kiln.md", KILN)
    elsewhere = written(tmp_path / "other" / "yard.md", "# The yard\n\nThe yard is swept on Monday.\n")
    agent.ingest([folder, elsewhere], tenant_id="U1")
    gone.unlink()
    told = agent.ingest([folder], tenant_id="U1")
    assert [(o.name, o.status) for o in told] == [("loom.md", "unchanged"), ("sub/kiln.md", "missing")]
    assert names(agent) == ["loom.md", "sub/kiln.md", "yard.md"]
    told = agent.ingest([folder], tenant_id="U1", sync=True)
    assert [(o.name, o.status) for o in told] == [("loom.md", "unchanged"), ("sub/kiln.md", "removed")]
    assert names(agent) == ["loom.md", "yard.md"]
    journal = (agent.settings.home / "audit" / "journal.jsonl").read_text().splitlines()
    assert [line["says"] for line in map(json.loads, journal) if line.get("kind") == "document"][-1] == "file gone"


def test_a_file_that_cannot_be_read_any_more_is_not_taken_for_gone(tmp_path: Path, agent: Agent) -> None:
    folder = tmp_path / "notes"
    written(folder / "loom.md", LOOM)
    written(folder / "kiln.md", KILN)
    agent.ingest([folder], tenant_id="U1")
    (folder / "kiln.md").write_text("")
    told = {o.name: o.status for o in agent.ingest([folder], tenant_id="U1", sync=True)}
    assert told == {"kiln.md": "quarantined", "loom.md": "unchanged"}
    assert names(agent) == ["kiln.md", "loom.md"]


def test_an_empty_folder_removes_nothing(tmp_path: Path, agent: Agent) -> None:
    path = written(tmp_path / "notes" / "loom.md", LOOM)
    agent.ingest([path.parent], tenant_id="U1")
    path.unlink()
    with pytest.raises(BadInput, match="nothing was removed"):
        agent.ingest([path.parent], tenant_id="U1", sync=True)
    assert names(agent) == ["loom.md"]


def test_sync_leaves_what_another_tenant_has_of_the_same_folder(tmp_path: Path, agent: Agent) -> None:
    folder = tmp_path / "notes"
    gone = written(folder / "kiln.md", KILN)
    written(folder / "loom.md", LOOM)
    for tenant in ("U1", "U2"):
        agent.ingest([folder], tenant_id=tenant)
    gone.unlink()
    agent.ingest([folder], tenant_id="U1", sync=True)
    assert names(agent) == ["loom.md"]
    assert len(agent.documents(tenant_id="U2")) == 2


def test_one_name_in_two_forms_of_unicode_is_one_document(tmp_path: Path, agent: Agent) -> None:
    for form in ("NFC", "NFD"):
        folder = tmp_path / form
        written(folder / (unicodedata.normalize(form, "Grüße") + ".md"), LOOM + form)
        agent.ingest([folder], tenant_id="U1")
    assert names(agent) == ["Grüße.md"]
