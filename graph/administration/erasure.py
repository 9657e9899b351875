"""Erasure: everything that is kept of a thread, a user, a tenant, or of what is older than a day, with a receipt.

PLACES names everything that is kept. The journal comes last: once nothing is found elsewhere, it gets the receipt. An
erasure that was cut short left its runs in the journal, so asking again finishes it.
"""

import re
import shutil
import sys
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from weakref import WeakKeyDictionary

from graph import remains, waiting
from graph.audit import artifacts, withheld
from graph.audit.chain import is_run
from graph.audit.record import PersonKind
from graph.context import key_of, space_key
from graph.deps import Deps
from graph.errors import Unavailable
from graph.stores.keys import KeyStore
from graph.stores.sessions import SessionStore
from graph.stores.uploads import Uploads
from graph.timestamps import timestamp
from graph.tracing import jsonl

_FOLDER = re.compile(r"\d{8}_\d{6}_.+_[A-Z_]+(?:-\d+)?")  # what graph/audit/artifacts.py names a run's folder, or named


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
        """All of the tenant, its documents too."""
        return self.user_id is None and self.thread_id is None and self.before is None

    @property
    def whole_user(self) -> bool:
        """Whether what belongs to people and to no run goes, too: a tenant's, or one user's."""
        return self.thread_id is None and self.before is None

    def holds(self, run: dict[str, Any]) -> bool:
        """Whether a run goes, by its line in the journal."""
        return (
            run["tenant_id"] == self.tenant_id
            and self.user_id in (None, run.get("user_id"))
            and self.thread_id in (None, run.get("thread_id"))
            and (self.before is None or run["timestamp"] < self.before)
        )


@dataclass(frozen=True)
class _Erasure:
    scope: Scope
    deps: Deps
    runs: list[dict[str, Any]]
    waits: set[str]  # runs that wait or waited for a reviewer, or were appealed
    cut_off: set[str]  # runs whose sentences left before they were killed: they have no line of their own
    threads: set[tuple[str, str]]  # (user, thread) whose memory goes

    @property
    def ids(self) -> list[str]:
        return list(dict.fromkeys(run["run_id"] for run in self.runs))

    @property
    def home(self) -> Path:
        return self.deps.settings.home

    @property
    def keys(self) -> list[str]:
        """The names under which the threads, and the tenant if all of it goes, are stored."""
        tenant = self.scope.tenant_id
        threads = [key_of(tenant, user, thread) for user, thread in self.threads]
        threads += [waiting.thread_of(tenant, run) for run in self.waits]
        return threads + ([key_of(tenant), space_key(tenant)] if self.scope.everything else [])


def erase(scope: Scope, deps: Deps) -> dict[str, Any]:
    """Erase and return the receipt: how many from each place, how many files were looked through afterwards.

    Raises Unavailable when the disk fails, or when something is left.
    """
    try:
        return _erase(scope, deps)
    except OSError as error:
        why = f"the erasure could not be finished ({error})."
        raise Unavailable(why, hint="Make room or mend the permissions of CORDON_HOME, then ask again.") from error


def _erase(scope: Scope, deps: Deps) -> dict[str, Any]:
    runs: list[dict[str, Any]] = []
    cut_off: set[str] = set()
    decided: set[str] = set()
    reviewed: list[dict[str, Any]] = []
    used_since: set[tuple[Any, Any]] = set()  # a thread in use since `before` keeps its memory
    for entry in deps.journal.entries("tenant_id", scope.tenant_id):
        if not is_run(entry) and entry["kind"] != "outcome":
            if entry["kind"] in get_args(PersonKind):
                reviewed.append(entry)
            elif entry["kind"] == "sentence" and scope.holds(entry):
                cut_off.add(entry["run_id"])
            elif entry["kind"] in ("withheld", "document") and _decided(entry, scope):
                decided.add(entry["about"])
        elif scope.holds(entry) and "salt" in entry:
            runs.append(entry)
        elif entry["tenant_id"] == scope.tenant_id and scope.before is not None and entry["timestamp"] >= scope.before:
            used_since.add((entry.get("user_id"), entry.get("thread_id")))
    threads = {(run["user_id"], run["thread_id"]) for run in runs} - used_since
    gone = {run["run_id"] for run in runs}
    decided |= {line["about"] for line in reviewed if line["run"] in gone or scope.holds(line)}
    waits = {line["run"] for line in reviewed} & gone
    waits |= {run["run_id"] for run in runs if run.get("final_decision") == "pending_review"}
    work = _Erasure(scope, deps, runs, waits, cut_off, threads)
    receipt: dict[str, Any] = {
        "receipt_id": uuid.uuid4().hex,
        "timestamp": timestamp(),
        "tenant_id": scope.tenant_id,
        "scope": "all" if scope.everything else "thread" if scope.thread_id else "user" if scope.user_id else "older",
    }
    for place in PLACES:
        receipt[place.name] = place.erase(work)
    _forget_in_memory()
    gone |= {*decided, *work.keys}
    folders = {deps.settings.out} | {Path(run["artifacts"]).parent for run in runs if run["artifacts"]}
    if left := list(dict.fromkeys([*deps.stores.remains(gone), *map(str, remains.holding(gone, folders))])):
        raise Unavailable(
            f"{len(left)} files still hold what was to be erased, {left[0]} among them.",
            hint="Remove what is not Cordon's own, then ask again.",
        )
    receipt["left"] = 0
    deps.journal.erase({*work.ids, *cut_off, *decided}, receipt)
    return receipt


def _decided(entry: dict[str, Any], scope: Scope) -> bool:
    """Whether the line goes: a decision goes as a run does; a line about a document goes with its tenant, or with the
    user who uploaded it."""
    if entry["kind"] == "withheld":
        return scope.holds(entry)
    by_user = scope.user_id is not None and entry.get("uploader") == key_of(scope.tenant_id, scope.user_id)
    return entry["tenant_id"] == scope.tenant_id and (scope.everything or (scope.whole_user and by_user))


def _threads(work: _Erasure) -> int:
    tenant = work.scope.tenant_id
    work.deps.checkpoints.forget([key_of(tenant, user, thread) for user, thread in work.threads])
    return len(work.threads)


def _reviews(work: _Erasure) -> int:
    """What waits for a reviewer, and the outcome of what waited."""
    tenant = work.scope.tenant_id
    listed = {one["run_id"] for one in work.deps.waiting.all(tenant)} if work.scope.everything else set()
    runs = sorted(work.waits | listed)
    work.deps.waiting.drop(tenant, runs)
    work.deps.checkpoints.forget([waiting.thread_of(tenant, run) for run in runs])
    return len(runs)


def _turns(work: _Erasure) -> int:
    conversations, scope = work.deps.conversations, work.scope
    gone = conversations.forget(scope.tenant_id, run_ids=work.ids)
    if scope.before is None and (scope.thread_id is None or scope.user_id is not None):
        gone += conversations.forget(scope.tenant_id, user=scope.user_id, thread=scope.thread_id)
    return gone


def _artifacts(work: _Erasure) -> int:
    out = work.deps.settings.out
    artifacts.sweep(out)
    written = [Path(run["artifacts"]) for run in work.runs if run["artifacts"]]
    # Where the journal says that they lie, and where they lie now if all of them were moved.
    return sum(_folder(path) + (_folder(out / path.name) if path.parent != out else 0) for path in written)


def _folder(path: Path) -> int:
    """Remove an artefact folder, and only what looks like one: the disk may have changed. Returns 1 if it is gone."""
    if not (_FOLDER.fullmatch(path.name) and (path / "triage.json").is_file()):
        return 0
    shutil.rmtree(path, ignore_errors=True)
    return int(not path.exists())


def _traces(work: _Erasure) -> int:
    if work.deps.tracer is not None:
        work.deps.tracer.flush()
    return jsonl.forget(work.home, work.ids, work.scope.tenant_id if work.scope.everything else "")


def _documents(work: _Erasure) -> int:
    if not work.scope.everything:
        return 0
    index, tenant = work.deps.index, work.scope.tenant_id
    count = sum(space.count()[0] for space in index.tenant_spaces(tenant))
    for name in (*index.spaces.audiences(tenant), tenant):
        index.spaces.drop(name)
    return count


def _pages(work: _Erasure) -> int:
    """Pages lie here only while they are read; a killed process leaves them."""
    folder = work.home / "pages" / space_key(work.scope.tenant_id)
    if not work.scope.everything or not folder.exists():
        return 0
    count = sum(path.is_file() for path in folder.rglob("*"))
    shutil.rmtree(folder)
    return count


def _of_people(work: _Erasure, store: Uploads | KeyStore | SessionStore) -> int:
    """What a store has of the tenant, or of one of its users."""
    scope = work.scope
    return store.forget(scope.tenant_id, scope.user_id or "") if scope.whole_user else 0


def _public(work: _Erasure) -> int:
    return work.deps.public.forget(work.scope.tenant_id) if work.scope.everything else 0


def _mistakes(work: _Erasure) -> int:
    gone = set(work.ids)
    return work.deps.mistakes.forget(lambda row: row["run_id"] in gone)


def _withheld(work: _Erasure) -> int:
    """The samples of what was released or confirmed, and the person's name from the documents' own records."""
    user = work.scope.user_id
    for space in work.deps.index.tenant_spaces(work.scope.tenant_id) if user and work.scope.whole_user else ():
        withheld.forget_user(space, user or "")
    return work.deps.samples.forget(work.scope.holds)


def _of_nobody(work: _Erasure) -> int:
    return 0


@dataclass(frozen=True)
class Place:
    """A kind of thing that is kept, and what erases it."""

    name: str  # in the receipt
    erase: Callable[[_Erasure], int]  # returns how many things it erased


PLACES = (
    Place("runs", lambda work: len(work.ids)),  # the journal clears their lines when it writes the receipt
    Place("head", _of_nobody),  # of the journal: a number and a hash
    Place("threads", _threads),
    Place("reviews", _reviews),
    Place("turns", _turns),
    Place("artifacts", _artifacts),
    Place("traces", _traces),
    Place("false_positives", _mistakes),
    Place("withheld", _withheld),
    Place("uploads", lambda work: _of_people(work, work.deps.stores.uploads)),
    Place("public", _public),
    Place("keys", lambda work: _of_people(work, work.deps.stores.keys)),
    Place("sessions", lambda work: _of_people(work, work.deps.stores.sessions)),
    Place("pages", _pages),
    Place("documents", _documents),
    Place("vectors", _of_nobody),  # made anew with the documents
    Place("lock", _of_nobody),  # a process id
    Place("pepper", _of_nobody),  # random bytes, of no tenant
)


def _forget_in_memory() -> None:
    """Empty every cache of ours: it may have a sentence, a number or a vector of what was erased."""
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("graph", "nodes"):
            for value in vars(module).values():
                if callable(clear := getattr(value, "cache_clear", None)):
                    clear()
                elif isinstance(value, WeakKeyDictionary):  # what was worked out for an index
                    value.clear()
