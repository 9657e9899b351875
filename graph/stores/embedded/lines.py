"""Rows as a file of JSON lines beside the journal."""

import json
import os
from collections.abc import Callable
from pathlib import Path

from graph.errors import BadInput
from graph.files import private_directory
from graph.stores.journal import Row


class JsonLines:
    """Rows in one file: adding appends to it, erasing writes it anew."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, row: Row) -> None:
        private_directory(self.path.parent)
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as out:
            out.write(_line(row))

    def all(self) -> list[Row]:
        if not self.path.exists():
            return []
        return [self._row(n, line) for n, line in enumerate(self.path.read_bytes().splitlines(), 1) if line.strip()]

    def _row(self, number: int, line: bytes) -> Row:
        try:
            row: Row = json.loads(line)
            return row
        except ValueError as error:
            raise BadInput(
                f"line {number} of {self.path.name} is no JSON.", hint="Remove or correct the line."
            ) from error

    def forget(self, gone: Callable[[Row], bool]) -> int:
        known = self.all()
        remaining = [row for row in known if not gone(row)]
        if len(remaining) < len(known):
            fresh = self.path.with_name(f".{self.path.name}.writing")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.writelines(map(_line, remaining))
            fresh.replace(self.path)
        return len(known) - len(remaining)


def _line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
