"""Directories that their owner alone may read, and one process at a time in one of them."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graph.errors import Unavailable

_HINT = "Mend its permissions, or set CORDON_HOME or CORDON_OUT to a directory that you may write to."


def directory(path: Path) -> Path:
    """The directory. If it is missing it is made, with what is missing above it, readable by its owner alone."""
    try:
        for missing in reversed([p for p in (path, *path.parents) if not p.exists()]):
            missing.mkdir(exist_ok=True, mode=0o700)
    except OSError as error:
        raise unusable(path, error) from error
    return path


def private_directory(path: Path) -> Path:
    """A directory of the home: as `directory`, and readable by its owner alone even if others made it."""
    try:
        if directory(path).stat().st_mode & 0o077:
            path.chmod(0o700)
    except OSError as error:
        raise unusable(path, error) from error
    return path


def unusable(path: Path, error: OSError) -> Unavailable:
    """The error for a file or directory of the home that cannot be used, with what to do."""
    return Unavailable(f"{path} cannot be used: {error.strerror}.", hint=_HINT)


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Hold the directory's lock: no other process of the home holds it at the same time."""
    file = os.open(private_directory(directory), os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)
