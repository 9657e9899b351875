"""The journal: one JSON line per run, on disk before the answer leaves, each bound to the one before by its hash.

What could tell of a person is bound by a salted hash of its own, so that it can be erased later and the chain still
holds: an erased line must be named by an erasure line, or the journal does not verify.
"""

import fcntl
import hashlib
import json
import os
import secrets
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.errors import Unavailable
from graph.knowledge.home import private_directory

GENESIS = "0" * 64
# What an erasure takes out of a run's line. Decision, verdict, codes, figures and times stay.
PERSONAL = frozenset(
    {
        "user_id", "thread_id", "query", "question_sha256", "plan", "rewrite", "rewrite_sha256", "filters_applied",
        "retrieved_doc_ids", "retrieved", "cited", "error", "answer_sha256", "artifacts", "note",
    }
)  # fmt: skip
_UNBOUND = frozenset({"hash", "salt", "erased"})


@dataclass(frozen=True)
class Broken:
    """Where the chain does not hold: line number from 1, and why."""

    line: int
    why: str


def digest(entry: dict[str, Any]) -> str:
    """SHA-256 of the entry as canonical JSON, without `hash` and without what `personal_sha256` stands for."""
    left_out = _UNBOUND | (PERSONAL if "personal_sha256" in entry else frozenset())
    return _sha256({key: value for key, value in entry.items() if key not in left_out})


def _sealed(entry: dict[str, Any]) -> str:
    """SHA-256 of the personal fields with their salt: nobody can guess a question from it."""
    return _sha256({key: entry[key] for key in PERSONAL & entry.keys()} | {"salt": entry["salt"]})


def _sha256(value: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(value).encode()).hexdigest()


def _canonical(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


class Journal:
    """Append-only. Safe between threads and processes: each write holds a lock on the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[tuple[dict[str, Any], Future[dict[str, Any]]]] = []
        self._writing = False
        self._written = threading.Condition()

    def append(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Write the entry with `seq`, `prev` and `hash` added; returns it once it is on disk.

        Raises Unavailable when the disk does not take the line: then no answer may leave. Threads that come while
        another one writes are written together, by the next of them, with one wait for the disk.
        """
        _canonical(entry)  # what cannot be written fails alone
        mine: Future[dict[str, Any]] = Future()
        with self._written:
            self._waiting.append((entry, mine))
            while self._writing and not mine.done():
                self._written.wait()
            if mine.done():
                return mine.result()
            self._writing, batch, self._waiting = True, self._waiting, []
        try:
            self._write(batch)
        finally:
            with self._written:
                self._writing = False
                self._written.notify_all()
        return mine.result()

    def _write(self, batch: list[tuple[dict[str, Any], Future[dict[str, Any]]]]) -> None:
        try:
            with self._locked() as file:
                written = _written(file, [entry for entry, _ in batch])
        except BaseException as error:
            for _, promised in batch:
                promised.set_exception(error)
            return
        for (_, promised), chained in zip(batch, written, strict=True):
            promised.set_result(chained)

    def erase(self, run_ids: Collection[str], receipt: dict[str, Any]) -> dict[str, Any]:
        """Take what is personal out of these runs' lines and add the receipt, a line of kind `erasure`, in one step.

        The file is written anew beside the old one and takes its place whole. Returns the receipt as chained.
        """
        gone = set(run_ids)
        with self._locked() as file:
            _, end = _last_line(file)
            lines, last, named = [], None, []
            for raw in os.pread(file, end, 0).splitlines():
                last = _read(raw, "a line")
                if last.get("run_id") in gone and "salt" in last:
                    named.append(last["seq"])
                    kept = {key: value for key, value in last.items() if key not in PERSONAL and key != "salt"}
                    raw = _canonical(kept | {"erased": receipt["receipt_id"]}).encode()
                lines.append(raw + b"\n")
            chained = _chained({"kind": "erasure", **receipt, "lines": named}, last)
            fresh = self.path.with_name(f".{self.path.name}.writing")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.writelines([*lines, _line(chained)])
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(self.path)
            return chained

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, open and held against other writers. What goes wrong on the disk becomes Unavailable."""
        private_directory(self.path.parent)
        try:
            while True:
                file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    if os.fstat(file).st_ino == os.stat(self.path).st_ino:  # noqa: PTH116 (as fstat does)
                        yield file
                        return
                finally:
                    os.close(file)  # an erasure put another file in its place: take that one
        except OSError as error:
            raise Unavailable(
                f"the run could not be recorded ({error.strerror}), so its answer is withheld.",
                hint=f"Make room or mend the permissions of {self.path.parent}.",
            ) from error

    def entries(self) -> Iterator[dict[str, Any]]:
        """Every whole entry, oldest first."""
        if self.path.exists():
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if line.endswith(b"\n"):
                        yield _read(line, f"line {number}")

    def runs(self) -> Iterator[dict[str, Any]]:
        """The lines of runs, without flags, erasures and released sentences."""
        return (entry for entry in self.entries() if entry.get("kind", "run") == "run")

    def verify(self) -> Broken | None:
        """None when every line is whole, in order, bound to the one before, and erased only where a receipt says so."""
        prev, seq = GENESIS, 0
        erased: dict[str, set[int]] = {}
        if not self.path.exists():
            return None
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break  # the torn tail of a killed process; the next append removes it
                try:
                    entry = json.loads(line)
                    ok = entry["hash"] == digest(entry)
                    if "erased" in entry:
                        ok = ok and not PERSONAL & entry.keys()
                        erased.setdefault(entry["erased"], set()).add(entry["seq"])
                    elif "personal_sha256" in entry:
                        ok = ok and entry["personal_sha256"] == _sealed(entry)
                    if entry.get("kind") == "erasure":
                        erased.setdefault(entry["receipt_id"], set()).difference_update(entry["lines"])
                except (ValueError, KeyError, TypeError):
                    return Broken(number, "the line is not a journal entry")
                if not ok:
                    return Broken(number, "the line was changed after it was written")
                if entry["prev"] != prev or entry["seq"] != seq + 1:
                    return Broken(number, "a line before it is missing, added or out of order")
                prev, seq = entry["hash"], entry["seq"]
        left = sorted(at for lines in erased.values() for at in lines)
        return Broken(left[0], "the line was erased without a receipt") if left else None


def _written(file: int, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries as chained, all on disk or none. A half line left by a killed process was never acknowledged and is
    cut off."""
    last, end = _last_line(file)
    chained = []
    for entry in entries:
        last = _chained(entry, last)
        chained.append(last)
    if os.fstat(file).st_size > end:
        os.ftruncate(file, end)
    lines = b"".join(map(_line, chained))
    if os.pwrite(file, lines, end) != len(lines):
        os.ftruncate(file, end)
        raise OSError(28, "No space left on device")
    os.fsync(file)
    return chained


def _chained(entry: dict[str, Any], last: dict[str, Any] | None) -> dict[str, Any]:
    chained = {**entry, "seq": last["seq"] + 1 if last else 1, "prev": last["hash"] if last else GENESIS}
    if PERSONAL & entry.keys():
        chained["salt"] = secrets.token_hex(16)
        chained["personal_sha256"] = _sealed(chained)
    chained["hash"] = digest(chained)
    return chained


def _read(line: bytes, where: str) -> dict[str, Any]:
    try:
        entry = json.loads(line)
        _ = entry["seq"], entry["hash"]
    except (ValueError, KeyError, TypeError) as error:
        raise Unavailable(
            f"the journal is damaged at {where}, so nothing can be recorded or read.",
            hint="`cordon audit verify` shows where. Put the file aside as evidence; a new one begins.",
        ) from error
    found: dict[str, Any] = entry
    return found


def _line(entry: dict[str, Any]) -> bytes:
    return _canonical(entry).encode() + b"\n"


def _last_line(file: int) -> tuple[dict[str, Any] | None, int]:
    """The last whole entry and where it ends."""
    size = os.fstat(file).st_size
    tail, at = b"", size
    while at > 0:
        step = min(8_192, at)
        at -= step
        tail = os.pread(file, step, at) + tail
        end = tail.rfind(b"\n")
        begin = tail.rfind(b"\n", 0, end) if end >= 0 else -1
        if end >= 0 and (begin >= 0 or at == 0):
            return _read(tail[begin + 1 : end], "its last line"), at + end + 1
    return None, 0
