"""Uploads being read: one file at a time, in its own process (graph/service/ingest_process.py), each kept until then.

An accepted upload survives a restart: what was not finished is taken up again, and reading a file twice changes
nothing. A file that twice brought down the process that reads it, or five times the whole worker, is quarantined. While
the index, its database or a model that it needs is away, the file waits: the job fails only when that lasts.
"""

import threading
import time
import uuid
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from graph.agent import Agent
from graph.context import Principal, space_name, valid_tenant
from graph.errors import CordonError, Unavailable
from graph.knowledge.ingest import Outcome, Source
from graph.policy import pii
from graph.service.http.metrics import Metrics
from graph.service.ingest_process import Ended, IngestProcess, given_up
from graph.stores.uploads import File, Job, JobState
from graph.timestamps import timestamp

KEPT_S = 7 * 86_400  # how long a finished job can be looked up
STOP_S = 5.0
TRIES = 2  # of a file, when the process that reads it is brought down
LIVES = 5  # of a file, when the whole worker is: seldom the file's fault, and of many workers one often dies
IDLE_S = 30.0  # how long the process that reads is kept without work, and how often others' uploads are looked for
AWAY_S, AGAIN_S = 3_600.0, 2.0  # how long what is away is waited for, and how often it is tried
LOOK_S = 5.0  # how often, within a file, the job is looked up: another worker may have taken it over
WAITING_PER_TENANT = 100  # jobs; more get 429
WAITING_UPLOADS = 4  # times the size of the largest upload that a tenant's waiting files may have; more get 429


class _Stop(Exception):
    """Raised out of the reading of a file: the service is stopping."""


class _Gone(Exception):
    """The job is another worker's by now."""


class Jobs:
    """The queue of uploads of one process; every change of a job is saved. Threads may share it."""

    def __init__(self, agent: Agent, metrics: Metrics) -> None:
        self._agent, self._metrics = agent, metrics
        self._uploads = agent.deps.stores.uploads
        self._jobs: dict[str, Job] = {}
        self._lock = threading.RLock()
        self._line: list[str] = []  # ids of the jobs with files to read, the oldest first
        self._now = ""  # the job of which a file is being read
        self._more = threading.Condition(self._lock)
        self._turns: dict[str, int] = {}  # tenant: the number of the turn that it had last
        self._cancelled: set[str] = set()
        self._since: dict[str, float] = {}  # jobs that wait for what is away: since when
        self._unsaved: set[str] = set()  # jobs whose last state is not on record yet
        self._looked = 0.0
        self._took_over = time.monotonic()
        self._closing = threading.Event()
        self._ingest_process = IngestProcess(agent.settings, agent.deps.lock.files)
        self._thread = threading.Thread(target=self._work, name="cordon-ingest", daemon=True)

    def start(self) -> None:
        """Take up what the last service left, and begin."""
        for job in self._uploads.jobs():
            self._jobs[job.job_id] = job
            if not job.over:
                self._line.append(job.job_id)
        self._forget_old()
        self._thread.start()

    def close(self) -> None:
        """Stop, within a file too. What is left stays on disk for the next start, the file being read included."""
        with self._more:
            self._closing.set()
            self._more.notify()
        if self._thread.is_alive():
            self._thread.join(STOP_S)

    # -- for the routes -----------------------------------------------------------------------------------

    def begin(self) -> str:
        """A new job's id, to stream files into (`file`). Accept or discard it."""
        job_id = uuid.uuid4().hex
        self._uploads.begin(job_id)
        return job_id

    def file(self, job_id: str, number: int) -> BinaryIO:
        """The job's file of this number, from 0, to write to."""
        return self._uploads.file(job_id, number)

    def accept(
        self, job_id: str, who: Principal, files: list[File], *, kind: str = "", groups: Collection[str] = ()
    ) -> Job:
        """The job is durable when this returns: from here on it will be done. Raises OSError when it cannot be."""
        job = Job(job_id, who.tenant_id, who.user_id, "queued", timestamp(), files, kind=kind, groups=sorted(groups))
        job.replaces = who.role == "admin"
        with self._lock:
            self._uploads.save(job)
            self._jobs[job_id] = job
            self._line.append(job_id)
            self._more.notify()
        return job

    def discard(self, job_id: str) -> None:
        """Remove the job and its files. Raises OSError."""
        self._uploads.remove(job_id)

    def crowded(self, tenant_id: str) -> bool:
        """Whether the tenant has as many jobs, or as many bytes, waiting as it may."""
        with self._lock:
            waiting = [job for job in self._jobs.values() if job.tenant_id == tenant_id and not job.over]
            size = sum(file.size for job in waiting for file in job.files)
            most = WAITING_UPLOADS * self._agent.settings.max_upload_mb * 2**20
            return len(waiting) >= WAITING_PER_TENANT or size >= most

    def get(self, job_id: str, who: Principal) -> dict[str, Any] | None:
        """The job, if it is this user's of this tenant, whichever worker has it, and not for groups that the user is
        not in any more. Raises OSError when the stores cannot be read."""
        with self._lock:
            if job := self._jobs.get(job_id):
                return shown(job) if _theirs(job, who) else None
        others = self._uploads.elsewhere(who.tenant_id, who.user_id)
        return next((shown(job) for job in others if job.job_id == job_id and _theirs(job, who)), None)

    def all(self, who: Principal) -> list[dict[str, Any]]:
        """This user's jobs, the latest first. Raises OSError when the stores cannot be read."""
        known = {job.job_id: job for job in self._uploads.elsewhere(who.tenant_id, who.user_id)}
        with self._lock:
            known |= self._jobs
            theirs = [job for job in known.values() if _theirs(job, who)]
            return [shown(job) for job in sorted(theirs, key=lambda job: (job.created, job.job_id), reverse=True)]

    def cancel(self, job_id: str, who: Principal) -> dict[str, Any] | None:
        """Stop before the next file; what is indexed stays. Of a finished job it changes nothing. Another worker stops
        one that it has before the next file as well.

        Raises OSError when the stores cannot be read.
        """
        row = self.get(job_id, who)
        with self._lock:
            job = self._jobs.get(job_id)
            if row is None or (job is None and row["state"] not in ("queued", "running")):
                return row
            if job is None:
                self._uploads.stop(job_id)
                return row
            if job_id == self._now:
                self._cancelled.add(job_id)
            elif not job.over:
                self._finish(job, "cancelled")
            return shown(job)

    # -- the thread ---------------------------------------------------------------------------------------

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                self._look(job)
                if job.job_id not in self._cancelled:
                    self._read(job)
                over = not any(file.open for file in job.files)
                if over or job.job_id in self._cancelled:
                    self._finish(job, "done" if over else "cancelled")
            except _Gone:
                self._drop(job)
            except Exception as error:
                if self._closing.is_set():
                    break  # the file was left, or the index closed under it; the next start tries again
                known = isinstance(error, CordonError)
                problem = f"the index could not take it ({type(error).__name__})."
                if not self._waits(job, error, problem):
                    self._finish(job, "failed", problem if known else f"unexpected {type(error).__name__}.")
            finally:
                with self._lock:
                    self._now = ""
                self._save_left()
        self._ingest_process.close()

    def _next(self) -> Job | None:
        """The oldest job of the tenant that has waited longest for a turn: one file each, so that none stands behind
        another's hundred. None when the service stops."""
        while True:
            if time.monotonic() - self._took_over > IDLE_S:  # also when it always has files to read
                self._take_over()
            with self._more:
                if self._more.wait_for(lambda: self._line or self._closing.is_set(), IDLE_S):
                    return None if self._closing.is_set() else self._chosen()
            self._ingest_process.close()
            self._save_left()

    def _chosen(self) -> Job:
        self._now = min(self._line, key=lambda one: self._turns.get(self._jobs[one].tenant_id, 0))
        job = self._jobs[self._now]
        self._turns[job.tenant_id] = max(self._turns.values(), default=0) + 1
        job.state = "running"
        return job

    def _look(self, job: Job) -> None:
        """Raises _Gone for a job that another worker has, OSError when the stores cannot be read."""
        self._looked = time.monotonic()
        match self._uploads.mine(job.job_id):
            case "stop":
                self._cancelled.add(job.job_id)
            case "another's":
                raise _Gone

    def _drop(self, job: Job) -> None:
        with self._lock:
            self._line.remove(job.job_id)
            self._jobs.pop(job.job_id, None)
            self._since.pop(job.job_id, None)

    def _waits(self, job: Job, error: Exception, problem: str) -> bool:
        """Whether to try again: true for what is away now and may come back."""
        away = isinstance(error, Unavailable | OSError) and not isinstance(error, FileNotFoundError)
        if not away or time.monotonic() - self._since.setdefault(job.job_id, time.monotonic()) > AWAY_S:
            return False
        with self._lock:
            job.reason = f"waiting: {problem}"
        self._closing.wait(AGAIN_S)
        return True

    def _take_over(self) -> None:
        """Take over what workers that died had not finished."""
        self._took_over = time.monotonic()
        with suppress(OSError):  # the stores are away: the next time
            left = self._uploads.left()
            with self._lock:
                new = [job for job in left if job.job_id not in self._jobs]
                self._jobs |= {job.job_id: job for job in new}
                self._line += [job.job_id for job in new if not job.over]

    def _read(self, job: Job) -> None:
        """Read the job's next file."""
        at = next((at for at, file in enumerate(job.files) if file.open), None)
        if at is None:
            return
        file = job.files[at]
        with self._uploads.local(job.job_id, at) as path:
            outcome = self._became(job, file, Path(path))
        with self._lock:
            self._since.pop(job.job_id, None)
            job.reason = ""
            _record_outcome(file, outcome)
            self._save(job)
        self._metrics.file(outcome.status)

    def _became(self, job: Job, file: File, path: Path) -> Outcome:
        owner = valid_tenant(job.tenant_id)
        source = Source(
            path,
            file.given or file.name,
            (space_name(owner, job.groups),),
            owner,
            kind=job.kind,
            replaces=job.replaces,
            uploader=Principal(job.tenant_id, job.user_id).digest,
        )
        brought_down = 0
        while True:
            with self._lock:
                file.status, file.tries = "reading", file.tries + 1
                self._save(job)  # before: if all ends with it, the next start must know
            if file.tries > LIVES:
                return given_up(source.name, f"whatever read it ended before it was read, {LIVES} times")
            try:
                return self._ingest_process.read(source, lambda: self._go_on(job))
            except (_Stop, _Gone, Unavailable):
                with self._lock:
                    file.tries -= 1
                    self._save(job)
                raise
            except Ended as ended:
                brought_down += 1
                if not ended.killed or brought_down == TRIES:
                    return given_up(source.name, ended.why)

    def _go_on(self, job: Job) -> None:
        if self._closing.is_set():
            raise _Stop
        if time.monotonic() - self._looked > LOOK_S:
            with suppress(OSError):  # the stores are away: the next look
                self._look(job)

    def _finish(self, job: Job, state: JobState, reason: str = "") -> None:
        with self._lock:
            job.state, job.finished, job.reason = state, timestamp(), reason
            for file in job.files:
                file.given = ""
                if file.open:
                    file.status = "failed" if state == "failed" else "cancelled"
            self._cancelled.discard(job.job_id)
            self._since.pop(job.job_id, None)
            with suppress(ValueError):  # an earlier try to finish it took it off the line
                self._line.remove(job.job_id)
            self._save(job)
            with suppress(OSError):  # its files go with the job
                self._uploads.remove_files(job)
            self._forget_old()

    def _forget_old(self) -> None:
        old = time.time() - KEPT_S
        for job in [j for j in self._jobs.values() if j.over and datetime.fromisoformat(j.finished).timestamp() < old]:
            del self._jobs[job.job_id]
            with suppress(OSError):
                self.discard(job.job_id)

    def _save(self, job: Job) -> None:
        self._unsaved.discard(job.job_id)
        try:
            self._uploads.save(job)
        except FileNotFoundError:
            pass  # nobody's any more, or another's, who says how far it is
        except OSError:  # with a crash its progress is lost, not the job
            self._unsaved.add(job.job_id)

    def _save_left(self) -> None:
        with self._lock:
            for job_id in self._unsaved & self._jobs.keys():
                self._save(self._jobs[job_id])


def _theirs(job: Job, who: Principal) -> bool:
    """Whether the job is this user's, who is in one of the groups that it is for, if any, or is an admin."""
    if (job.tenant_id, job.user_id) != (who.tenant_id, who.user_id):
        return False
    return not job.groups or who.role == "admin" or not who.groups.isdisjoint(job.groups)


def shown(job: Job) -> dict[str, Any]:
    """The job as its owner sees it: `done` of `total` files are over."""
    over = sum(not file.open for file in job.files)
    fields = {k: v for k, v in asdict(job).items() if k not in ("tenant_id", "user_id", "replaces")}
    for file in fields["files"]:
        del file["given"], file["tries"]
    return {**fields, "done": over, "total": len(job.files)}


def _record_outcome(file: File, outcome: Outcome) -> None:
    file.given = ""
    file.status, file.doc_id, file.chunks = outcome.status, outcome.doc_id, outcome.chunks
    file.flags, file.replaced = outcome.flags, outcome.replaced
    file.notes = [pii.mask(note).text for note in outcome.notes]
    file.reason = pii.mask(outcome.reason).text  # it quotes the name
