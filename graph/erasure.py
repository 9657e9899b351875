"""Erasure: everything that is kept of a thread, a user, a tenant, or of what is older than a day, with a receipt.

The journal comes last and holds the receipt. An erasure that was cut short has left its runs there, so asking again
finishes it.
"""

import json
import re
import shutil
import sys
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from graph.audit.journal import is_run
from graph.audit.mistakes import Mistakes
from graph.context import key_of
from graph.deps import Deps
from graph.knowledge.ingest import mirror

_FOLDER = re.compile(r"\d{8}_\d{6}_.+_[A-Z_]+(?:-\d+)?")  # what graph/audit/artifacts.py names a run's folder


@dataclass(frozen=True)
class Scope:
    """What to erase of a tenant: one thread (of one user, or of whoever has one of that name), one user's, or all.

    `before` (UTC, ISO 8601) narrows it to older runs; then documents stay, and so do threads used since.
    """

    tenant_id: str
    user_id: str | None = None
    thread_id: str | None = None
    before: str | None = None

    @property
    def everything(self) -> bool:
        return self.user_id is None and self.thread_id is None and self.before is None

    def holds(self, run: dict[str, Any]) -> bool:
        return (
            run["tenant_id"] == self.tenant_id
            and self.user_id in (None, run.get("user_id"))
            and self.thread_id in (None, run.get("thread_id"))
            and (self.before is None or run["timestamp"] < self.before)
        )


def erase(scope: Scope, deps: Deps, saver: Any) -> dict[str, Any]:
    """Erase and return the receipt: what kind of thing, how many, when. Raises Unavailable when the disk fails."""
    ids: list[str] = []
    folders: list[Path] = []
    threads: set[tuple[str, str]] = set()
    used_since: set[tuple[Any, Any]] = set()  # a thread in use since `before` keeps its memory
    cut_off: set[str] = set()  # runs whose sentences left before they were killed: they have no line of their own
    for run in deps.journal.entries("tenant_id", scope.tenant_id):
        if not is_run(run):
            if run["kind"] == "sentence" and scope.holds(run):
                cut_off.add(run["run_id"])
        elif scope.holds(run) and "salt" in run:
            ids.append(run["run_id"])
            folders += [Path(run["artifacts"])] if run["artifacts"] else []
            threads.add((run["user_id"], run["thread_id"]))
        elif run["tenant_id"] == scope.tenant_id and scope.before is not None and run["timestamp"] >= scope.before:
            used_since.add((run.get("user_id"), run.get("thread_id")))
    checkpoints = _threads(scope, threads - used_since, saver)
    receipt = {
        "receipt_id": uuid.uuid4().hex,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "tenant_id": scope.tenant_id,
        "scope": "all" if scope.everything else "thread" if scope.thread_id else "user" if scope.user_id else "older",
        "runs": len(ids),
        "threads": checkpoints,
        "turns": _turns(scope, ids, deps),
        "artifacts": sum(map(_folder, folders)),
        "false_positives": Mistakes(deps.journal).forget(ids),
        "uploads": _uploads(scope, deps.settings.home) if scope.thread_id is None and scope.before is None else 0,
        "documents": _documents(scope.tenant_id, deps) if scope.everything else 0,
    }
    _forget_in_memory()
    deps.journal.erase({*ids, *cut_off}, receipt)
    return receipt


def _threads(scope: Scope, threads: set[tuple[str, str]], saver: Any) -> int:
    """Delete the checkpoints of the threads, and the bytes they leave in the file."""
    with saver.lock:
        for user, thread in threads:
            for table in ("checkpoints", "writes"):
                saver.conn.execute(f"DELETE FROM {table} WHERE thread_id = ?", (key_of(scope.tenant_id, user, thread),))
        saver.conn.commit()
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return len(threads)


def _turns(scope: Scope, ids: list[str], deps: Deps) -> int:
    kept = deps.conversations
    gone = 0
    for at in range(0, len(ids), 500):  # SQLite bounds the parameters of a statement
        gone += kept.forget(scope.tenant_id, run_ids=ids[at : at + 500])
    if scope.before is None and (scope.thread_id is None or scope.user_id is not None):
        gone += kept.forget(scope.tenant_id, user=scope.user_id, thread=scope.thread_id)
    return gone


def _folder(path: Path) -> int:
    """Remove an artefact folder. Only what looks like one: the journal names it, but the disk may have changed."""
    if not (_FOLDER.fullmatch(path.name) and (path / "triage.json").is_file()):
        return 0
    shutil.rmtree(path, ignore_errors=True)
    return int(not path.exists())


def _documents(tenant: str, deps: Deps) -> int:
    """Remove the tenant's space, and build Chroma's files anew without it: a delete leaves bytes in them."""
    space = deps.index.space(tenant)
    count = space.count()[0] if space else 0
    deps.index.drop(tenant)
    for owner in deps.index.tenants():
        mirror(deps.index, owner)
    return count


def _uploads(scope: Scope, home: Path) -> int:
    """Remove the folders of uploads (graph/service/http/jobs.py) of the tenant, or of one user of it."""
    gone = 0
    for job in (home / "uploads").glob("*/job.json"):
        try:
            known = json.loads(job.read_bytes())
            theirs = known["tenant_id"] == scope.tenant_id and scope.user_id in (None, known["user_id"])
        except (OSError, ValueError, KeyError):
            continue  # a folder that is being written or was never accepted: the service sweeps it
        if theirs:
            shutil.rmtree(job.parent, ignore_errors=True)
            gone += 1
    return gone


def _forget_in_memory() -> None:
    """Empty every cache of ours: one may hold a sentence, a number or a vector of what was erased."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("graph", "nodes"):
            for value in vars(module).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
                elif isinstance(value, WeakKeyDictionary):  # what was worked out for an index
                    value.clear()
