"""How many turns of a process compute at the same time.

Dozens of threads that all want the one interpreter and the same locks pass each other by, and some wait for seconds.
Behind a gate they come one after the other; whoever waits for a model stands outside.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

WIDTH = 2  # one computes while another writes or reads a file


class Gate:
    """First come, first served."""

    def __init__(self, width: int = WIDTH) -> None:
        self._free = width
        self._line: deque[threading.Event] = deque()
        self._own = threading.Lock()

    @contextmanager
    def inside(self) -> Iterator[None]:
        self._enter()
        try:
            yield
        finally:
            self._leave()

    @contextmanager
    def outside(self) -> Iterator[None]:
        """Let another one in meanwhile. For who is inside."""
        self._leave()
        try:
            yield
        finally:
            self._enter()

    def _enter(self) -> None:
        with self._own:
            if self._free:
                self._free -= 1
                return
            mine = threading.Event()
            self._line.append(mine)
        mine.wait()

    def _leave(self) -> None:
        with self._own:
            if self._line:
                self._line.popleft().set()  # the place goes to the next, and nobody slips in between
            else:
                self._free += 1
