"""A tenant's own lines of the journal, proven away from it: as `GET /v1/audit` and `cordon audit export` give them.

They show nothing that depends on another tenant: to check them takes neither the journal nor its operator. What is
personal in them is bound by a hash whose salt stays in the journal: here it is not proven, but for what was erased.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from graph.audit.chain import GENESIS, tenant_digest
from graph.errors import BadInput
from graph.stores.journal import Broken, Entry, Link


@dataclass(frozen=True)
class TenantChain:
    """The place of the first line, the last link that holds, and the hash at each place up to it."""

    tenant: str
    first: int
    last: Link
    hashes: dict[int, str] = field(repr=False)
    broken: Broken | None  # at a line of the file

    @property
    def says(self) -> str:
        """The result in a sentence, as a person reads it."""
        if self.broken is not None:
            return f"broken at line {self.broken.line}: {self.broken.why}"
        many = self.last.seq - self.first + 1
        return f"{many} entries of {self.tenant}, {self.first} to {self.last.seq}, unbroken; head {self.last.hash}"


def read(file: Path) -> list[Entry]:
    """The entries in a file, one a line, or as the service gives a page of them. Raises BadInput for anything else."""
    try:
        text = file.read_text()
        page = json.loads(text) if text.lstrip().startswith('{"entries"') else None
        entries = page["entries"] if page else [json.loads(line) for line in text.splitlines() if line.strip()]
        if not entries or not all(isinstance(entry, dict) for entry in entries):
            raise ValueError
        return list(entries)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(
            f"{file} holds no entries of a journal.", hint="`cordon audit export --tenant T > FILE` writes them."
        ) from error


def follow(entries: Sequence[Entry]) -> TenantChain:
    """Prove that each is as it was written, of one tenant, and follows the one before; erased only where a receipt in
    the file says so. Older entries that stand in no such chain may come first, and prove nothing."""
    entries = list(_chained(entries))
    tenant, first = str(entries[0]["tenant_id"]), int(entries[0]["tenant_seq"])
    last = Link(first - 1, GENESIS if first == 1 else str(entries[0]["tenant_prev"]))
    receipts = {entry.get("receipt_id") for entry in entries if entry.get("kind") == "erasure"}
    hashes: dict[int, str] = {}
    why = ""
    for number, entry in enumerate(entries, 1):
        known = {key: value for key, value in entry.items() if key != "id"}
        if entry.get("id"):
            known["personal_sha256"] = entry["id"]
        if entry.get("tenant_hash") != tenant_digest(known):
            why = "it was changed after it was written"
        elif entry["tenant_id"] != tenant:
            why = "it is another tenant's"
        elif (entry["tenant_seq"], entry["tenant_prev"]) != (last.seq + 1, last.hash):
            why = "one before it is missing, added or out of order"
        elif entry.get("erased", "") and entry["erased"] not in receipts:
            why = "it was erased, and no receipt for it is among these lines"
        if why:
            return TenantChain(tenant, first, last, hashes, Broken(number, why))
        last = Link(last.seq + 1, entry["tenant_hash"])
        hashes[last.seq] = last.hash
    return TenantChain(tenant, first, last, hashes, None)


def _chained(entries: Sequence[Entry]) -> Iterable[Entry]:
    begun = next((at for at, entry in enumerate(entries) if "tenant_seq" in entry), None)
    if begun is None:
        raise BadInput("none of these entries stands in a chain of its tenant.", hint="They are of an older version.")
    for entry in entries[begun:]:
        if not isinstance(entry.get("tenant_seq"), int) or not isinstance(entry.get("tenant_prev"), str):
            entry = {**entry, "tenant_seq": 0, "tenant_prev": "", "tenant_hash": ""}
        yield {"tenant_id": "", **entry}
