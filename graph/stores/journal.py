"""The journal: one entry per run, durable before its answer leaves, each bound to the one before by its hash; and lists
beside it whose rows can be taken out again.

How an entry is written, bound and proven is graph/audit/chain.py, the same for every store. What could tell of a person
is bound by a salted hash of its own, so that it can be erased later and the chain still holds: an erased entry must be
named by an erasure entry, or the journal does not verify.

Promises. Order: entries are numbered from 1 without a gap in one chain, whoever writes, and those of each tenant in one
of their own as well. An entry is durable when `append` returns, and one that could not be written leaves nothing. An
erasure happens whole or not at all. Isolation: `erase` and `page` read no other tenant's entries, and nothing that
`page` shows hangs on them. Concurrency: threads and processes may share one. Errors: Unavailable when an entry cannot
be written or read, ValueError for one that could not be proven; a look whose file cannot be opened raises OSError.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Entry = dict[str, Any]
Row = dict[str, Any]
# `personal_sha256` is the line's name for its own tenant, as `id`: its salt makes it one of a kind, an erasure leaves
# it, and it binds no place. Only a line that may hold something personal has one: others that are shown have a `note`,
# if an empty one. The salt itself would let whoever kept a page try out what an erased line held. The folder is the
# machine's, and an error's text names servers, files and settings.
_NOT_SHOWN = frozenset({"seq", "prev", "hash", "lines", "salt", "personal_sha256", "artifacts", "error"})


def shown(entry: Entry) -> Entry:
    """An entry as a page shows it to its own tenant: nothing that depends on other tenants' lines."""
    return {"id": entry.get("personal_sha256", ""), **{k: v for k, v in entry.items() if k not in _NOT_SHOWN}}


@dataclass(frozen=True)
class Link:
    """A line's place, from 1, and its hash: what the next one is bound to."""

    seq: int
    hash: str


@dataclass(frozen=True)
class Broken:
    """Where the chain does not hold: line number from 1, and why."""

    line: int
    why: str


@dataclass(frozen=True)
class Proof:
    """`broken` is what does not hold; `doubt` why nothing is proven although nothing is broken. `asked` are the lines
    at the places that were asked for, of a proof that holds."""

    entries: int
    head: str
    broken: Broken | None = None
    doubt: str = ""
    asked: Sequence[Link] = ()

    @property
    def holds(self) -> bool:
        """Whether there is a journal and all of it is proven."""
        return self.broken is None and not self.doubt

    @property
    def says(self) -> str:
        """The proof in one sentence, for people."""
        if self.broken is not None:
            return f"broken at line {self.broken.line}: {self.broken.why}"
        return self.doubt or f"{self.entries} entries, unbroken; head {self.head}"


class Journal(Protocol):
    """One chain of entries for all tenants, and in it one for each."""

    def append(self, entry: Entry) -> Entry:
        """Write the entry with `seq`, `prev` and `hash` added; returns it once it is durable.

        Raises Unavailable when it cannot be: then no answer may leave.
        """

    def erase(self, run_ids: Collection[str], receipt: dict[str, Any]) -> Entry:
        """Take what is personal out of these runs' entries, and of what was said about them, and add the receipt, an
        entry of kind `erasure`, in one step. The runs are of the receipt's tenant. Returns the receipt as chained."""

    def entries(self, field: str = "", begins: str = "") -> Iterator[Entry]:
        """Every entry, oldest first; with a field only those in which this text begins so, found quickly."""

    def newest(self) -> Iterator[Entry]:
        """Every entry, the last one first."""

    def lines(self) -> Iterator[bytes]:
        """The bytes of every line, without its newline, oldest first."""

    def begin(self, lines: Iterable[bytes]) -> Proof:
        """Go on where another journal ended: take its lines as they are, all or none, and prove them. Raises BadInput
        when there are lines already, or these do not hold."""

    def page(
        self, tenant: str, *, limit: int, day: str = "", after: str | None = None, before: str | None = None
    ) -> list[Entry]:
        """The tenant's last entries of the day (of all days when ""), those before one, or the next ones after one,
        oldest first, without what is not the tenant's to see. `after` and `before` are an `id`, or the run_id of a run:
        all of its entries.

        Raises NotFound when the tenant has no such entry or run.
        """

    def tenant_head(self, tenant: str) -> Link:
        """Place and hash of the tenant's last entry in its own chain. Raises NotFound when it has none."""

    def prove(self, ask: Collection[int] = ()) -> Proof:
        """What the journal proves, and the hashes of the entries at these places, from 1. A proof without `broken` does
        not say that there is a journal: `holds` does."""

    def state(self) -> str:
        """ "ok", or a word for why the next entry could not be written behind the last one."""


class Rows(Protocol):
    """A list of rows that are not part of the chain."""

    def append(self, row: Row) -> None:
        """Add a row at the end."""

    def all(self) -> list[Row]:
        """In the order in which they were added."""

    def forget(self, gone: Callable[[Row], bool]) -> int:
        """Erase the rows for which this holds. Returns how many it was."""
