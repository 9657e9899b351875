"""A home in one file, and back: a gzipped tar with the SHA-256 of every file, written while nobody else uses the home.

To keep it secret, pipe it through a tool that encrypts: `cordon backup - | age -p > home.age`.
"""

import hashlib
import io
import json
import os
import shutil
import tarfile
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from graph.errors import BadInput, Unavailable
from graph.stores.embedded.home import RESTORING, HomeLock

CONTENTS = "cordon-backup.json"  # the last member: file names and their hashes
VERSION = 1
_NOT_KEPT = frozenset({"lock"})


def write(home: Path, out: BinaryIO) -> dict[str, str]:
    """The home as an archive; returns what it holds, names to hashes. Raises Unavailable while a process uses it."""
    if not home.is_dir():
        raise BadInput(f"there is no home at {home}.", hint="Set CORDON_HOME to the one to keep.")
    digests: dict[str, str] = {}
    with ExitStack() as lease, tarfile.open(fileobj=out, mode="w|gz") as archive:
        lease.callback(HomeLock(home, 0.5).acquire().release)
        paths = sorted(home.rglob("*"))
        if linked := next((path for path in paths if path.is_symlink()), None):
            raise BadInput(
                f"{linked} is a link.", hint="Put what it leads to in its place, or back it up by other means."
            )
        for path in filter(Path.is_file, paths):
            name = path.relative_to(home).as_posix()
            if name not in _NOT_KEPT:
                digests[name] = _add(archive, name, path)
        contents = json.dumps({"version": VERSION, "files": digests}).encode()
        entry = tarfile.TarInfo(CONTENTS)
        entry.size, entry.mode = len(contents), 0o600
        archive.addfile(entry, io.BytesIO(contents))
    return digests


def read(home: Path, source: BinaryIO) -> dict[str, str]:
    """Put an archive where there is no home yet; every file is checked first. Raises BadInput and leaves nothing behind
    when it is damaged, not whole or no backup."""
    exists = home.is_dir()  # if it is empty: it may be a mount, so it is filled and not replaced
    fresh = home / RESTORING if exists else home.with_name(f".{home.name}{RESTORING}")
    if exists and fresh.exists():  # a restore into it was cut short: all that is there came from that
        _empty(home)
    if home.exists() and (not exists or any(home.iterdir())):
        raise BadInput(f"{home} is not empty.", hint="Restore into a new home: CORDON_HOME=… cordon restore FILE")
    home.parent.mkdir(parents=True, exist_ok=True)
    if fresh.exists():  # left by one that was killed
        shutil.rmtree(fresh)
    fresh.mkdir(mode=0o700)
    done = False
    try:
        digests = _checked(fresh, source)
        if exists:
            for path in sorted(fresh.iterdir()):
                path.rename(home / path.name)
            home.chmod(0o700)
        else:
            fresh.rename(home)
        done = True
    except (tarfile.TarError, EOFError, ValueError, KeyError, TypeError, OSError) as error:
        if isinstance(error, OSError) and error.errno:
            raise Unavailable(f"the backup could not be read or written ({error.strerror}).") from error
        raise BadInput("this is no whole backup of Cordon.", hint="Take another copy of the file.") from error
    finally:
        if not done and exists:
            _empty(home)
        shutil.rmtree(fresh, ignore_errors=True)
    return digests


def _empty(home: Path) -> None:
    """Remove what a restore has put there, and last of all the folder that says that it was not finished."""
    for path in sorted(home.iterdir(), key=lambda path: path.name == RESTORING):
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _add(archive: tarfile.TarFile, name: str, path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = os.fstat(file.fileno()).st_size, 0o600, int(path.stat().st_mtime)
        archive.addfile(entry, _Hashing(file, digest))
    return digest.hexdigest()


class _Hashing:
    """A file that is hashed as it is read."""

    def __init__(self, file: BinaryIO, digest: "hashlib._Hash") -> None:
        self._file, self._digest = file, digest

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._digest.update(data)
        return data


def _checked(folder: Path, source: BinaryIO) -> dict[str, str]:
    """The archive's files below the folder, when each is there and is what it was."""
    digests: dict[str, str] = {}
    contents = None
    with tarfile.open(fileobj=source, mode="r|gz") as archive:
        for entry in archive:
            data = archive.extractfile(entry) if entry.isreg() else None
            name = PurePosixPath(entry.name)
            if data is None or name.is_absolute() or ".." in name.parts:
                raise ValueError(entry.name)
            if entry.name == CONTENTS:
                contents = json.loads(data.read())
                continue
            path = folder / name
            for parent in reversed(path.relative_to(folder).parents[:-1]):
                (folder / parent).mkdir(mode=0o700, exist_ok=True)
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
                digest = hashlib.sha256()
                while block := data.read(1 << 20):
                    digest.update(block)
                    out.write(block)
                out.flush()
                os.fsync(out.fileno())
            digests[entry.name] = digest.hexdigest()
    if contents is None or contents["version"] != VERSION or contents["files"] != digests:
        raise ValueError("contents")
    return digests
