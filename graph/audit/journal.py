"""The journal: one JSON line per run, on disk before the answer leaves, each bound to the one before by its hash."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.errors import Unavailable
from graph.knowledge.home import private_directory

GENESIS = "0" * 64


@dataclass(frozen=True)
class Broken:
    """Where the chain does not hold: line number from 1, and why."""

    line: int
    why: str


def digest(entry: dict[str, Any]) -> str:
    """SHA-256 of the entry without its own `hash`, as canonical JSON."""
    body = {key: value for key, value in entry.items() if key != "hash"}
    return hashlib.sha256(_canonical(body).encode()).hexdigest()


def _canonical(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


class Journal:
    """Append-only. Safe between threads and processes: each append holds a lock on the file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Write the entry with `seq`, `prev` and `hash` added; returns it once it is on disk.

        A half line left by a killed process was never acknowledged and is cut off. Raises Unavailable when the
        disk does not take the line: then no answer may leave.
        """
        private_directory(self.path.parent)
        try:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                last, end = _last_line(file)
                chained = {
                    **entry,
                    "seq": last["seq"] + 1 if last else 1,
                    "prev": last["hash"] if last else GENESIS,
                }
                chained["hash"] = digest(chained)
                if os.fstat(file).st_size > end:
                    os.ftruncate(file, end)
                line = _canonical(chained).encode() + b"\n"
                written = os.pwrite(file, line, end)
                if written != len(line):
                    os.ftruncate(file, end)
                    raise OSError(28, "No space left on device")
                os.fsync(file)
                return chained
            finally:
                os.close(file)
        except OSError as error:
            raise Unavailable(
                f"the run could not be recorded ({error.strerror}), so its answer is withheld.",
                hint=f"Make room or mend the permissions of {self.path.parent}.",
            ) from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """Every whole entry, oldest first."""
        if self.path.exists():
            with self.path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        yield json.loads(line)

    def verify(self) -> Broken | None:
        """None when every line is whole, in order and bound to the one before."""
        prev, seq = GENESIS, 0
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return None  # the torn tail of a killed process; the next append removes it
                try:
                    entry = json.loads(line)
                    ok = entry["hash"] == digest(entry)
                except (ValueError, KeyError, TypeError):
                    return Broken(number, "the line is not a journal entry")
                if not ok:
                    return Broken(number, "the line was changed after it was written")
                if entry["prev"] != prev or entry["seq"] != seq + 1:
                    return Broken(number, "a line before it is missing, added or out of order")
                prev, seq = entry["hash"], entry["seq"]
        return None


def _last_line(file: int) -> tuple[dict[str, Any] | None, int]:
    """The last whole entry and where it ends."""
    size = os.fstat(file).st_size
    tail, at = b"", size
    while at > 0:
        step = min(65_536, at)
        at -= step
        tail = os.pread(file, step, at) + tail
        end = tail.rfind(b"\n")
        begin = tail.rfind(b"\n", 0, end) if end >= 0 else -1
        if end >= 0 and (begin >= 0 or at == 0):
            return json.loads(tail[begin + 1 : end]), at + end + 1
    return None, 0
