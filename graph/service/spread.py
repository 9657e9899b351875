"""Ingestion by several at once: processes of this machine, or the workers of a Dask cluster on the same database.

Each reads a file at a time, from parsing to storing. A document is stored whole or not at all, and what is there is
left as it is: after a kill the same command goes on where it ended. Files whose ids could meet, and files of the same
content, are read one after the other, so that every document gets the id that it would get from one process.
"""

import hashlib
import queue
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from graph.errors import BadInput, BadSettings, CordonError, Unavailable
from graph.knowledge.ingest import Outcome, Source, base_id, contents, refused
from graph.service.ingest_process import Ended, IngestProcess, as_json, from_json, given_up, index_of
from graph.service.processes import failure, raised
from graph.settings import Settings

MOST = 64  # processes
TRIES = 2  # of a file whose reader was brought down
# The settings that decide what is stored of a file: workers of a cluster have settings of their own, and must agree.
_SHAPING = (
    *("embeddings", "embeddings_passage", "embeddings_pooling", "chunk_tokens", "chunk_overlap", "planted", "mask"),
    *("max_file_mb", "parse_seconds"),
)


class IngestWorker(Protocol):
    """Reads one file at a time."""

    def read(self, source: Source, go_on: Callable[[], None]) -> Outcome:
        """`go_on` is called now and then; what it raises ends the reading."""

    def close(self) -> None:
        """Called once, after the last file."""


class _Stopped(Exception):
    """Another worker failed, so all of them stop."""


class Spread:
    """`graph.knowledge.ingest.Readers`, with these workers. `expect` hears how many files there are."""

    def __init__(self, settings: Settings, workers: Sequence[IngestWorker], expect: Callable[[int], None]) -> None:
        self._settings, self._workers, self._expect = settings, workers, expect
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._contents: dict[tuple[tuple[str, ...], str], threading.Lock] = {}

    def __call__(self, sources: Sequence[Source]) -> Iterator[tuple[int, Outcome]]:
        self._expect(len(sources))
        left: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        for group in _groups(sources):
            left.put(group)
        done: queue.SimpleQueue[tuple[int, Outcome] | BaseException | None] = queue.SimpleQueue()
        threads = [
            threading.Thread(target=self._work, args=[worker, sources, left, done], name="cordon-ingest")
            for worker in self._workers
        ]
        for thread in threads:
            thread.start()
        working = len(threads)
        try:
            while working:
                match done.get():
                    case None:
                        working -= 1
                    case BaseException() as error:
                        raise error
                    case indexed:
                        yield indexed
        finally:
            self._over.set()
            for thread in threads:
                thread.join()
            self._over.clear()

    def _work(
        self,
        worker: IngestWorker,
        sources: Sequence[Source],
        left: "queue.SimpleQueue[list[int]]",
        done: "queue.SimpleQueue[tuple[int, Outcome] | BaseException | None]",
    ) -> None:
        try:
            while True:
                for at in left.get_nowait():
                    self._go_on()
                    with self._content(sources[at]):
                        done.put((at, self._read(worker, sources[at])))
        except queue.Empty:
            done.put(None)
        except _Stopped:
            pass
        except BaseException as error:
            done.put(error)
        finally:
            worker.close()

    def _read(self, worker: IngestWorker, source: Source) -> Outcome:
        for again in range(TRIES):
            try:
                return worker.read(source, self._go_on)
            except Ended as ended:
                if not ended.killed or again:
                    return given_up(source.name, ended.why)
        raise AssertionError

    def _go_on(self) -> None:
        if self._over.is_set():
            raise _Stopped

    def _content(self, source: Source) -> threading.Lock:
        try:
            sha256 = hashlib.sha256(contents(source, self._settings)).hexdigest()
        except CordonError:
            sha256 = ""  # whoever reads it says what is wrong
        with self._lock:
            return self._contents.setdefault((source.spaces, sha256), threading.Lock())


def _groups(sources: Sequence[Source]) -> list[list[int]]:
    """Groups of positions in `sources`: those whose ids could meet are in one group, in order, for one worker."""
    groups = defaultdict[str, list[int]](list)
    for at, source in enumerate(sources):
        groups[source.doc_id or base_id(source.name)[0]].append(at)
    return list(groups.values())


# -- processes of this machine ---------------------------------------------------------------------------------------


def processes(settings: Settings, lease: tuple[int, ...], workers: int, expect: Callable[[int], None]) -> Spread:
    """As many processes as `workers`, 1 to 64. `lease` holds the stores. Raises BadInput."""
    if not 1 <= workers <= MOST:
        raise BadInput(f"--workers is 1 to {MOST}, not {workers}.")
    return Spread(settings, [IngestProcess(settings, lease, alone=False) for _ in range(workers)], expect)


# -- a Dask cluster --------------------------------------------------------------------------------------------------


@contextmanager
def cluster(settings: Settings, scheduler: str, expect: Callable[[int], None]) -> Iterator[Spread]:
    """All worker threads of the Dask scheduler at this address. Raises BadSettings without a database or without
    Dask, Unavailable when the cluster is away or has no worker."""
    if not settings.database_url.get_secret_value():
        raise BadSettings(
            "the workers of a cluster need a database that all of them reach.",
            hint="Set CORDON_DATABASE_URL, here and for each worker.",
        )
    try:
        from distributed import Client
    except ImportError as error:
        raise BadSettings("Dask is not installed.", hint="pip install 'cordon[dask]'.") from error
    try:
        client = Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise Unavailable(
            f"there is no Dask scheduler at {scheduler[:80]!r}.", hint="`dask scheduler` starts one."
        ) from error
    try:
        many = sum(client.nthreads().values())
        if not many:
            raise Unavailable("the cluster has no workers.", hint=f"`dask worker {scheduler}` starts one.")
        shape = _shape(settings)
        yield Spread(settings, [_DaskWorker(client, settings, shape) for _ in range(many)], expect)
    finally:
        client.close()


def _shape(settings: Settings) -> dict[str, str]:
    url = urlsplit(settings.database_url.get_secret_value())
    place = f"{url.hostname}:{url.port}{url.path}?{url.query}"
    return {name: str(getattr(settings, name)) for name in _SHAPING} | {"database_url": place}


class _DaskWorker:
    """One thread of the cluster. The file goes there with the question: the workers do not see this machine's disk."""

    def __init__(self, client: Any, settings: Settings, shape: dict[str, str]) -> None:
        self._client, self._settings, self._shape = client, settings, shape

    def read(self, source: Source, go_on: Callable[[], None]) -> Outcome:
        from distributed import TimeoutError as StillReading

        try:
            data = contents(source, self._settings)
        except CordonError as error:
            return refused(source, error)
        future = self._client.submit(read_there, as_json(source), data, self._shape, pure=False)
        while True:
            try:
                answer = future.result(timeout=1)
                break
            except StillReading:
                go_on()
        if "outcome" in answer:
            return Outcome(**answer["outcome"])
        raise raised(answer["error"])

    def close(self) -> None:
        """All workers share the connection, which `cluster` closes."""


def read_there(source: dict[str, Any], data: bytes, shape: dict[str, str]) -> dict[str, Any]:
    """Runs on a worker, with the settings of its environment: {"outcome"} or {"error"}."""
    try:
        settings, local = _opened()
        own = _shape(settings)
        if differing := sorted(name for name in shape if own.get(name) != shape[name]):
            raise BadSettings(
                f"a worker of the cluster has other settings: {', '.join(differing)}.",
                hint="Give the workers the same CORDON_ settings as the machine that ingests.",
            )
        with tempfile.NamedTemporaryFile(prefix="cordon-") as file:
            file.write(data)
            file.flush()
            outcome = local.ingestor.read(replace(from_json(source), path=Path(file.name), within=None))
        return {"outcome": asdict(outcome)}
    except CordonError as error:
        return failure(error)


class _Local(threading.local):
    def __init__(self) -> None:
        from graph.knowledge.ingest import LocalIngestor
        from graph.knowledge.inspection import inspect

        settings, index = _index()
        self.ingestor = LocalIngestor(index, settings, inspect)


@cache
def _opened() -> tuple[Settings, _Local]:
    return _index()[0], _Local()


@cache
def _index() -> tuple[Settings, Any]:
    from graph.settings import load

    settings = load()
    return settings, index_of(settings)
