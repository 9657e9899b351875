"""Child processes that read and draw pages of documents. One stands ready: to start it takes longer than to draw."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from graph.knowledge.sandbox import Child, Limits
from graph.stores.spaces import MOST_ORIGINAL

LIMITS = Limits(max_bytes=MOST_ORIGINAL, seconds=10.0, memory=2**30)
IDLE_S = 600.0  # how long one waits that nobody needs: it takes 21 MB


class Drawer(Child):
    """Answers what graph/knowledge/page_drawing.py does."""

    work = "graph.knowledge.page_drawing"


class Drawers:
    """Gives each caller a child that nobody had before. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ready: Drawer | None = None
        self._idle: threading.Timer | None = None

    @contextmanager
    def new(self) -> Iterator[Drawer]:
        """A child for the length of the block. When it ends, so does the child, and the next one is started."""
        with self._lock:
            drawer, self._ready = self._ready or Drawer(LIMITS), None
        with drawer:
            if not drawer.alive:
                drawer.close()
            yield drawer
        with self._lock:
            if self._ready is None:
                self._ready = Drawer(LIMITS)
                self._ready.start()
            if self._idle:
                self._idle.cancel()
            self._idle = threading.Timer(IDLE_S, self.close)
            self._idle.daemon = True
            self._idle.start()

    def close(self) -> None:
        """Ends the child that stands ready."""
        with self._lock:
            drawer, self._ready = self._ready, None
            if self._idle:
                self._idle.cancel()
        if drawer:
            drawer.close()
