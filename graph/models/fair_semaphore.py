"""How many turns of a process compute at the same time.

Dozens of threads that all want the one interpreter and the same locks pass each other by, and some wait for seconds.
Behind this semaphore they come one after the other; who waits for a model releases it meanwhile.
"""

import contextvars
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# The tenant that `outside` lets back in; set where a turn begins.
CURRENT_TENANT: contextvars.ContextVar[str] = contextvars.ContextVar("current_tenant", default="")
WIDTH = 2  # one computes while another writes or reads a file


class FairSemaphore:
    """Tenants take turns: the one that was let in longest ago is next, first come, first served within a tenant. So a
    tenant that sends many long questions delays its own, not those of others."""

    def __init__(self, width: int = WIDTH) -> None:
        self._free = width
        self._line: list[tuple[str, threading.Event]] = []
        self._let_in: dict[str, int] = {}  # tenant: the number of the place that it had last
        self._count = 0
        self._own = threading.Lock()

    @contextmanager
    def inside(self, tenant: str = "") -> Iterator[None]:
        """Hold a place; waits until one is free."""
        self._enter(tenant)
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
            self._enter(CURRENT_TENANT.get())

    def _enter(self, tenant: str) -> None:
        with self._own:
            if self._free:
                self._free -= 1
                self._note(tenant)
                return
            event = threading.Event()
            self._line.append((tenant, event))
        event.wait()

    def _leave(self) -> None:
        with self._own:
            if not self._line:
                self._free += 1
                self._let_in.clear()  # nobody waits: there is nothing to be fair about
                return
            at = min(range(len(self._line)), key=lambda n: self._let_in.get(self._line[n][0], 0))
            tenant, event = self._line.pop(at)
            self._note(tenant)
            event.set()  # the place goes to that one, and nobody slips in between

    def _note(self, tenant: str) -> None:
        self._count += 1
        self._let_in[tenant] = self._count
