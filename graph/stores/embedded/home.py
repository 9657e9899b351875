"""CORDON_HOME: one directory, mode 0700, used by one process at a time, or by the processes of one service."""

import fcntl
import os
import time
from pathlib import Path
from typing import Self

from graph.errors import IndexUnavailable
from graph.files import private_directory, unusable

RESTORING = ".restoring"  # a folder in a home that is being filled from a backup


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
        """Raises IndexUnavailable where another process has the home, or a restore into it was cut short."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise unusable(self._path, error) from error
        deadline = time.monotonic() + self._wait_s
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    holder = os.pread(file, 32, 0).decode("ascii", "replace").strip() or "unknown"
                    os.close(file)
                    raise _taken(holder, self._path.parent) from None
                time.sleep(0.05)
        if (self._path.parent / RESTORING).exists():
            os.close(file)
            raise IndexUnavailable(
                f"a restore into {self._path.parent} was cut short, so it is not whole.",
                hint="Run `cordon restore` again.",
            )
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
    def files(self) -> tuple[int, ...]:
        if self._file is None:
            raise ValueError("the home is not held")
        return (self._file,)

    def held(self) -> bool:
        return self._file is not None and self._path.exists()

    def release(self) -> None:
        if self._file is not None:
            os.close(self._file)  # closing gives the lock back; the kernel does it for a killed process
            self._file = None


def _taken(holder: str, home: Path) -> IndexUnavailable:
    if holder.isdecimal() and not _runs(int(holder)):
        return IndexUnavailable(
            f"the service that used {home} (pid {holder}) ended, and its last turns have not.",
            hint="They end by themselves, when the model has answered. Try again.",
        )
    return IndexUnavailable(
        f"another process (pid {holder}) is using {home}.",
        hint="Stop it, wait, or give this one a CORDON_HOME of its own.",
    )


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
