"""Which files a directory stands for; and a file that is left half way."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge import ingest
from graph.knowledge.ingest import files
from graph.settings import Settings


def test_a_link_that_leads_out_of_the_directory_is_left_out_and_said_so(
    tmp_path: Path, settings_of: Callable[..., Settings]
) -> None:
    outside, named = tmp_path / "outside", tmp_path / "named"
    for folder in (outside / "below", named / "own"):
        folder.mkdir(parents=True)
    (outside / "secret.md").write_text("The merlin safe opens with a key.\n")
    (outside / "below" / "deep.md").write_text("The merlin cellar is below.\n")
    (named / "own" / "notes.md").write_text("The plover scale stands in room 7.\n")
    (named / "out.md").symlink_to(outside / "secret.md")
    (named / "around.md").symlink_to(Path("own/../../outside/secret.md"))
    (named / "twice.md").symlink_to(named / "out.md")
    (named / "folder").symlink_to(outside)
    (named / "alias.md").symlink_to(Path("own/notes.md"))
    (named / "dangling.md").symlink_to(tmp_path / "none")
    with Agent(settings_of(artifacts=False)) as agent:
        found = {o.name: o for o in agent.ingest([named], tenant_id="U1")}
        shown = str([agent.document(d["doc_id"], tenant_id="U1") for d in agent.documents(tenant_id="U1")])
    assert {name: o.status for name, o in found.items()} == {
        "alias.md": "indexed",
        "around.md": "quarantined",
        "out.md": "quarantined",
        "own/notes.md": "unchanged",
        "twice.md": "quarantined",
    }
    assert found["out.md"].reason == "outside: it is a link that leads out of the directory."
    assert "plover" in shown and "merlin" not in shown


def test_a_link_that_is_named_itself_is_meant(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file.md").write_text("x")
    (tmp_path / "file.md").symlink_to(tmp_path / "a" / "file.md")
    (tmp_path / "folder").symlink_to(tmp_path / "a")
    named = [tmp_path / "file.md", tmp_path / "folder"]
    assert [(source.name, source.within) for source in files(named, "U1")] == [
        ("file.md", None),
        ("file.md", tmp_path / "folder"),
    ]


def test_a_file_left_half_way_leaves_nothing_and_what_it_repeats_is_embedded_once(
    tmp_path: Path, settings_of: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.md"
    parts = (f"# Part {n % 70}\n\n" + f"The merlin valve {n % 70} is shut. " * 12 for n in range(210))
    path.write_text("\n\n".join(parts))
    sources = list(files([path], "U1"))
    with Agent(settings_of(artifacts=False, chunk_tokens=100, chunk_overlap=0)) as agent:
        embed = agent.deps.embedder.embed
        seen: list[str] = []

        def counted(texts: Sequence[str]) -> np.ndarray:
            seen.extend(texts)
            if len(seen) > 64:
                raise InterruptedError
            return embed(texts)

        monkeypatch.setattr(agent.deps.embedder, "embed", counted)
        with pytest.raises(InterruptedError):
            agent.ingest_sources(sources)
        assert agent.documents(tenant_id="U1") == []
        monkeypatch.undo()
        (found,) = agent.ingest_sources(sources)
        (again,) = agent.ingest_sources(sources)
    assert (found.status, again.status) == ("indexed", "unchanged") and found.chunks > 2 * len(set(seen)) > 128


def test_each_file_has_its_outcome_whatever_the_others_are(
    tmp_path: Path, settings_of: Callable[..., Settings]
) -> None:
    good, odd = tmp_path / "good.md", Path(os.fsdecode(bytes(tmp_path) + b"/od\xffd.md"))
    for file in (good, odd):
        file.write_text(f"The plover scale of {file.stem!r} stands in room 7.\n")
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "big.md").write_text("word " * 300_000)
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    named = ["x" * 5_000 + ".md", "nul\0.md", "gone.md", "loop.md", "pipe.md", "big.md", good.name]
    with Agent(settings_of(artifacts=False, max_file_mb=1)) as agent:
        paths: list[str | Path] = [
            *(f"{tmp_path}/{name}" for name in named),
            "/dev/zero",
            odd,
            "HTTP://127.0.0.1:9/page",
        ]
        found = agent.ingest(paths, tenant_id="U1")
        statuses = [(o.status, o.reason.split(":")[0]) for o in found]
        listed = [d["filename"] for d in agent.documents(tenant_id="U1")]
    assert statuses == [
        ("failed", f"cannot read {'x' * 5_000 + '.md'!r}"),
        ("failed", r"cannot read 'nul\x00.md'"),
        ("failed", "cannot read 'gone.md'"),
        ("failed", "cannot read 'loop.md'"),
        ("failed", "cannot read 'pipe.md'"),
        ("quarantined", "oversize"),
        ("indexed", ""),
        ("failed", "cannot read 'zero'"),
        ("indexed", ""),
        ("failed", "url_forbidden"),
    ]
    assert listed == ["good.md", "od\\udcffd.md"]


def test_an_empty_path_is_not_the_working_directory(settings_of: Callable[..., Settings]) -> None:
    with Agent(settings_of(artifacts=False)) as agent, pytest.raises(BadInput, match="a path is empty"):
        agent.ingest(["", "x.md"], tenant_id="U1")


def test_what_an_older_cordon_read_is_read_again(
    tmp_path: Path, settings_of: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.md"
    path.write_text("The plover scale stands in room 7.\n")
    with Agent(settings_of(artifacts=False)) as agent:
        monkeypatch.setattr(ingest, "READING", ingest.READING - 1)
        agent.ingest([path], tenant_id="U1")
        assert [o.status for o in agent.ingest([path], tenant_id="U1")] == ["unchanged"]
        monkeypatch.undo()
        (again,) = agent.ingest([path], tenant_id="U1")
        assert (again.status, again.replaced) == ("indexed", True)
        assert [o.status for o in agent.ingest([path], tenant_id="U1")] == ["unchanged"]
        assert "reading" not in agent.documents(tenant_id="U1")[0]
