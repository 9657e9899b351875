"""The latest of what is costly to make, for a while, in memory."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """At most `most()` bytes of them by `size`, and none longer than `seconds`. Threads may share it."""

    def __init__(self, size: Callable[[T], int], most: Callable[[], int], seconds: float) -> None:
        self._size, self._most, self._seconds = size, most, seconds
        self._entries: OrderedDict[str, tuple[float, T]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: str) -> T | None:
        """None where it was never put, or is too old, or had to make room."""
        with self._lock:
            self._drop()
            entry = self._entries.get(key)
            return entry[1] if entry else None

    def put(self, key: str, value: T) -> None:
        """The oldest entries make room."""
        with self._lock:
            self._entries[key] = (time.monotonic(), value)
            self._drop()

    def forget(self) -> None:
        """Drop all entries."""
        with self._lock:
            self._entries.clear()

    def bytes(self) -> int:
        """The sum of the entries' sizes."""
        return sum(self._size(value) for _, value in self._entries.values())

    def _drop(self) -> None:
        before = time.monotonic() - self._seconds
        while self._entries and (next(iter(self._entries.values()))[0] < before or self.bytes() > self._most()):
            self._entries.popitem(last=False)
