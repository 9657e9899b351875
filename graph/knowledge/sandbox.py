"""Reading files of other people in a child process that can be killed, and that has nothing worth stealing.

The child gets the bytes of the file over a pipe and gives the document back as JSON over another. It runs under limits
on memory and processor time, can write no file, and inherits no environment. It is not cut off from the network or
from the files of the account it runs under: for that, run Cordon in a container.
"""

import json
import os
import selectors
import signal
import stat
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graph.errors import BadInput, DocumentError, Quarantined
from graph.knowledge.document import Document

# Longest answer taken from the child, in bytes. A document of the longest text allowed is about half of it.
MAX_ANSWER = 128 * 2**20
# With `-I` a child looks for modules neither in the environment nor in the current folder: it is told this one.
_BOOT = "import sys; sys.path.append(sys.argv[1]); from graph.knowledge.sandbox import _serve; _serve(*sys.argv[3:])"
_HOME = str(Path(__file__).resolve().parents[2])
GRACE = 5.0  # seconds in which a child that has closed its pipe must end
_PIECE = 2**18
_PICTURES = b"pictures "  # an answer that names the pages to be read by text recognition
_REASONS = frozenset(
    (
        "unsupported", "mislabelled", "empty", "encrypted", "scanned", "oversize", "bomb", "broken", "encoding",
        "memory", "page",
    )
)  # fmt: skip


@dataclass(frozen=True)
class Limits:
    """What one file may take: bytes of the file, characters of its text, seconds on the clock (and of processor
    time), bytes of address space of the child."""

    max_bytes: int = 25 * 2**20
    max_text: int = 10_000_000
    seconds: float = 60.0
    memory: int = 2**30


DEFAULT = Limits()


def parse(path: Path, *, filename: str | None = None, limits: Limits = DEFAULT) -> Document:
    """The document in the file at `path`, read in a child process of its own.

    `filename` is what its sender called it; its extension decides the format. Raises DocumentError or Quarantined
    with a reason listed in graph/knowledge/loaders, BadInput when there is no such file.
    """
    with Parser(limits) as parser:
        return parser.parse(path, filename=filename)


def parse_bytes(data: bytes, filename: str, *, limits: Limits = DEFAULT) -> Document:
    """Like `parse`, for bytes that are in memory: an upload, a fetched page."""
    with Parser(limits) as parser:
        return parser.parse_bytes(data, filename)


class Child:
    """A process that answers requests, one after the other: the function `answer(data, request)` of the module that
    `work` names gives each answer. It is started by the first request. Not for use by two threads at once.
    """

    work = ""
    numerical = False  # whether it computes: with numpy, and in threads

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self.limits = limits
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Starts the child before the first request needs it."""
        self._child = self._child or _start(self.limits, self.work, self.numerical)

    @property
    def alive(self) -> bool:
        """Whether it was started and has not ended."""
        return self._child is not None and self._child.poll() is None

    def close(self) -> None:
        """Ends the child. The next request starts another."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                pipe.close()
        child.wait()

    def ask(self, request: dict[str, Any], data: bytes, filename: str) -> bytes:
        """What the child answers about the file. Raises DocumentError or Quarantined where it refuses, fails, or takes
        too long."""
        head = {**request, "filename": filename, "size": len(data), "seconds": self.limits.seconds}
        sound = False  # whether the child may read another file
        try:
            answer = self._exchange(json.dumps(head).encode() + b"\n" + data, filename)
            if answer[:1] == b"D":
                sound = True
                return answer[1:]
            refusal = _refusal(json.loads(answer[1:]))
            sound = refusal.reason != "memory"
            raise refusal
        except (ValueError, KeyError, TypeError) as exc:
            raise _crashed(filename) from exc
        finally:
            if not sound:
                self.close()

    def _exchange(self, request: bytes, filename: str) -> bytes:
        """Sends the request and receives the answer within the time allowed; neither side can block the other."""
        self.start()
        child = self._child
        assert child is not None and child.stdin is not None and child.stdout is not None
        deadline = time.monotonic() + self.limits.seconds
        waiting, received, expected = memoryview(request), bytearray(), -1
        with selectors.DefaultSelector() as selector:
            selector.register(child.stdin, selectors.EVENT_WRITE)
            selector.register(child.stdout, selectors.EVENT_READ)
            while expected < 0 or len(received) < expected:
                left = deadline - time.monotonic()
                events = selector.select(left) if left > 0 else []
                if left <= 0:
                    raise _too_slow(filename, self.limits.seconds)
                for key, _ in events:
                    if key.fileobj is child.stdin:
                        try:
                            waiting = waiting[os.write(child.stdin.fileno(), waiting[:_PIECE]) :]
                        except BrokenPipeError:
                            waiting = waiting[:0]  # it ended; why is told by its answer or its exit status
                        if not waiting:
                            selector.unregister(child.stdin)
                    elif piece := os.read(child.stdout.fileno(), _PIECE):
                        received += piece
                    else:
                        raise self._ended(child, filename)
                if expected < 0 and len(received) >= 8:
                    expected = int.from_bytes(received[:8], "big")
                    del received[:8]
                    if expected > MAX_ANSWER:
                        raise Quarantined("oversize", f"{filename!r} has too much text", hint="split it")
        return bytes(received)

    def _ended(self, child: subprocess.Popen[bytes], filename: str) -> DocumentError:
        """Why a child that gave no answer is gone."""
        try:
            status = child.wait(timeout=GRACE)
        except subprocess.TimeoutExpired:
            return _crashed(filename)
        if status == -signal.SIGXCPU:
            return _too_slow(filename, self.limits.seconds)
        if status == -signal.SIGKILL:  # by the kernel, for want of memory
            return Quarantined("memory", f"reading {filename!r} takes too much memory", hint="split it")
        return _crashed(filename)


class Parser(Child):
    """A child that reads many files and is replaced when a file brings it down.

    Files that one child reads are not protected from each other: use one Parser per sender.
    """

    work = __name__

    def parse(self, path: Path, *, filename: str | None = None) -> Document:
        """As the function `parse`, in this child."""
        name = filename or path.name
        return self.parse_bytes(file_bytes(path, name, self.limits.max_bytes), name)

    def parse_bytes(self, data: bytes, filename: str, *, loader: str = "") -> Document:
        """`loader` as for `graph.knowledge.loaders.load`."""
        if len(data) > self.limits.max_bytes:
            raise _too_large(filename, self.limits.max_bytes)
        from graph.knowledge import recognition

        request: dict[str, Any] = {"max_text": self.limits.max_text, "loader": loader}
        answer = self.ask({**request, "recognised": {} if recognition.available() else None}, data, filename)
        try:
            if answer.startswith(_PICTURES):
                pages = [int(page) for page in json.loads(answer[len(_PICTURES) :])]
                with recognition.Recogniser(self.limits) as recogniser:
                    recognised = recogniser.read(data, filename, pages)
                answer = self.ask({**request, "recognised": recognised or None}, data, filename)
            return Document.from_json(answer.decode())
        except (ValueError, KeyError, TypeError) as exc:
            self.close()
            raise _crashed(filename) from exc


def _start(limits: Limits, work: str, numerical: bool) -> subprocess.Popen[bytes]:
    keep = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}
    child = subprocess.Popen(
        [sys.executable, "-I", "-B", "-X", "utf8", "-c", _BOOT, _HOME, str(limits.memory), work, str(int(numerical))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.defpath, "LANG": "C.UTF-8", **keep},
        cwd="/",
        start_new_session=True,
    )
    assert child.stdin is not None and child.stdout is not None
    os.set_blocking(child.stdin.fileno(), False)
    os.set_blocking(child.stdout.fileno(), False)
    return child


def file_bytes(path: Path, name: str, most: int) -> bytes:
    """What is in the file. Raises Quarantined for more than `most` bytes, BadInput for what is no file to read."""
    try:
        # Not blocking: opening a named pipe would wait for its other end for ever.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as exc:
        why = getattr(exc, "strerror", "") or str(exc)
        raise BadInput(f"cannot read {name!r}: {why}", hint="check the path and its permissions") from exc
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BadInput(f"cannot read {name!r}: it is not a file", hint="give the path of a file")
    with os.fdopen(handle, "rb") as file:
        try:
            data = file.read(most + 1)
        except OSError as exc:
            raise BadInput(f"cannot read {name!r}: {exc.strerror}", hint="check the disk") from exc
    if len(data) > most:
        raise _too_large(name, most)
    return data


def _too_large(name: str, most: int) -> Quarantined:
    return Quarantined(
        "oversize", f"{name!r} is larger than {most / 2**20:.0f} MiB", hint="split it into smaller files"
    )


def _too_slow(name: str, seconds: float) -> Quarantined:
    return Quarantined(
        "timeout",
        f"reading {name!r} took more than {seconds:g} s",
        hint="split it, or save it again in its own program",
    )


def _crashed(name: str) -> DocumentError:
    return DocumentError(
        "broken",
        f"reading {name!r} failed: it is damaged, or too complex for the memory allowed",
        hint="open it in its own program and save it again, or split it",
    )


def _refusal(fields: dict[str, Any]) -> DocumentError:
    if fields["reason"] not in _REASONS:
        raise ValueError(f"unknown reason {fields['reason']!r}")
    kind = Quarantined if fields["quarantined"] is True else DocumentError
    return kind(fields["reason"], str(fields["message"])[:500], hint=str(fields["hint"])[:500])


def _serve(work: str, numerical: str) -> None:
    """The child: reads requests from standard input until it ends, and answers each."""
    import resource

    def limit(kind: int, most: int) -> None:
        # One that stands lower already stays: only a privileged process could raise it.
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))

    limit(resource.RLIMIT_AS, int(sys.argv[2]))
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_CORE, 0)
    # Libraries may print; the pipe is for answers only.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if numerical == "0":
        limit(resource.RLIMIT_NPROC, 0)
        sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl imports it only to know its types: 0.1 s
    answer = import_module(work).answer
    while head := sys.stdin.buffer.readline():
        request = json.loads(head)
        data = sys.stdin.buffer.read(request["size"])
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime + request["seconds"]) + 2
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        reply = answer(data, request)
        answers.write(len(reply).to_bytes(8, "big") + reply)
        answers.flush()


def answer(data: bytes, request: dict[str, Any]) -> bytes:
    """In the child of a Parser: the document, or why it is refused."""
    from graph.knowledge.loaders import load
    from graph.knowledge.loaders.picture import Unrecognised

    raw = request["recognised"]
    recognised = raw and {int(page): lines for page, lines in raw.items()}
    try:
        document: Document = load(
            data, request["filename"], max_text=request["max_text"], loader=request["loader"], recognised=recognised
        )
        return b"D" + document.to_json().encode()
    except Unrecognised as error:
        return b"D" + _PICTURES + json.dumps(error.pages).encode()
    except (DocumentError, MemoryError) as error:
        return refusal(error)


def refusal(error: DocumentError | MemoryError) -> bytes:
    """As a child tells it."""
    if isinstance(error, MemoryError):
        error = Quarantined("memory", "reading the file takes too much memory", hint="split it")
    fields = {"reason": error.reason, "message": str(error), "hint": error.hint}
    return b"E" + json.dumps({**fields, "quarantined": isinstance(error, Quarantined)}).encode()
