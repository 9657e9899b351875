"""The journal as a file: one JSON line per entry. What it ought to end with is in a second one (head.py)."""

import fcntl
import os
import threading
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

from graph.audit import chain
from graph.errors import BadInput, NotFound, Unavailable
from graph.files import private_directory
from graph.stores.embedded.backwards import backwards
from graph.stores.embedded.head import Head
from graph.stores.embedded.pages import Pages
from graph.stores.embedded.tenant_chain_heads import TenantChainHeads
from graph.stores.journal import Broken, Entry, Link, Proof


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
        chain.check(entry)  # what cannot be written fails alone
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
            entry = chain.chained(entry, last, owns[tenant])
            made.append(entry)
            last = Link(entry["seq"], entry["hash"])
            if tenant:
                owns[tenant] = Link(entry["tenant_seq"], entry["tenant_hash"])
        if os.fstat(file).st_size > end.at:
            os.ftruncate(file, end.at)
        lines = b"".join([b"\n" * bool(end.tail), *map(chain.line_of, made)])
        if os.pwrite(file, lines, end.at) != len(lines):
            os.ftruncate(file, end.at)
            raise OSError(28, "No space left on device")
        os.fsync(file)
        if last is not None:
            self.head.write(last)
        return made

    def erase(self, run_ids: Collection[str], receipt: dict[str, Any]) -> Entry:
        """The file is written anew beside the old one and takes its place whole."""
        gone, theirs, named = set(run_ids), chain.needle("tenant_id", receipt["tenant_id"]) + b'"', []
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
                        entry = chain.read(line, "a line")
                        if entry.get("run_id", entry.get("about")) in gone and "salt" in entry:
                            named.append(entry["seq"])
                            line = chain.line_of(chain.without_personal(entry, receipt["receipt_id"]))
                    out.write(line)
                own = self._owns.last(file, end.at, receipt["tenant_id"])
                entry = chain.chained({"kind": "erasure", **receipt, "lines": named}, end.last, own)
                out.write(chain.line_of(entry))
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
        wanted = chain.needle(field, begins) if field else b""
        if self.path.exists():
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if wanted in line and (line.endswith(b"\n") or _is_whole(line)):
                        entry = chain.read(line, f"line {number}")
                        if not field or str(entry.get(field, "")).startswith(begins):
                            yield entry

    def newest(self) -> Iterator[Entry]:
        if self.path.exists():
            with self.path.open("rb") as file:
                lines = backwards(file.fileno())
                tail = next(lines)
                if _is_whole(tail):
                    yield chain.read(tail, "its last line")
                for line in lines:
                    yield chain.read(line, "a line near its end")

    def lines(self) -> Iterator[bytes]:
        """A last line without its newline is one if it is whole; the next append removes half a line."""
        if self.path.exists():
            with self.path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        yield line[:-1]
                    elif _is_whole(line):
                        yield line

    def begin(self, lines: Iterable[bytes]) -> Proof:
        fresh = self.path.with_name(f".{self.path.name}.writing")
        with self._locked() as file:
            if os.fstat(file).st_size or self.head.read():
                raise BadInput("there is a journal already.", hint="Name a home that has none.")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                followed = chain.follow(_copied(lines, out))
                out.flush()
                os.fsync(out.fileno())
            if followed.broken is not None:
                fresh.unlink()
                raise BadInput(f"the lines do not hold: {followed.broken.why} ({followed.broken.line}).")
            if followed.last.seq:
                fresh.replace(self.path)
                self.head.write(followed.last)
        return self.prove()

    def tenant_head(self, tenant: str) -> Link:
        with self._locked() if self.path.exists() else nullcontext() as file:
            if file is not None and (link := self._owns.last(file, _End(file, self.head).at, tenant)):
                return link
        raise NotFound(f"the journal has no line of {tenant!r}.", hint="`cordon audit tail` shows whose lines it has.")

    def prove(self, ask: Collection[int] = ()) -> Proof:
        """In one sentence that never says more than the bytes of the journal and its head prove."""
        last = self.head.read()  # before the journal: lines may be added while it is read, and none is taken away
        if self.path.exists():
            return chain.prove(self.lines(), last, ask, beside=self.head.path.name)
        if last is None:
            return Proof(0, "", doubt="there is no journal: nothing is proven")
        return Proof(0, chain.GENESIS, Broken(1, f"the journal is gone: {last.seq} entries were written"))

    def state(self) -> str:
        """Its last whole line proves itself, and it is no shorter than its head says."""
        try:
            head = self.head.read()  # first: lines may be added meanwhile
            if not self.path.exists():
                return "gone" if head or not os.access(self.path.parents[1], os.W_OK) else "ok"
            if not os.access(self.path, os.W_OK):
                return "not writable"
            last = next(self.newest(), None)
            if last is not None and last["hash"] != chain.digest(last):
                return "broken"
            return "cut" if head and (last is None or last["seq"] < head.seq) else "ok"
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
        entry = chain.read(line, "its last line") if line or self.at else None
        self.last = Link(entry["seq"], entry["hash"]) if entry else None
        head_link = head.read()
        if head_link is not None and (self.last is None or self.last.seq <= head_link.seq):
            self.last = head_link


def _copied(lines: Iterable[bytes], out: BinaryIO) -> Iterator[bytes]:
    for line in lines:
        out.write(line + b"\n")
        yield line


def _is_whole(tail: bytes) -> bool:
    """Whether what stands behind the last newline is a line that only lacks its own."""
    try:
        return bool(tail) and bool(chain.proven(tail))
    except ValueError:
        return False
