"""Documents that come and go have lines of their own in the journal, before it happens."""

from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import Unavailable
from graph.settings import load


@pytest.fixture
def one(tmp_path: Path) -> Agent:
    return Agent(load(environ={}, home=tmp_path / "home", out=tmp_path / "out", artifacts=False))


def told(agent: Agent, *keys: str) -> list[tuple[Any, ...]]:
    lines = (entry for entry in agent.deps.journal.entries() if entry["kind"] == "document")
    return [tuple(entry.get(key) for key in keys) for entry in lines]


def test_every_way_in_and_out_is_on_record(one: Agent, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    for text in ("The pump is blue.", "The pump is red.", "The pump is red."):
        note.write_text(f"# Pumps\n\n{text}\n")
        one.ingest(note, tenant_id="U1")
    first, second = (entry["document_sha256"] for entry in one.deps.journal.entries())
    one.ingest(note, tenant_id="U2", groups=["board"])
    one.ingest(note, public=True)
    one.remove("note", tenant_id="U1")
    assert first != second and told(one, "tenant_id", "says", "doc_id", "groups", "document_sha256") == [
        ("U1", "indexed", "note", [], first),
        ("U1", "replaced", "note", [], second),
        ("U2", "indexed", "note", ["board"], second),
        ("public", "indexed", "note", [], second),
        ("U1", "removed", "note", [], second),
    ]
    assert one.deps.journal.prove().holds
    one.close()


def test_what_cannot_be_recorded_does_not_come_in_or_go(one: Agent, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("# Pumps\n\nThe pump is blue.\n")
    one.ingest(tmp_path / "note.md", tenant_id="U1")
    with (tmp_path / "home" / "audit" / "journal.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    (tmp_path / "other.md").write_text("# Valves\n\nThe valve is green.\n")
    with pytest.raises(Unavailable, match="damaged"):
        one.ingest(tmp_path / "other.md", tenant_id="U1")
    with pytest.raises(Unavailable, match="damaged"):
        one.remove("note", tenant_id="U1")
    assert [document["doc_id"] for document in one.documents(tenant_id="U1")] == ["note"]
    one.close()


def test_an_erasure_of_the_tenant_leaves_neither_name_nor_hash(one: Agent, tmp_path: Path) -> None:
    for tenant in ("U1", "U2"):
        (tmp_path / f"{tenant}.md").write_text(f"# Pumps\n\nThe pump of {tenant} is blue.\n")
        one.ingest(tmp_path / f"{tenant}.md", tenant_id=tenant)
    one.forget(tenant_id="U1", everything=True)
    assert told(one, "tenant_id", "says", "doc_id", "document_sha256")[0] == ("U1", "indexed", None, None)
    assert told(one, "doc_id")[1] == ("U2",) and one.deps.journal.prove().holds
    one.close()
