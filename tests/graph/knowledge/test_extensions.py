"""A second kind of document is one folder and one line: minutes, divided by their items, whose actions come first."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge import extensions
from graph.settings import Settings
from graph.stores.embedded.space import SqliteSpace

SPLITTER = """
import re

from graph.knowledge.chunking import Chunk
from graph.knowledge.extensions import Split

LOADER = ""
TABLE = "CREATE TABLE IF NOT EXISTS minutes (doc_id TEXT PRIMARY KEY, sha256 TEXT, actions TEXT)"


class Actions:
    def __init__(self, doc_id, sha256, chunk_id):
        self.row = doc_id, sha256, chunk_id

    def save(self, space):
        space.execute(TABLE)
        space.execute("INSERT OR REPLACE INTO minutes VALUES (?, ?, ?)", self.row)

    def report(self):
        return "minutes with actions"


def split(document, count, *, size, overlap):
    starts = [m.start() for m in re.finditer(r"^(?:Item|Actions)", document.text, re.M)]
    ends = [*starts[1:], len(document.text)]
    chunks = [Chunk(a, b, None, None, f"item {n}", 1) for n, (a, b) in enumerate(zip(starts, ends), 1)]
    words = [document.text[c.start : c.end] for c in chunks]
    last = next(n for n, text in enumerate(words) if text.startswith("Actions"))
    return Split(chunks, words, lambda doc_id, sha256, ids, vectors: Actions(doc_id, sha256, ids[last]))


def complete(space, doc_id, sha256):
    space.execute(TABLE)
    return bool(space.execute("SELECT 1 FROM minutes WHERE doc_id = ? AND sha256 = ?", (doc_id, sha256)))
"""
AUGMENTER = """
from graph.knowledge.extensions import RankedHits
from graph.knowledge.index import Hit

TABLE = "SELECT doc_id, actions FROM minutes"


class Minutes:
    depth = 5

    def __init__(self, held):
        self.held = held

    def augment(self, query, found, *, expand, top_k):
        actions = [Hit(where, chunk_id, doc_id, 0.9, 0.0, 0.0) for where, doc_id, chunk_id in self.held]
        first = {(hit.where, hit.chunk_id) for hit in actions}
        rest = [hit for hit in found.hits if (hit.where, hit.chunk_id) not in first]
        return RankedHits(actions + rest, dict.fromkeys(first, "actions of the meeting"), expand)


def augmenter(spaces, documents=()):
    held = [
        (where, *row)
        for where, space in spaces
        if space.execute("SELECT 1 FROM sqlite_master WHERE name = 'minutes'")
        for row in space.execute(TABLE)
    ]
    return Minutes(held) if held else None
"""
MINUTES = """
Item 1. The zeppelin hangar is painted blue.

Item 2. The zeppelin hangar gets a new door in May.

Actions: Ada orders the paint.
"""
QUESTION = "Which colour is the zeppelin hangar painted?"


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings_of: Callable[..., Settings]) -> Iterator[Agent]:
    package = tmp_path / "code" / "meetings"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "splitter.py").write_text(SPLITTER)
    (package / "augmenter.py").write_text(AUGMENTER)
    (tmp_path / "minutes.txt").write_text(MINUTES)
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setitem(extensions.PACKAGES, "minutes", "meetings")
    with Agent(settings_of(artifacts=False)) as agent:
        yield agent


def test_a_kind_of_its_own_is_divided_kept_and_reported_by_its_extension(one: Agent, tmp_path: Path) -> None:
    (first,) = one.ingest(tmp_path / "minutes.txt", tenant_id="U1", kind="minutes")
    assert (first.status, first.chunks, first.reason) == ("indexed", 3, "minutes with actions")
    (again,) = one.ingest(tmp_path / "minutes.txt", tenant_id="U1", kind="minutes")
    assert again.status == "unchanged"
    space = one.deps.index.space("U1")
    assert isinstance(space, SqliteSpace)
    assert [c.section for c in space.chunks("minutes")] == ["item 1", "item 2", "item 3"]
    space.execute("DELETE FROM minutes")
    (mended,) = one.ingest(tmp_path / "minutes.txt", tenant_id="U1", kind="minutes")
    assert mended.status == "indexed"


def test_its_evidence_comes_as_the_extension_says(one: Agent, tmp_path: Path) -> None:
    one.ingest(tmp_path / "minutes.txt", tenant_id="U1", kind="minutes")
    shown = one.ask(QUESTION, tenant_id="U1", top_k=2)["retrieval"]["candidates"]
    assert [(c["chunk_id"], c.get("why")) for c in shown] == [
        ("minutes_2", "actions of the meeting"), ("minutes_0", None)
    ]  # fmt: skip
    whole = one.ask(QUESTION, tenant_id="U1", top_k=2, mode="graph", thread_id="whole")["retrieval"]["candidates"]
    assert [c["chunk_id"] for c in whole] == ["minutes_2", "minutes_0", "minutes_1"]


def test_another_tenant_gets_nothing_of_it(one: Agent, tmp_path: Path) -> None:
    one.ingest(tmp_path / "minutes.txt", tenant_id="U1", kind="minutes")
    (tmp_path / "note.txt").write_text("The zeppelin hangar is painted green.")
    one.ingest(tmp_path / "note.txt", tenant_id="U2")
    reply = one.ask(QUESTION, tenant_id="U2")
    assert [(c["doc_id"], c.get("why")) for c in reply["retrieval"]["candidates"]] == [("note", None)]


def test_a_kind_that_nobody_registered_is_said_so(one: Agent, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no kind of document 'letters'"):
        one.ingest(tmp_path / "minutes.txt", tenant_id="U1", kind="letters")
