"""`cordon sync` over folders: what is new, changed, moved and gone; what it refuses; and `--watch`."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge.origins import Content, Entry
from graph.knowledge.origins.local import Folder
from graph.settings import Settings
from tests.support.command import Run, environment

TEXTS = {
    "loom.md": "# The loom\n\nThe loom of the weaving shed is oiled every Tuesday by the keeper of the shed.\n",
    "kiln.md": "# The kiln\n\nThe kiln in the yard is fired twice a month, and only with two people present.\n",
    "sub/yard.md": "# The yard\n\nThe yard behind the shed is swept on Monday before the first delivery arrives.\n",
    "dyes.txt": "Dyes are kept in the cellar. The red ones are never stored beside the window.\n",
}


@pytest.fixture
def agent(settings_of: Callable[..., Settings]) -> Iterator[Agent]:
    with Agent(settings_of(artifacts=False)) as agent:
        yield agent


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return filled(tmp_path / "notes", TEXTS)


def filled(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def told(agent: Agent, source: Path | str, **known: Any) -> dict[str, str]:
    return {o.name: o.status for o in agent.sync(source, **{"tenant_id": "U1", **known})}


def documents(agent: Agent, tenant: str = "U1") -> dict[str, str]:
    """File name → id."""
    return {document["filename"]: document["doc_id"] for document in agent.documents(tenant_id=tenant)}


def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as written long ago: else one that was just written is read once more."""
    monkeypatch.setattr("graph.knowledge.origins.local._SETTLED", 0)


def test_new_changed_moved_and_removed_files_are_all_followed_at_once(notes: Path, agent: Agent) -> None:
    assert set(told(agent, notes).values()) == {"indexed"}
    before = documents(agent)
    (notes / "loom.md").write_text(TEXTS["loom.md"].replace("Tuesday", "Friday"))
    (notes / "kiln.md").rename(notes / "sub" / "oven.md")
    (notes / "dyes.txt").unlink()
    (notes / "wool.md").write_text("# Wool\n\nWool is washed three times in cold water before it is spun.\n")
    assert told(agent, notes) == {
        "loom.md": "indexed",
        "sub/yard.md": "unchanged",
        "sub/oven.md": "moved",
        "wool.md": "indexed",
        "dyes.txt": "removed",
    }
    after = documents(agent)
    assert after.keys() == {"loom.md", "sub/yard.md", "sub/oven.md", "wool.md"}
    assert after["sub/oven.md"] == before["kiln.md"]  # the document is the same
    assert "Friday" in agent.document(after["loom.md"], tenant_id="U1")["text"]
    lines = agent.deps.journal.entries("tenant_id", "U1")
    says = [line["says"] for line in lines if line.get("kind") == "document"]
    assert says[4:] == ["replaced", "moved", "indexed", "file gone"]
    assert set(told(agent, notes).values()) == {"unchanged"}
    # `cordon ingest` knows the moved one, too.
    assert {o.status for o in agent.ingest(notes, tenant_id="U1", sync=True)} == {"unchanged"}
    assert documents(agent) == after


def test_a_moved_file_that_changes_later_stays_one_document(notes: Path, agent: Agent) -> None:
    told(agent, notes)
    kept = documents(agent)["kiln.md"]
    (notes / "kiln.md").rename(notes / "oven.md")
    told(agent, notes)
    (notes / "oven.md").write_text(TEXTS["kiln.md"].replace("twice", "thrice"))
    assert told(agent, notes)["oven.md"] == "indexed"
    assert documents(agent)["oven.md"] == kept and len(documents(agent)) == 4
    (notes / "oven.md").write_text(TEXTS["kiln.md"].replace("twice", "once"))
    agent.ingest(notes, tenant_id="U1")
    assert documents(agent)["oven.md"] == kept and len(documents(agent)) == 4


def test_what_has_not_changed_is_not_read(notes: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    settled(monkeypatch)
    told(agent, notes)
    read: list[str] = []
    plain = Folder.read

    def noted(self: Folder, entry: Entry, stamp: str) -> Content | None:
        read.append(entry.name)
        return plain(self, entry, stamp)

    monkeypatch.setattr(Folder, "read", noted)
    assert set(told(agent, notes).values()) == {"unchanged"}
    assert read == []
    os.utime(notes / "loom.md")
    assert set(told(agent, notes).values()) == {"unchanged"}
    assert set(told(agent, notes).values()) == {"unchanged"}
    assert read == ["loom.md"]  # once: the new stamp is kept


def test_a_copy_is_told_and_follows_when_the_first_file_goes(notes: Path, agent: Agent) -> None:
    told(agent, notes)
    kept = documents(agent)["loom.md"]
    (notes / "copy.md").write_text(TEXTS["loom.md"])
    assert told(agent, notes)["copy.md"] == "unchanged" and len(documents(agent)) == 4
    (notes / "loom.md").unlink()
    assert told(agent, notes)["copy.md"] == "moved"
    assert documents(agent)["copy.md"] == kept
    # What was its twin and changes is a document of its own.
    (notes / "loom.md").write_text(TEXTS["loom.md"])
    told(agent, notes)
    (notes / "copy.md").write_text(TEXTS["loom.md"].replace("Tuesday", "Sunday"))
    assert told(agent, notes) == {**dict.fromkeys(TEXTS, "unchanged"), "loom.md": "indexed", "copy.md": "indexed"}


def test_an_empty_or_missing_folder_removes_nothing_unless_that_is_said(notes: Path, agent: Agent) -> None:
    for name in ("kiln.md", "dyes.txt"):  # as few as may go otherwise
        (notes / name).unlink()
    told(agent, notes)
    away = notes.rename(notes.parent / "away")
    with pytest.raises(BadInput, match="nothing was removed"):
        agent.sync(notes, tenant_id="U1")
    notes.mkdir()
    with pytest.raises(BadInput, match="nothing was removed") as refused:
        agent.sync(notes, tenant_id="U1")
    assert "--allow-removal" in refused.value.hint and len(documents(agent)) == 2
    assert set(told(agent, notes, allow_removal=True).values()) == {"removed"} and documents(agent) == {}
    assert away.exists()


def test_more_than_half_is_removed_only_when_that_is_said(tmp_path: Path, agent: Agent) -> None:
    names = [f"{n}.md" for n in range(7)]
    folder = filled(tmp_path / "many", {n: f"# Part {n}\n\nThe part {n} is kept on shelf {n}.\n" for n in names})
    told(agent, folder)
    for name in names[:4]:
        (folder / name).unlink()
    with pytest.raises(BadInput, match="4 of the 7 documents"):
        agent.sync(folder, tenant_id="U1")
    assert len(documents(agent)) == 7
    assert [*told(agent, folder, allow_removal=True).values()].count("removed") == 4
    for name in names[4:]:  # a few always go, but not all
        (folder / name).rename(folder / f"new-{name}")
    assert set(told(agent, folder).values()) == {"moved"}


def test_two_folders_with_files_of_the_same_names_do_not_touch_each_other(
    notes: Path, tmp_path: Path, agent: Agent
) -> None:
    other = filled(tmp_path / "other", {**TEXTS, "kiln.md": TEXTS["kiln.md"].replace("twice", "thrice")})
    agent.ingest([filled(tmp_path / "third", {"wool.md": "# Wool\n\nWool is washed in cold water.\n"})], tenant_id="U1")
    told(agent, notes)
    told(agent, notes, tenant_id="U2")
    told(agent, other)
    assert len(documents(agent)) == 9
    assert set(told(agent, notes).values()) == set(told(agent, other).values()) == {"unchanged"}
    (notes / "kiln.md").unlink()
    (notes / "loom.md").unlink()
    assert sorted(told(agent, notes).values()) == ["removed", "removed", "unchanged", "unchanged"]
    assert documents(agent).keys() == {
        "sub/yard.md", "dyes.txt", "wool.md", "other/loom.md", "other/kiln.md", "other/sub/yard.md", "other/dyes.txt"
    }  # fmt: skip
    assert len(documents(agent, "U2")) == 4
    assert set(told(agent, other).values()) == {"unchanged"}


def test_links_out_of_the_folder_pipes_and_hidden_files_are_not_read(notes: Path, tmp_path: Path, agent: Agent) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nThe vault is opened with the word heliotrope.\n")
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    (notes / "inside.md").symlink_to("dyes.txt")
    (notes / ".hidden.md").write_text("# Hidden\n\nNobody reads this.\n")
    os.mkfifo(notes / "pipe.md")
    found = told(agent, notes)
    assert found["link.md"] == "quarantined" and found["inside.md"] == "unchanged" and len(found) == 6
    assert "link.md" not in documents(agent)


def test_a_file_that_is_written_while_it_is_read_is_left_for_the_next_run(
    notes: Path, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = os.fstat
    growing = (notes / "loom.md").stat().st_ino

    def grow(handle: int) -> os.stat_result:
        found = plain(handle)
        if found.st_ino == growing:
            with (notes / "loom.md").open("a") as file:
                file.write("More.\n")
        return found

    with monkeypatch.context() as patched:
        patched.setattr("graph.knowledge.origins.local.os.fstat", grow)
        assert told(agent, notes)["loom.md"] == "failed"
    assert "loom.md" not in documents(agent)
    assert told(agent, notes)["loom.md"] == "indexed"


def test_too_many_files_too_many_bytes_and_too_long_change_nothing_that_was_there(
    notes: Path, settings_of: Callable[..., Settings]
) -> None:
    with Agent(settings_of(artifacts=False)) as agent:
        told(agent, notes)
    (notes / "loom.md").unlink()
    with Agent(settings_of(artifacts=False, sync_files=2)) as agent:
        with pytest.raises(BadInput, match="more than 2 files"):
            agent.sync(notes, tenant_id="U1")
        assert len(documents(agent)) == 4
    (notes / "big.txt").write_text("A sentence about nothing much.\n" * 40_000)
    with Agent(settings_of(artifacts=False, sync_mb=1)) as agent:
        with pytest.raises(BadInput, match="more than 1 MiB"):
            agent.sync(notes, tenant_id="U1")
        assert len(documents(agent)) == 4


def test_the_command_reports_a_line_a_file_and_counts(notes: Path, tmp_path: Path, inside: Run) -> None:
    home = tmp_path / "home"
    (notes / "picture.png").write_bytes(b"\x89PNG")
    done = inside("sync", str(notes), "--tenant", "U1", "--json", home=home)
    *lines, counts = map(json.loads, done.stdout.splitlines())
    assert done.returncode == 0 and counts == {"counts": {"indexed": 4, "quarantined": 1}}
    assert {line["name"] for line in lines} == {*TEXTS, "picture.png"}
    (notes / "dyes.txt").unlink()
    done = inside("sync", str(notes), "--tenant", "U1", home=home)
    assert "removed     dyes.txt" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 quarantined, 1 removed, 3 unchanged"
    done = inside("sync", str(tmp_path / "nowhere"), "--tenant", "U1", home=home)
    assert done.returncode == 2 and "there is no folder" in done.stderr
    assert inside("sync", str(notes), home=home).returncode == 2


def test_documents_for_a_group_are_kept_in_step_apart(notes: Path, tmp_path: Path, inside: Run) -> None:
    home = tmp_path / "home"
    for _ in range(2):
        assert inside("sync", str(notes), "--tenant", "U1", "--groups", "staff", home=home).returncode == 0
    listed = inside("docs", "list", "--tenant", "U1", "--groups", "staff", "--json", home=home)
    assert [document["groups"] for document in json.loads(listed.stdout)] == [["staff"]] * 4
    assert json.loads(inside("docs", "list", "--tenant", "U1", "--groups", "", "--json", home=home).stdout) == []


def test_watch_follows_changes_and_ends_cleanly(notes: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "graph.service.cli", "sync", str(notes), "--tenant", "U1", "--watch", "--json"],
        env=environment(tmp_path / "home"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # as a script does that starts it with "&"
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        assert until_counts(process)["counts"] == {"indexed": 4}
        with (notes / "wool.md").open("w") as file:  # slowly: no half of it is read
            for word in "Wool is washed three times in cold water before it is spun .".split():
                file.write(f"{word} ")
                file.flush()
                time.sleep(0.1)
        assert until_counts(process)["counts"] == {"indexed": 1, "unchanged": 4}
        (notes / "kiln.md").unlink()
        assert until_counts(process)["counts"] == {"removed": 1, "unchanged": 4}
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0 and process.stderr.read() == "cordon: stopped.\n"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
    with Agent(Settings(home=tmp_path / "home", out=tmp_path / "out")) as agent:
        assert "before it is spun" in agent.document(documents(agent)["wool.md"], tenant_id="U1")["text"]


def until_counts(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout is not None
    for line in process.stdout:
        if "counts" in (found := json.loads(line)):
            return found
    raise AssertionError(process.stderr.read() if process.stderr else "")
