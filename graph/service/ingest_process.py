"""Uploads are read in a process of their own: no file holds up or brings down the process that answers.

All of ingestion happens there: parsing (in a child of its own again, graph/knowledge/sandbox.py), inspecting, cutting,
embedding, storing. It gives way to whoever answers, has a limit on memory, and is ended with a file that takes too
long. It ends with the service, whatever it is at: a file is stored whole or not at all.

Messages are JSON objects on a socket pair: the settings, answered by {"ready"}, then a source at a time, answered by
{"outcome"} or {"error"}. `cordon ingest --workers` has several (graph/service/spread.py).
"""

import json
import os
import resource
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph.errors import Unavailable
from graph.knowledge.ingest import Outcome, Source
from graph.service.processes import START_S, failure, raised, start_child
from graph.settings import Settings

if TYPE_CHECKING:
    from graph.knowledge.index import Index

MEMORY = 3 * 2**30  # bytes of address space
NICE = 10
LOOK_S = 0.2  # how often `go_on` is called while a file is read
_BOOT = (
    "import sys; sys.path.append(sys.argv[1]); from graph.service.ingest_process import main;"
    " main(*map(int, sys.argv[2:]))"
)


class Ended(Exception):
    """The process ended, or was ended, while it read. `why` is for people; `killed` when something else ended it."""

    def __init__(self, why: str, *, killed: bool = False) -> None:
        super().__init__(why)
        self.why, self.killed = why, killed


class IngestProcess:
    """Not for two threads at once. `lease` holds the stores (graph/stores/leases.py). `alone`: no other process removes
    expired documents from the spaces of a source, and syncs them."""

    def __init__(self, settings: Settings, lease: tuple[int, ...], *, alone: bool = True) -> None:
        self._settings, self._lease, self._alone = settings, lease, alone
        self._child: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def read(self, source: Source, go_on: Callable[[], None]) -> Outcome:
        """Read the source. `go_on` is called several times a second; what it raises ends the reading.

        Raises Ended when the process was brought down by the file, Unavailable when the index fails.
        """
        try:
            line = self._line or self._start(go_on)
            answer = self._exchange(line, source, go_on)
        except (EOFError, OSError):
            self.close()
            raise Ended("the process that read it was ended from outside, or lacked memory", killed=True) from None
        except BaseException:
            self.close()
            raise
        if "outcome" in answer:
            return Outcome(**answer["outcome"])
        self.close()  # whatever went wrong there: the next file finds a new one
        if answer["error"]["type"] == "MemoryError":
            raise Ended("it takes too much memory")
        raise raised(answer["error"])

    def _exchange(self, line: Connection, source: Source, go_on: Callable[[], None]) -> dict[str, Any]:
        line.send_bytes(json.dumps({"source": as_json(source), "alone": self._alone}).encode())
        deadline = time.monotonic() + self._settings.ingest_seconds
        while not line.poll(LOOK_S):
            go_on()
            if time.monotonic() > deadline:
                raise Ended(f"it takes more than {self._settings.ingest_seconds} s")
        answer: dict[str, Any] = json.loads(line.recv_bytes())
        return answer

    def _start(self, go_on: Callable[[], None]) -> Connection:
        child, line = start_child(_BOOT, self._settings, self._lease)
        try:
            deadline = time.monotonic() + START_S
            while not line.poll(LOOK_S):
                go_on()
                if time.monotonic() > deadline:
                    raise TimeoutError
            line.recv_bytes()
        except BaseException as error:
            child.kill()
            child.wait()
            line.close()
            if isinstance(error, EOFError | OSError):  # not the file's fault: it was not asked for yet
                raise Unavailable("the process that reads did not start.", hint="Is there memory left?") from error
            raise
        self._child, self._line = child, line
        return line

    def close(self) -> None:
        """End the process, within a file too. The next source gets another one."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        if self._line is not None:
            self._line.close()
        self._child = self._line = None


def as_json(source: Source) -> dict[str, Any]:
    """The source as JSON can carry it; `from_json` reads it."""
    return asdict(source) | {"path": str(source.path), "within": source.within and str(source.within)}


def from_json(data: dict[str, Any]) -> Source:
    """The source that `as_json` wrote."""
    known = {"spaces": tuple(data["spaces"]), "path": Path(data["path"])}
    return Source(**{**data, **known, "within": data["within"] and Path(data["within"])})


def given_up(name: str, why: str) -> Outcome:
    """The outcome of a file that brings down the process that reads it."""
    return Outcome(
        name, "", "quarantined", f"too_much: reading {name!r} was given up: {why}. Split it, or simplify it."
    )


def main(line: int, *lease: int) -> None:
    """The process. It keeps `lease` open as long as it lives: until then nobody else opens the stores."""
    os.nice(NICE)
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):  # a terminal tells the whole group; the service decides
        signal.signal(asked_to_stop, signal.SIG_IGN)
    connection = Connection(line)
    threading.Thread(target=_end_with_the_service, args=[line], daemon=True).start()
    settings = Settings(**json.loads(connection.recv_bytes()))

    from graph.knowledge.ingest import LocalIngestor, ingest
    from graph.knowledge.inspection import inspect

    index = index_of(settings)
    ingestor = LocalIngestor(index, settings, inspect)
    with suppress(OSError):
        connection.send_bytes(b'{"ready": true}')
    while True:
        try:
            request = json.loads(connection.recv_bytes())
        except (EOFError, OSError):
            os._exit(0)
        source = from_json(request["source"])
        try:
            outcome = (
                ingest([source], index, settings, inspect=inspect)[0] if request["alone"] else ingestor.read(source)
            )
            answer = {"outcome": asdict(outcome)}
        except BaseException as error:  # whatever it is: somebody waits for an answer
            answer = failure(error)
        with suppress(OSError):
            connection.send_bytes(json.dumps(answer).encode())


def index_of(settings: Settings) -> "Index":
    """The index in the stores of a service, which other processes have open too."""
    from graph.deps import stores
    from graph.knowledge.embeddings import embedder
    from graph.knowledge.index import Index

    embeds, opened = embedder(settings), stores(settings, serves=True)
    return Index(opened.spaces(embeds.name), embeds, opened.journal)


def _end_with_the_service(line: int) -> None:
    """The socket's other end is closed when the service is gone, killed ones too."""
    gone = select.poll()
    gone.register(line, 0)  # a hang-up is reported even where no event is asked for
    while not any(event & select.POLLHUP for _, event in gone.poll(None)):
        pass
    os._exit(1)
