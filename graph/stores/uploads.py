"""Uploads that wait to be read: jobs, and the files of each by number.

Promises. A job is durable when `save` returns, with every file of it that was closed before: from there on it survives
a restart. Isolation: `forget` takes a tenant's, or one user's of it, alone; who may see a job is for the service to
say. Concurrency: a file is written by one, a job saved by one at a time. Errors: OSError when something cannot be
stored.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal, Protocol

JobState = Literal["queued", "running", "done", "cancelled", "failed"]
Whose = Literal["mine", "stop", "another's"]


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
    notes: list[str] = field(default_factory=list)  # what of it was not read
    given: str = ""  # the name as it came, until the file is read: the document's id is made from it
    tries: int = 0  # that did not come to an end

    @property
    def open(self) -> bool:
        """Whether it is still to be read."""
        return self.status in ("waiting", "reading")


@dataclass
class Job:
    """An upload of one or more files by one user."""

    job_id: str
    tenant_id: str
    user_id: str
    state: JobState
    created: str
    files: list[File]
    finished: str = ""
    reason: str = ""
    kind: str = ""  # of every file: an extension's name (graph/knowledge/extensions.py)
    replaces: bool = False  # whether a file may take the place of another's document
    groups: list[str] = field(default_factory=list)  # for whom its documents are; none: all of the tenant

    @property
    def over(self) -> bool:
        """Whether nothing of it is read any more."""
        return self.state in ("done", "cancelled", "failed")


class Uploads(Protocol):
    """Jobs with their files, until both are removed."""

    def begin(self, job_id: str) -> None:
        """Make room for the files of a job that is not there yet."""

    def file(self, job_id: str, number: int) -> BinaryIO:
        """A new file of the job, to be written once and closed; durable then."""

    def save(self, job: Job) -> None:
        """Raises FileNotFoundError for a job that is gone, or another process's by now."""

    def jobs(self) -> Iterable[Job]:
        """Every job that was saved, the one saved longest ago first. Those that were begun and never saved are removed:
        whoever began them is gone."""

    def elsewhere(self, tenant_id: str, user_id: str) -> Sequence[Job]:
        """The jobs of a user that other processes of the same stores have, finished ones included."""

    def left(self) -> Sequence[Job]:
        """Jobs of processes that died: they are this one's from now on."""

    def stop(self, job_id: str) -> None:
        """Tell the process that has the job, another one, to stop before its next file."""

    def mine(self, job_id: str) -> Whose:
        """Whether this process still has the job, and nobody said to stop it. A process that was cut off from the
        stores for a while may have lost it."""

    def local(self, job_id: str, number: int) -> AbstractContextManager[str]:
        """The name of a file of this machine with the content, there as long as one is inside."""

    def remove_files(self, job: Job) -> None:
        """Remove the job's files; the job itself stays."""

    def remove(self, job_id: str) -> None:
        """Remove a job with its files, saved or not."""

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        """Erase the jobs of a tenant, or of one user of it, and those that were never saved: whose they are nobody can
        tell. For when no service runs. Returns how many it was."""


def job_of(stored: dict[str, Any]) -> Job:
    """The job that was stored as `asdict` gives it."""
    return Job(**{**stored, "files": [File(**file) for file in stored["files"]]})
