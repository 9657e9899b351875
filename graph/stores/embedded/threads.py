"""One lock for each thread in use: two turns of one thread at once would lose one of them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary


class ByThread:
    """Among the turns of this process, which hands them all out."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[str, _Lock] = WeakValueDictionary()
        self._own = threading.Lock()

    @contextmanager
    def __call__(self, thread: str) -> Iterator[None]:
        with self._own:
            lock = self._locks.setdefault(thread, _Lock())
        with lock.mutex:
            yield


class _Lock:
    def __init__(self) -> None:
        self.mutex = threading.Lock()
