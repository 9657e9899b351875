"""The last line of each tenant in the journal, which its next one is bound to.

Nothing of it is kept on disk: the journal is looked through from its end back to the tenant's last line, once in a
process, and from then on only what others added. Whoever asks holds the lock on the file.
"""

import os

from graph.audit.chain import tenant_link
from graph.stores.embedded.backwards import backwards
from graph.stores.journal import Link


class TenantChainHeads:
    """The last link of each tenant's chain in one journal file. Call it with the file locked."""

    def __init__(self) -> None:
        self._file = (0, 0)
        self._known: dict[str, Link] = {}
        self._from = self._to = 0  # the bytes that were looked through

    def last(self, file: int, end: int, tenant: str) -> Link | None:
        """Of the whole lines before the byte `end`."""
        stat = os.fstat(file)
        if self._file != (stat.st_dev, stat.st_ino) or end < self._to:  # an erasure, or another home
            self._file, self._known = (stat.st_dev, stat.st_ino), {}
            self._from = self._to = end
        for line in os.pread(file, end - self._to, self._to).split(b"\n"):
            if head := tenant_link(line):
                self._known[head[0]] = head[1]
        self._to = end
        if tenant not in self._known and self._from:
            self._look_back(file, tenant)
        return self._known.get(tenant)

    def _look_back(self, file: int, tenant: str) -> None:
        """Further back than was looked, to the tenant's last line or the journal's beginning."""
        lines = backwards(file, self._from)
        self._from -= len(next(lines))  # nothing, or a last line that lacks its newline: `last` has seen it
        for line in lines:
            self._from -= len(line) + 1
            if (head := tenant_link(line)) and head[0] not in self._known:
                self._known[head[0]] = head[1]
                if head[0] == tenant:
                    return
        self._from = 0
