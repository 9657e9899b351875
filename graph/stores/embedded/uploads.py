"""A job is a folder below `uploads`: job.json and the files, named by number."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import BinaryIO, cast

from graph.files import private_directory
from graph.stores.uploads import Job, Whose, job_of


class FolderUploads:
    """All jobs are this process's: one service has the home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def begin(self, job_id: str) -> None:
        private_directory(self._folder / job_id)

    def file(self, job_id: str, number: int) -> BinaryIO:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        return cast(BinaryIO, _Synced(FileIO(os.open(self._folder / job_id / str(number), flags, 0o600), "wb")))

    def save(self, job: Job) -> None:
        folder = self._folder / job.job_id
        fresh = folder / "job.json.new"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "w") as file:
            json.dump(asdict(job), file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(folder / "job.json")

    def jobs(self) -> list[Job]:
        jobs = []
        for folder in sorted(private_directory(self._folder).iterdir(), key=lambda p: p.stat().st_mtime):
            if job := _read(folder):
                jobs.append(job)
            else:
                shutil.rmtree(folder, ignore_errors=True)
        return jobs

    def elsewhere(self, tenant_id: str, user_id: str) -> Sequence[Job]:
        return ()  # one service has the home

    def left(self) -> Sequence[Job]:
        return ()

    def stop(self, job_id: str) -> None:
        """No other process has one."""

    def mine(self, job_id: str) -> Whose:
        return "mine"

    @contextmanager
    def local(self, job_id: str, number: int) -> Iterator[str]:
        yield str(self._folder / job_id / str(number))

    def remove_files(self, job: Job) -> None:
        for number in range(len(job.files)):
            (self._folder / job.job_id / str(number)).unlink(missing_ok=True)

    def remove(self, job_id: str) -> None:
        shutil.rmtree(self._folder / job_id, ignore_errors=True)

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        gone = 0
        for folder in self._folder.glob("*"):
            job = _read(folder)
            if job is None or (job.tenant_id == tenant_id and user_id in ("", job.user_id)):
                shutil.rmtree(folder, ignore_errors=True)
                gone += 1
        return gone


class _Synced(BufferedWriter):
    """On disk when it is closed."""

    def close(self) -> None:
        if not self.closed:
            self.flush()
            os.fsync(self.fileno())
        super().close()


def _read(folder: Path) -> Job | None:
    try:
        raw = json.loads((folder / "job.json").read_text())
        if raw.pop("regulation", False):  # as jobs were written before there were kinds
            raw["kind"] = "regulation"
        return job_of(raw)
    except (OSError, ValueError, TypeError, KeyError):
        return None
