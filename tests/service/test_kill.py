"""`cordon ask` killed at any moment leaves nothing half done: the journal proves, the databases hold, the next question works."""

import fcntl
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graph.stores.embedded.journal import FileJournal
from tests.support.command import cordon, environment

KILLS = int(os.environ.get("TEST_KILLS", "8"))
QUESTION = "How many people are in PunjabThal after the removals?"


def sound(home: Path, out: Path) -> list[str]:
    """What is broken in a home, [] when nothing is."""
    found = []
    journal = FileJournal(home / "audit" / "journal.jsonl")
    proof = journal.prove()
    found += [] if proof.holds else [f"journal: {proof.says}"]
    for path in [home / "checkpoints.db", *sorted((home / "index" / "spaces").glob("*.db"))]:
        if path.exists():
            with sqlite3.connect(path) as db:
                (said,) = db.execute("PRAGMA integrity_check").fetchone()
            db.close()
            found += [f"{path.name}: {said}"] if said != "ok" else []
    for folder in out.iterdir() if out.exists() else []:
        if not folder.name.startswith(".") and not (folder / "answer.json").exists():
            found.append(f"half an artefact: {folder.name}")
    for entry in journal.entries():
        if entry["artifacts"] and not Path(entry["artifacts"], "answer.json").exists():
            found.append(f"run {entry['run_id'][:8]} names an artefact that is not there")
    return found


def _start(home: Path, out: Path, question: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "graph.service.cli", "ask", question, "--tenant", "U1", "--memory", "buffer", "--json"],
        env=environment(home, out=out, artifacts=1),
        cwd=home.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.slow
def test_killed_at_any_moment(home: Path, tmp_path: Path) -> None:
    out, dice = tmp_path / "out", random.Random(20_240_607)
    begun = time.monotonic()
    child = _start(home, out, QUESTION)
    assert json.loads(child.communicate(timeout=120)[0])["decision"] == "answer"
    whole = time.monotonic() - begun
    kept = 1
    for n in range(KILLS):
        child = _start(home, out, f"{QUESTION} Number {n}?")
        # Most of a run is Python starting; what writes comes at its end.
        time.sleep(dice.uniform(0.1 if n % 4 == 0 else 0.6, 1.05) * whole)
        child.send_signal(signal.SIGKILL)
        printed = child.communicate(timeout=60)[0]
        assert sound(home, out) == [], f"kill {n}"
        entries = list(FileJournal(home / "audit" / "journal.jsonl").entries())
        assert kept <= len(entries) <= kept + 1
        kept = len(entries)
        if printed.strip().endswith(b"}"):
            assert json.loads(printed)["run_id"] == entries[-1]["run_id"], "an answer left without its record"
    done = cordon("ask", QUESTION, "--tenant", "U1", "--memory", "buffer", "--json", home=home, out=out, artifacts=1)
    assert json.loads(done.stdout)["decision"] == "answer", done.stderr
    assert sound(home, out) == []
    assert [p.name for p in out.iterdir() if p.name.startswith(".writing-")] == [], (
        "leftovers of killed runs stay for ever"
    )


def test_the_check_fails_on_a_torn_database_and_a_changed_record(home: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cordon("ask", QUESTION, "--tenant", "U1", "--json", home=home, out=out, artifacts=1).returncode == 0
    assert sound(home, out) == []
    (folder,) = out.iterdir()
    (folder / "answer.json").unlink()
    journal = home / "audit" / "journal.jsonl"
    journal.write_bytes(journal.read_bytes().replace(b'"U1"', b'"U2"', 1))
    assert len(sound(home, out)) == 3


def test_a_folder_that_another_run_is_writing_stays(home: Path, tmp_path: Path) -> None:
    """Only what nobody holds is swept away: whoever writes there holds it, and the kernel lets go for a killed one."""
    out = tmp_path / "out"
    for name in ("held", "left"):
        (out / f".writing-{name}").mkdir(parents=True)
        (out / f".writing-{name}" / "x.json").write_text("{}")
    held = os.open(out / ".writing-held", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    cordon("ask", QUESTION, "--tenant", "U1", "--json", home=home, out=out, artifacts=1)
    os.close(held)
    assert [p.name for p in out.iterdir() if p.name.startswith(".writing-")] == [".writing-held"]


@pytest.fixture(autouse=True)
def _tidy(tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "out", ignore_errors=True)
