"""The head: place and hash of the journal's last line, in a small file beside it.

A journal that was emptied or whose end was cut is a whole chain all the same; what it ought to end with is here. It is
written after the line is on disk, so a killed process leaves it behind the journal and never ahead of it. It holds
nothing that the journal does not hold.
"""

import json
import os
import re
from contextlib import suppress
from pathlib import Path

from graph.audit.chain import canonical
from graph.stores.journal import Link

_HASH = re.compile(r"[0-9a-f]{64}")


class Head:
    """The file beside one journal."""

    def __init__(self, journal: Path) -> None:
        self.path = journal.with_suffix(".head")

    def read(self) -> Link | None:
        """None when there is none, or none that can be read."""
        try:
            stored = json.loads(self.path.read_bytes())
            link = Link(stored["seq"], stored["hash"])
            return link if type(link.seq) is int and link.seq > 0 and _HASH.fullmatch(link.hash) else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, link: Link) -> None:
        """Written in place, as it is written for every line. That it could not be is no reason to take back a line
        that is on disk: a head that stayed behind proves less and claims nothing wrong."""
        text = canonical({"hash": link.hash, "seq": link.seq}).encode() + b"\n"
        with suppress(OSError):
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, text, 0)
                os.ftruncate(file, len(text))
            finally:
                os.close(file)
