"""A function that an installed package offers as a detector, under the entry points `cordon.detectors`."""

import hashlib
import queue
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any

from graph.errors import BadSettings

GROUP = "cordon.detectors"
RUNNING = 4  # calls at once: one that was given up goes on


class Function:
    """A callable of a package: (texts) → for each a dict of probabilities by head. It cannot be stopped: one that is
    late is not waited for."""

    def __init__(self, name: str) -> None:
        entries = entry_points(group=GROUP)
        if name not in entries.names:
            offered = ", ".join(sorted(entries.names)) or "none"
            raise BadSettings(
                f"CORDON_DETECTOR: no installed package offers a detector {name!r}.", hint=f"There are: {offered}."
            )
        self._entry = entries[name]
        self._free = threading.Semaphore(RUNNING)

    @cached_property
    def digest(self) -> str:
        """Of its name and its package's name and version; files that the package loads are not covered."""
        package = self._entry.dist
        identity = (self._entry.value, *((package.name, package.version) if package else ()))
        return hashlib.sha256(" ".join(identity).encode()).hexdigest()

    @cached_property
    def _call(self) -> Any:
        try:
            return self._entry.load()
        except Exception as error:
            raise BadSettings(f"CORDON_DETECTOR: {self._entry.value} does not load: {error}.") from error

    def open(self) -> None:
        _ = self._call

    def read(self, texts: Sequence[str], until: float) -> Sequence[Mapping[str, float]]:
        if not self._free.acquire(timeout=max(0.0, until - time.monotonic())):
            raise TimeoutError
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()

        def work() -> None:
            try:
                results.put(self._call(texts))
            except Exception as error:
                results.put(error)
            finally:
                self._free.release()

        threading.Thread(target=work, name="cordon-detector", daemon=True).start()
        try:
            result: Sequence[Mapping[str, float]] | Exception = results.get(timeout=max(0.0, until - time.monotonic()))
        except queue.Empty as error:
            raise TimeoutError from error
        if isinstance(result, Exception):
            raise result
        return result
