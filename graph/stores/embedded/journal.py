"""The journal as a file: one JSON line per entry. What it ought to end with is in a second one (head.py)."""

import fcntl
import os
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from graph.audit.chain import (
    chained,
    check,
    digest,
    follow,
    line_of,
    needle,
    proven,
    read,
    without_personal,
)
from graph.errors import BadInput, NotFound, Unavailable
from graph.files import private_directory
from graph.stores.embedded.backwards import backwards
from graph.stores.embedded.head import Head
from graph.stores.embedded.pages import Pages
from graph.stores.embedded.proof import prove, whole_lines
from graph.stores.embedded.tenant_chain_heads import TenantChainHeads
from graph.stores.journal import Entry, Link, Proof


class FileJournal:
    """Append-only. Safe between threads and processes: each write holds a lock on the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.head = Head(path)
        self._waiting: list[tuple[Entry, Future[Entry]]] = []
        self._writing = False
        self._written = threading.Condition()
        self._owns = TenantChainHeads()
        self._pages = Pages(path)
        self.page = self._pages.page

    def append(self, entry: Entry) -> Entry:
        """Threads that come while another one writes are written together, by the next of them, with one wait for the
        disk."""
        check(entry)  # what cannot be written fails alone
        mine: Future[Entry] = Future()
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

    def _write(self, batch: list[tuple[Entry, Future[Entry]]]) -> None:
        try:
            with self._locked() as file:
                written = self._added(file, [entry for entry, _ in batch])
        except BaseException as error:
            for _, promised in batch:
                promised.set_exception(error)
            return
        for (_, promised), entry in zip(batch, written, strict=True):
            promised.set_result(entry)

    def _added(self, file: int, entries: list[Entry]) -> list[Entry]:
        """The entries as chained, all on disk or none."""
        end = _End(file, self.head)
        last, made = end.last, []
        owns: dict[str, Link | None] = {}
        for entry in entries:
            tenant = entry.get("tenant_id", "")
            if tenant not in owns:
                owns[tenant] = self._owns.last(file, end.at, tenant) if tenant else None
            entry = chained(entry, last, owns[tenant])
            made.append(entry)
            last = Link(entry["seq"], entry["hash"])
            if tenant:
                owns[tenant] = Link(entry["tenant_seq"], entry["tenant_hash"])
        if os.fstat(file).st_size > end.at:
            os.ftruncate(file, end.at)
        lines = b"".join([b"\n" * bool(end.tail), *map(line_of, made)])
        if os.pwrite(file, lines, end.at) != len(lines):
            os.ftruncate(file, end.at)
            raise OSError(28, "No space left on device")
        os.fsync(file)
        if last is not None:
            self.head.write(last)
        return made

    def erase(self, run_ids: Collection[str], receipt: dict[str, Any]) -> Entry:
        """The file is written anew beside the old one and takes its place whole."""
        gone, theirs, named = set(run_ids), needle("tenant_id", receipt["tenant_id"]) + b'"', []
        fresh = self.path.with_name(f".{self.path.name}.writing")
        with self._locked() as file:
            end = _End(file, self.head)
            with (
                os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out,
                self.path.open("rb") as lines,
            ):
                for line in lines:
                    if not line.endswith(b"\n"):
                        line = end.tail and line + b"\n"
                    if theirs in line:
                        entry = read(line, "a line")
                        if entry.get("run_id", entry.get("about")) in gone and "salt" in entry:
                            named.append(entry["seq"])
                            line = line_of(without_personal(entry, receipt["receipt_id"]))
                    out.write(line)
                own = self._owns.last(file, end.at, receipt["tenant_id"])
                entry = chained({"kind": "erasure", **receipt, "lines": named}, end.last, own)
                out.write(line_of(entry))
                out.flush()
                os.fsync(out.fileno())
            fresh.replace(self.path)
            self.head.write(Link(entry["seq"], entry["hash"]))
            return entry

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

    def entries(self, field: str = "", begins: str = "") -> Iterator[Entry]:
        """Every whole entry. Lines without these bytes are not read."""
        wanted = needle(field, begins) if field else b""
        if self.path.exists():
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if wanted in line and (line.endswith(b"\n") or _is_whole(line)):
                        entry = read(line, f"line {number}")
                        if not field or str(entry.get(field, "")).startswith(begins):
                            yield entry

    def newest(self) -> Iterator[Entry]:
        if self.path.exists():
            with self.path.open("rb") as file:
                lines = backwards(file.fileno())
                tail = next(lines)
                if _is_whole(tail):
                    yield read(tail, "its last line")
                for line in lines:
                    yield read(line, "a line near its end")

    def lines(self) -> Iterator[bytes]:
        return whole_lines(self.path)

    def begin(self, lines: Iterable[bytes]) -> Proof:
        fresh = self.path.with_name(f".{self.path.name}.writing")
        with self._locked() as file:
            if os.fstat(file).st_size or self.head.read():
                raise BadInput("there is a journal already.", hint="Name a home that has none.")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                found = follow(map(_copied(out), lines))
                out.flush()
                os.fsync(out.fileno())
            if found.broken is not None:
                fresh.unlink()
                raise BadInput(f"the lines do not hold: {found.broken.why} ({found.broken.line}).")
            if found.last.seq:
                fresh.replace(self.path)
                self.head.write(found.last)
        return self.prove()

    def tenant_head(self, tenant: str) -> Link:
        with self._locked() if self.path.exists() else nullcontext() as file:
            if file is not None and (found := self._owns.last(file, _End(file, self.head).at, tenant)):
                return found
        raise NotFound(f"the journal has no line of {tenant!r}.", hint="`cordon audit tail` shows whose lines it has.")

    def prove(self, ask: Collection[int] = ()) -> Proof:
        """What the journal's bytes, and its head, prove."""
        return prove(self.path, self.head, ask)

    def state(self) -> str:
        """Its last whole line proves itself, and it is no shorter than its head says."""
        try:
            told = self.head.read()  # first: lines may be added meanwhile
            if not self.path.exists():
                return "gone" if told or not os.access(self.path.parents[1], os.W_OK) else "ok"
            if not os.access(self.path, os.W_OK):
                return "not writable"
            last = next(self.newest(), None)
            if last is not None and last["hash"] != digest(last):
                return "broken"
            return "cut" if told and (last is None or last["seq"] < told.seq) else "ok"
        except OSError:
            return "not writable"
        except (Unavailable, ValueError, KeyError, TypeError):
            return "broken"


class _End:
    """Where the next line goes and what it is bound to.

    A last line without its newline that proves itself was acknowledged, or may have been: it is kept. A half line was
    left by a killed process, never acknowledged, and goes. When the head is ahead of what is there, the end was cut:
    the next line is bound to the head, so that the gap shows for ever.
    """

    def __init__(self, file: int, head: Head) -> None:
        lines = backwards(file)
        tail = next(lines)
        self.tail = tail if _is_whole(tail) else b""
        self.at = os.fstat(file).st_size - (0 if self.tail else len(tail))
        line = self.tail or next(lines, b"")
        entry = read(line, "its last line") if line or self.at else None
        self.last = Link(entry["seq"], entry["hash"]) if entry else None
        told = head.read()
        if told is not None and (self.last is None or self.last.seq <= told.seq):
            self.last = told


def _copied(out: BinaryIO) -> Callable[[bytes], bytes]:
    def copied(line: bytes) -> bytes:
        out.write(line + b"\n")
        return line

    return copied


def _is_whole(tail: bytes) -> bool:
    """Whether what stands behind the last newline is a line that only lacks its own."""
    try:
        return bool(tail) and bool(proven(tail))
    except ValueError:
        return False
