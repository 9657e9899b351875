"""CORDON_HOME: one directory, mode 0700, used by one process at a time, or by the processes of one service."""

import fcntl
import os
import time
from pathlib import Path
from typing import Self

from graph.errors import IndexUnavailable, Unavailable


def private_directory(path: Path) -> Path:
    """The directory, made if missing, readable by its owner alone."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise Unavailable(
            f"the directory {path} cannot be used: {error.strerror}.",
            hint="Set CORDON_HOME or CORDON_OUT to a directory that you may write to.",
        ) from error
    return path


class HomeLock:
    """Exclusive use of a home. A second process would write beside the first one, so it is told instead.

    The processes of one service share the lock: each holds the file that the first one opened, and the home is free
    again when the last of them is gone.
    """

    def __init__(self, home: Path, wait_s: float) -> None:
        self._path = private_directory(home) / "lock"
        self._wait_s = wait_s
        self._file: int | None = None

    def acquire(self) -> Self:
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + self._wait_s
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    holder = os.pread(file, 32, 0).decode("ascii", "replace").strip() or "unknown"
                    os.close(file)
                    raise IndexUnavailable(
                        f"another process (pid {holder}) is using {self._path.parent}.",
                        hint="Stop it, wait, or give this one a CORDON_HOME of its own.",
                    ) from None
                time.sleep(0.05)
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file
        return self

    @classmethod
    def inherited(cls, home: Path, file: int) -> Self:
        """The lock as a process holds it that was handed the open file."""
        lock = cls(home, 0)
        lock._file = file
        return lock

    @property
    def file(self) -> int:
        """The open file, to hand on. Raises ValueError when the lock is not held."""
        if self._file is None:
            raise ValueError("the home is not held")
        return self._file

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)  # closing gives the lock back; the kernel does it for a killed process
            self._file = None
