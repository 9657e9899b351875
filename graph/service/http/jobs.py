"""Uploads being read: one file at a time, in a process of its own (graph/service/reader.py), each on disk until then.

A job is a folder below `uploads` in the home: job.json and the files, named by number. An accepted upload survives a
restart: what was not finished is taken up again, and reading a file twice changes nothing. A file that twice brought
down whoever read it is quarantined.
"""

import json
import os
import shutil
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from graph.agent import Agent
from graph.context import Principal, valid_tenant
from graph.errors import CordonError
from graph.knowledge.home import private_directory
from graph.knowledge.ingest import Outcome, Source
from graph.policy import pii
from graph.service.http.metrics import Metrics
from graph.service.reader import Ended, Reader

State = Literal["queued", "running", "done", "cancelled", "failed"]
KEPT_S = 7 * 86_400  # how long a finished job can be looked up
STOP_S = 5.0
TRIES = 2  # of a file, when whoever reads it is brought down
IDLE_S = 30.0  # how long the process that reads is kept without work
WAITING_PER_TENANT = 100  # jobs; more get 429
WAITING_UPLOADS = 4  # times the size of the largest upload that a tenant's waiting files may have; more get 429


@dataclass
class File:
    """`status` is waiting, reading, or what became of it: indexed, unchanged, quarantined, failed, cancelled."""

    name: str  # masked
    size: int
    status: str = "waiting"
    doc_id: str = ""
    reason: str = ""
    chunks: int = 0
    flags: list[str] = field(default_factory=list)
    replaced: bool = False  # a document of that id was there before
    given: str = ""  # the name as it came, until the file is settled: the document's id is made from it
    tries: int = 0  # that did not come to an end

    @property
    def open(self) -> bool:
        return self.status in ("waiting", "reading")

    def settle(self, outcome: Outcome) -> None:
        self.given = ""
        self.status, self.doc_id, self.chunks = outcome.status, outcome.doc_id, outcome.chunks
        self.flags, self.replaced = outcome.flags, outcome.replaced
        self.reason = pii.mask(outcome.reason).text  # it quotes the name


@dataclass
class Job:
    job_id: str
    tenant_id: str
    user_id: str
    state: State
    created: str
    files: list[File]
    finished: str = ""
    reason: str = ""
    regulation: bool = False  # of every file
    replaces: bool = False  # whether a file may take the place of another's document

    @property
    def over(self) -> bool:
        return self.state in ("done", "cancelled", "failed")

    def shown(self) -> dict[str, Any]:
        """As its owner sees it; `done` of `total` files are settled."""
        settled = sum(not file.open for file in self.files)
        kept = {k: v for k, v in asdict(self).items() if k not in ("tenant_id", "user_id", "replaces")}
        for file in kept["files"]:
            del file["given"], file["tries"]
        return {**kept, "done": settled, "total": len(self.files)}


class _Stop(Exception):
    """Raised out of the reading of a file: the service is stopping."""


class Jobs:
    def __init__(self, agent: Agent, metrics: Metrics) -> None:
        self._agent, self._metrics = agent, metrics
        self._folder = agent.settings.home / "uploads"
        self._jobs: dict[str, Job] = {}
        self._lock = threading.RLock()
        self._line: list[str] = []  # ids of the jobs with files to read, the oldest first
        self._now = ""  # the one of which a file is being read
        self._more = threading.Condition(self._lock)
        self._turns: dict[str, int] = {}  # tenant: the number of the turn that it had last
        self._cancelled: set[str] = set()
        self._closing = threading.Event()
        self._reader = Reader(agent.settings, agent.deps.lock.file)
        self._thread = threading.Thread(target=self._work, name="cordon-ingest", daemon=True)

    def start(self) -> None:
        """Take up what the last service left, and begin."""
        private_directory(self._folder)
        for folder in sorted(self._folder.iterdir(), key=lambda p: p.stat().st_mtime):
            job = _read(folder / "job.json")
            if job is None or (job.over and time.time() - folder.stat().st_mtime > KEPT_S):
                shutil.rmtree(folder, ignore_errors=True)  # an upload that was never accepted, or an old one
                continue
            self._jobs[job.job_id] = job
            if not job.over:
                self._line.append(job.job_id)
        self._thread.start()

    def close(self) -> None:
        """Stop, within a file too. What is left stays on disk for the next start, the file being read included."""
        with self._more:
            self._closing.set()
            self._more.notify()
        if self._thread.is_alive():
            self._thread.join(STOP_S)

    # -- for the routes -----------------------------------------------------------------------------------

    def begin(self) -> tuple[str, Path]:
        """A new job's id and its folder, to stream files into. Accept or discard it."""
        job_id = uuid.uuid4().hex
        return job_id, private_directory(self._folder / job_id)

    def accept(self, job_id: str, who: Principal, files: list[File], *, regulation: bool = False) -> Job:
        """The job is on disk when this returns: from here on it will be done. Raises OSError when it cannot be."""
        job = Job(job_id, who.tenant_id, who.user_id, "queued", _now(), files, regulation=regulation)
        job.replaces = who.role == "admin"
        with self._lock:
            self._write(job)
            self._jobs[job_id] = job
            self._line.append(job_id)
            self._more.notify()
        return job

    def discard(self, job_id: str) -> None:
        shutil.rmtree(self._folder / job_id, ignore_errors=True)

    def crowded(self, tenant_id: str) -> bool:
        with self._lock:
            waiting = [job for job in self._jobs.values() if job.tenant_id == tenant_id and not job.over]
            held = sum(file.size for job in waiting for file in job.files)
            most = WAITING_UPLOADS * self._agent.settings.max_upload_mb * 2**20
            return len(waiting) >= WAITING_PER_TENANT or held >= most

    def get(self, job_id: str, who: Principal) -> dict[str, Any] | None:
        """The job, if it is this user's of this tenant."""
        with self._lock:
            job = self._jobs.get(job_id)
            return job.shown() if job and (job.tenant_id, job.user_id) == (who.tenant_id, who.user_id) else None

    def all(self, who: Principal) -> list[dict[str, Any]]:
        """This user's jobs, the latest first."""
        with self._lock:
            mine = [j for j in self._jobs.values() if (j.tenant_id, j.user_id) == (who.tenant_id, who.user_id)]
            return [job.shown() for job in sorted(mine, key=lambda job: (job.created, job.job_id), reverse=True)]

    def cancel(self, job_id: str, who: Principal) -> dict[str, Any] | None:
        """Stop before the next file; what is indexed stays. Of a finished job it changes nothing."""
        with self._lock:
            if self.get(job_id, who) is None:
                return None
            job = self._jobs[job_id]
            if job_id == self._now:
                self._cancelled.add(job_id)
            elif not job.over:
                self._finish(job, "cancelled")
            return job.shown()

    # -- the thread ---------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._read(job)
                over = not any(file.open for file in job.files)
                if over or job.job_id in self._cancelled:
                    self._finish(job, "done" if over else "cancelled")
            except Exception as error:
                if self._closing.is_set():
                    break  # the file was left, or the index closed under it; the next start tries again
                known = isinstance(error, CordonError)
                said = f"the index could not take it ({type(error).__name__})."
                self._finish(job, "failed", said if known else f"unexpected {type(error).__name__}.")
            finally:
                with self._lock:
                    self._now = ""
        self._reader.close()

    def _next(self) -> Job | None:
        """The oldest job of the tenant that has waited longest for a turn: one file each, so that none stands behind
        another's hundred. None when the service stops."""
        with self._more:
            while not self._more.wait_for(lambda: self._line or self._closing.is_set(), IDLE_S):
                self._reader.close()
            if self._closing.is_set():
                return None
            self._now = min(self._line, key=lambda one: self._turns.get(self._jobs[one].tenant_id, 0))
            job = self._jobs[self._now]
            self._turns[job.tenant_id] = max(self._turns.values(), default=0) + 1
            job.state = "running"
            return job

    def _read(self, job: Job) -> None:
        """The job's next file."""
        at = next((at for at, file in enumerate(job.files) if file.open), None)
        if at is None:
            return
        file, owner = job.files[at], valid_tenant(job.tenant_id)
        source = Source(
            self._folder / job.job_id / str(at),
            file.given or file.name,
            (owner,),
            owner,
            kind="regulation" if job.regulation else "",
            replaces=job.replaces,
            uploader=Principal(job.tenant_id, job.user_id).digest,
        )
        outcome: Outcome | None = None
        while outcome is None:
            with self._lock:
                file.status, file.tries = "reading", file.tries + 1
                self._save(job)  # before: if all ends with it, the next start must know
            if file.tries > TRIES:
                outcome = _ended(source.name, "whatever read it ended before it was read, twice")
                break
            try:
                outcome = self._reader.read(source, self._go_on)
            except _Stop:
                file.tries -= 1
                self._save(job)
                raise
            except Ended as ended:
                if not ended.killed or file.tries == TRIES:
                    outcome = _ended(source.name, ended.why)
        with self._lock:
            file.settle(outcome)
            self._save(job)
        self._metrics.file(outcome.status)

    def _go_on(self) -> None:
        if self._closing.is_set():
            raise _Stop

    def _finish(self, job: Job, state: State, reason: str = "") -> None:
        with self._lock:
            job.state, job.finished, job.reason = state, _now(), reason
            for file in job.files:
                file.given = ""
                if file.open:
                    file.status = "failed" if state == "failed" else "cancelled"
            self._cancelled.discard(job.job_id)
            with suppress(ValueError):  # it left the line when the end of it failed
                self._line.remove(job.job_id)
            self._save(job)
            folder = self._folder / job.job_id
            for n in range(len(job.files)):
                (folder / str(n)).unlink(missing_ok=True)
            old = time.time() - KEPT_S
            for other in [j for j in self._jobs.values() if j.over and _seconds(j.finished) < old]:
                del self._jobs[other.job_id]
                self.discard(other.job_id)

    def _save(self, job: Job) -> None:
        with suppress(OSError):  # its progress is lost with a crash, not the job
            self._write(job)

    def _write(self, job: Job) -> None:
        folder = self._folder / job.job_id
        fresh = folder / "job.json.new"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as file:
            json.dump(asdict(job), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / "job.json")


def _ended(name: str, why: str) -> Outcome:
    return Outcome(
        name, "", "quarantined", f"too_much: reading {name!r} was given up: {why}. Split it, or simplify it."
    )


def _read(path: Path) -> Job | None:
    try:
        raw = json.loads(path.read_text())
        return Job(**{**raw, "files": [File(**file) for file in raw["files"]]})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()
