"""A JSON file for each list."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from graph.context import key_of
from graph.errors import Unavailable
from graph.files import alone_in
from graph.stores.lists import Loaded


class FolderLists:
    """A file's stamp is its time, size and inode."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, tenant: str, last: Loaded | None = None) -> Loaded:
        path = self._path(tenant)
        try:
            stat = path.stat()
            stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
            return last if last and last.stamp == stamp else Loaded(stamp, json.loads(path.read_bytes()))
        except FileNotFoundError:
            return Loaded(None, {})
        except (OSError, ValueError) as error:
            raise Unavailable(f"the list {path.name} cannot be read ({error}).", hint="Mend or remove it.") from error

    def change(self, tenant: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        with alone_in(self._folder):
            known = changed(self.load(tenant).value)
            fresh = self._path(tenant).with_suffix(".writing")
            try:
                with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                    out.write(json.dumps(known, ensure_ascii=False, indent=1).encode())
                    out.flush()
                    os.fsync(out.fileno())
                fresh.replace(self._path(tenant))
            except OSError as error:
                why = f"the list cannot be written ({error.strerror})."
                raise Unavailable(why, hint=f"Make room or mend the permissions of {self._folder}.") from error

    def forget(self, tenant: str) -> None:
        self._path(tenant).unlink(missing_ok=True)

    def _path(self, tenant: str) -> Path:
        return self._folder / f"{key_of('public', tenant)}.json"
