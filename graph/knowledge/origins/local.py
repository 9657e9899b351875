"""A folder of this machine."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from graph.errors import BadInput, DocumentError, Quarantined
from graph.knowledge import folders
from graph.knowledge.origins import Content, Entry
from graph.settings import Settings

_SETTLED = 2 * 10**9  # nanoseconds; within a file system's tick, two writings have the same stamp


class Folder:
    """Raises BadInput where there is none."""

    whole = True

    def __init__(self, path: str, settings: Settings) -> None:
        self._root = Path(path)
        if not path or not folders.is_folder(self._root):
            raise BadInput(f"there is no folder {path!r}: nothing was removed.", hint="Check the path. Is it mounted?")
        self._most = settings.max_file_mb * 2**20
        self.label, self.place = self._root.absolute().name, folders.digest(self._root)

    def listed(self, known: Mapping[str, str]) -> Iterator[Entry]:
        for path in folders.listed(self._root):
            try:
                info = path.stat()
            except OSError:
                continue  # gone since it was listed
            yield Entry(path.relative_to(self._root).as_posix(), _stamp(info), info.st_size, str(path))

    def read(self, entry: Entry, stamp: str) -> Content | None:
        path = Path(entry.key).resolve()
        if not path.is_relative_to(self._root.resolve()):
            raise DocumentError("outside", "it is a link that leads out of the folder.")
        try:
            # Not blocking: opening a named pipe would wait for its other end for ever.
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as file:
                before = os.fstat(handle)
                if not stat.S_ISREG(before.st_mode):
                    raise BadInput("it is not a file.")
                data = file.read(self._most + 1)
                after = path.stat()
        except OSError as error:
            raise BadInput(f"it cannot be read: {error.strerror}.") from error
        if len(data) > self._most:
            raise Quarantined("oversize", f"it is larger than {self._most / 2**20:.0f} MiB")
        if _stamp(before) != _stamp(after) or len(data) != before.st_size:
            raise BadInput("it was written to while it was read: the next run reads it.")
        settled = time.time_ns() - after.st_ctime_ns > _SETTLED
        return Content(data, _stamp(after) if settled else "")

    def source(self, entry: Entry) -> str:
        return entry.name

    def close(self) -> None:
        pass


def _stamp(info: os.stat_result) -> str:
    """With `st_ctime_ns`, which nothing can set back, as `cp -p` does with `st_mtime_ns`."""
    return f"{info.st_ino}-{info.st_size}-{info.st_mtime_ns}-{info.st_ctime_ns}"
