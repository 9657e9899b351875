"""A tenant's own lines of the journal, in pages.

Where a tenant's lines stand is looked for once and then kept, in memory: places and nothing else. The journal is the
truth. What is kept goes on from where it ended; if the journal is another file since (an erasure), or is not what it
was there, it is made anew. Each line is read from the journal and shown only if it is the tenant's own.

Nothing that is shown depends on other tenants' lines: neither the place in the chain, nor a hash that binds it, nor the
places that an erasure names.
"""

import os
import threading
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from graph.audit.chain import needle, read
from graph.errors import NotFound
from graph.stores.journal import Entry, shown


@dataclass
class _Places:
    """Where the lines begin that may be the tenant's, how far the journal was looked through, and the line before."""

    file: tuple[int, int]
    begins: "array[int]" = field(default_factory=lambda: array("Q"))
    end: int = 0
    last: bytes = b""


class Pages:
    """Safe between threads."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._known: dict[str, _Places] = {}
        self._lock = threading.Lock()

    def page(
        self, tenant: str, *, limit: int, day: str = "", after: str | None = None, before: str | None = None
    ) -> list[Entry]:
        try:
            with self._journal.open("rb") as file:
                lines = _Lines(file, self._places(file, tenant), tenant, day)
                first = lines.numbers(after)[0] + 1 if after is not None else 0
                end = lines.numbers(before)[-1] if before is not None else len(lines.begins)
                wanted = range(first, end)
                entries = list(islice(lines.shown(wanted if after is not None else reversed(wanted)), limit))
        except FileNotFoundError:
            if after is not None or before is not None:
                raise NotFound("there is no such entry.") from None
            return []
        return entries if after is not None else entries[::-1]

    def _places(self, file: BinaryIO, tenant: str) -> "array[int]":
        with self._lock:
            stat = os.fstat(file.fileno())
            known = self._known.get(tenant)
            if known is None or known.file != (stat.st_dev, stat.st_ino) or not _still(file, known):
                known = self._known[tenant] = _Places((stat.st_dev, stat.st_ino))
            theirs = needle("tenant_id", tenant) + b'"'
            file.seek(known.end)
            for line in file:
                if not line.endswith(b"\n"):
                    break  # being written
                if theirs in line:
                    known.begins.append(known.end)
                known.end += len(line)
                known.last = line
            return known.begins


def _still(file: BinaryIO, known: _Places) -> bool:
    """Whether the line that was looked at last stands where it stood. It binds all that come before it."""
    return os.pread(file.fileno(), len(known.last), known.end - len(known.last)) == known.last


class _Lines:
    """One reading of a tenant's lines, numbered from the oldest."""

    def __init__(self, file: BinaryIO, begins: "array[int]", tenant: str, day: str) -> None:
        self._file, self.begins, self._tenant, self._day = file, begins, tenant, day

    def shown(self, numbers: Iterable[int]) -> Iterator[Entry]:
        for _, entry in self._holding([needle("timestamp", self._day)], numbers):
            if entry["timestamp"].startswith(self._day):
                yield shown(entry)

    def numbers(self, name: str) -> list[int]:
        """The numbers of the lines of that name, the last one first; looked for from the end."""
        numbers = []
        wanted = [needle(field, name) + b'"' for field in ("personal_sha256", "run_id")]
        for number, entry in self._holding(wanted, range(len(self.begins) - 1, -1, -1)):
            if entry.get("personal_sha256") == name:
                return [number]
            if entry.get("run_id") == name:
                numbers.append(number)
        if not numbers:
            raise NotFound("there is no such entry.")
        return numbers

    def _holding(self, wanted: list[bytes], numbers: Iterable[int]) -> Iterator[tuple[int, Entry]]:
        """The tenant's entries among these lines that have any of these bytes; the others are not read."""
        for number in numbers:
            self._file.seek(self.begins[number])
            line = self._file.readline()
            if any(some in line for some in wanted):
                entry = read(line, "a line of this tenant")
                if entry.get("tenant_id") == self._tenant:
                    yield number, entry
