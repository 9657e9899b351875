"""What breaks under a running Cordon: kill -9, a disk full or read-only, two at once, a long run."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evals.security import Row
from evals.serving import QUESTIONS, small_home
from graph.audit.chain import is_run
from graph.stores.embedded.journal import FileJournal

TURNS, KILLS, QUESTIONS_ASKED = 200, 8, int(os.environ.get("QUESTIONS", "300"))
ROOT = Path(__file__).parents[3]
_ASKING = """
import sys
from graph.agent import Agent
with Agent() as agent:
    while True:
        print(agent.ask(sys.argv[1], tenant_id="U1", thread_id="t", memory="buffer").run_id, flush=True)
"""


def measure() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        home = small_home(Path(folder))
        yield _killed(home)
        yield _at_once(home)
        yield from _grows(home)
    yield from _disks()


def _environment(home: Path, **settings: Any) -> dict[str, str]:
    ours = {"home": home, "out": home.parent / "out", "lock_wait_s": 60, **settings}
    return os.environ | {"PYTHONPATH": str(ROOT)} | {f"CORDON_{k.upper()}": str(v) for k, v in ours.items()}


def _killed(home: Path) -> Row:
    dice, told, wrong = random.Random(1), list[str](), list[str]()
    for kill in range(KILLS):
        command = [sys.executable, "-c", _ASKING, QUESTIONS["U1"]]
        child = subprocess.Popen(command, env=_environment(home), stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        for _ in range(TURNS // KILLS):
            told.append(child.stdout.readline().strip())
        time.sleep(dice.uniform(0, 0.1))
        child.send_signal(signal.SIGKILL)
        told += child.communicate()[0].split()
        wrong += [f"kill {kill}: {what}" for what in _unsound(home, told)]
    measured = f"{len(told)} turns told, {len(wrong)} faults {'; '.join(wrong)[:200]}"
    return Row(f"kill -9 at {KILLS} moments of {TURNS} turns", measured, "each on record, nothing half", not wrong)


def _unsound(home: Path, told: list[str]) -> Iterator[str]:
    journal = FileJournal(home / "audit" / "journal.jsonl")
    if broken := journal.prove().broken:
        yield f"journal line {broken.line}: {broken.why}"
    runs = {run["run_id"]: run for run in filter(is_run, journal.entries())}
    if lost := set(told) - runs.keys():
        yield f"{len(lost)} answers without their record"
    kept = [run for run in runs.values() if "artifacts" in run]  # an erasure took the others
    if torn := [run for run in kept if not Path(run["artifacts"], "answer.json").exists()]:
        yield f"{len(torn)} records name artefacts that are not there"
    for path in [home / "checkpoints.db", *home.glob("conversations/*.db"), *home.glob("index/spaces/*.db")]:
        db = sqlite3.connect(path)
        if db.execute("PRAGMA integrity_check").fetchone() != ("ok",):
            yield f"{path.name} is torn"
        db.close()


def _cordon(home: Path, *arguments: str, **settings: Any) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "graph.service.cli", *arguments]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=_environment(home, **settings), **pipes)


def _at_once(home: Path) -> Row:
    both = [_cordon(home, *_DEEDS["ask"]), _cordon(home, *_DEEDS["ask"])]
    decisions = [json.loads(one.communicate()[0])["decision"] for one in both]
    held = decisions == ["answer"] * 2 and not list(_unsound(home, []))
    return Row("two processes ask at once", " and ".join(decisions), "one waits for the other", held)


_GROWS = """
import json, resource, sys
from pathlib import Path
from graph.agent import Agent
def held():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return len(list(Path("/proc/self/fd").iterdir())), pages * resource.getpagesize() / 2**20
with Agent() as agent:
    for n in range(int(sys.argv[1])):
        agent.ask(f"{sys.argv[2]} ({n})", tenant_id="U1", thread_id=f"t{n % 20}", memory="buffer")
        if n == int(sys.argv[1]) // 3:
            first = held()
    print(json.dumps([first, held()]))
"""


def _grows(home: Path) -> Iterator[Row]:
    command = [sys.executable, "-c", _GROWS, str(QUESTIONS_ASKED), QUESTIONS["U1"]]
    done = subprocess.run(command, env=_environment(home, artifacts=0), capture_output=True, text=True, check=True)
    (files, memory), (more_files, more_memory) = json.loads(done.stdout)
    tried = f"{QUESTIONS_ASKED} questions, from the {QUESTIONS_ASKED // 3}th to the last"
    yield Row(tried, f"{files} handles, then {more_files}", "no more", more_files <= files)
    grown = more_memory - memory
    yield Row("the same", f"{memory:.0f} MB, then {more_memory:.0f} MB", "less than 30 MB more", grown < 30)


@contextmanager
def _mounted(size_kb: int) -> Iterator[Path | None]:
    """A small disk of our own; None where none may be made."""
    with tempfile.TemporaryDirectory() as folder:
        options = ["mount", "-t", "tmpfs", "-o", f"size={size_kb}k", "tmpfs", folder]
        if subprocess.run(options, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "-l", folder], check=False)


# What is done on a disk with too little room: the command's name, its arguments, and what may be said by the way.
_DEEDS = {
    "ask": ["ask", QUESTIONS["U1"], "--tenant", "U1", "--memory", "buffer", "--json"],
    "ingest": ["ingest", str(ROOT / "corpus" / "public"), "--tenant", "U2"],
    "forget": ["forget", "--tenant", "U1", "--thread", "default"],
}
_ROOM = (0, 4, 12, 28, 60, 124, 252, 2_000)  # KB: from none at all to enough for a turn, page by page where it is tight


def _disks() -> Iterator[Row]:
    with _mounted(200_000) as disk:
        if disk is None:
            yield Row("a full and a read-only disk", "not tried: no disk can be mounted here", "root", True)
            return
        home = small_home(disk)
        for deed, arguments in _DEEDS.items():
            used_kb = (os.statvfs(disk).f_blocks - os.statvfs(disk).f_bfree) * os.statvfs(disk).f_frsize // 1024
            wrong, ended = list[str](), dict[str, int]()
            for room in _ROOM:
                subprocess.run(["mount", "-o", f"remount,size={used_kb + room}k", str(disk)], check=True)
                wrong += _told_or_done(home, ended, arguments)
            subprocess.run(["mount", "-o", "remount,size=200000k", str(disk)], check=True)
            wrong += [*_unsound(home, [])]
            measured = ", ".join(f"{n} {how}" for how, n in ended.items()) + "; ".join(["", *wrong])[:300]
            yield Row(f"{deed} with {len(_ROOM)} amounts of room left", measured, "done, or one sentence", not wrong)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for deed, arguments in _DEEDS.items():
            ended.clear()
            wrong = _told_or_done(home, ended, arguments)
            held = not wrong and "done" not in ended
            yield Row(f"{deed} in a read-only home", "; ".join([*ended, *wrong])[:300], "one sentence", held)


def _told_or_done(home: Path, ended: dict[str, int], arguments: list[str]) -> list[str]:
    """What was neither done and on record nor one sentence of what to do."""
    child = _cordon(home, *arguments)
    said, why = child.communicate()
    if child.returncode == 0:
        ended["done"] = ended.get("done", 0) + 1
        recorded = {run["run_id"] for run in filter(is_run, FileJournal(home / "audit" / "journal.jsonl").entries())}
        return (
            ["an answer without its record"]
            if "--json" in arguments and json.loads(said)["run_id"] not in recorded
            else []
        )
    ended["told"] = ended.get("told", 0) + 1
    clear = child.returncode in (1, 4) and why.count("\n") == 1 and "unexpected" not in why + said
    return [] if clear else [f"exit {child.returncode}: {why.strip()[-200:]!r} {said[-200:]!r}"]
