"""CORDON_HOME: one directory, mode 0700, used by one process at a time, or by the processes of one service."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from graph.errors import IndexUnavailable, Unavailable

RESTORING = ".restoring"  # a folder in a home that is being filled from a backup
_HINT = "Mend its permissions, or set CORDON_HOME or CORDON_OUT to a directory that you may write to."


def directory(path: Path) -> Path:
    """The directory. If it is missing it is made, with what is missing above it, readable by its owner alone."""
    try:
        for missing in reversed([p for p in (path, *path.parents) if not p.exists()]):
            missing.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise _unusable(path, error) from error
    return path


def private_directory(path: Path) -> Path:
    """A directory of the home: as `directory`, and readable by its owner alone even if others made it."""
    try:
        if directory(path).stat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise _unusable(path, error) from error
    return path


def _unusable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f"{path} cannot be used: {error.strerror}.", hint=_HINT)


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """No other process of the home is inside this for the same directory: a database is made by one of them."""
    file = os.open(private_directory(directory), os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


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
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise _unusable(self._path, error) from error
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
    def file(self) -> int:
        """The open file, to hand on. Raises ValueError when the lock is not held."""
        if self._file is None:
            raise ValueError("the home is not held")
        return self._file

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
