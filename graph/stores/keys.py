"""API keys, by the keyed hash of their secrets (graph/service/keys.py makes and compares them).

Promises. What is written is durable when the call returns and seen by the next call of every process, so that a revoked
key is refused by the next request of a service that runs. Nothing here needs the lease of the stores. The pepper, the
key of the hashes, is kept apart from them: a copy of the one alone is of no use. Concurrency: threads and processes may
share one. Errors: Unavailable.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any, Protocol

from graph.timestamps import timestamp


@dataclass(frozen=True)
class Key:
    """What is known of a key. Times are UTC, ISO 8601; `revoked` is "" until it is, `expires` when it never does."""

    key_id: str
    tenant_id: str
    user_id: str
    role: str
    created: str
    revoked: str = ""
    expires: str = ""
    groups: tuple[str, ...] = ()  # of the tenant, in order

    @property
    def valid(self) -> bool:
        """Whether it is neither revoked nor expired now."""
        return not self.revoked and not (self.expires and self.expires <= timestamp())


class KeyStore(Protocol):
    """Keys with the hashes of their secrets."""

    def pepper(self, first: bytes = b"") -> bytes:
        """32 random bytes, made once and the same for all who share the store. Where there are none yet, `first` is
        taken: the pepper of the store that the keys come from."""

    def add(self, key: Key, hashed: bytes) -> None:
        """`hashed` is the keyed hash of its secret."""

    def all(self, tenant_id: str = "") -> list[Key]:
        """Every key, or a tenant's, oldest first; revoked and expired ones too."""

    def find(self, key_id: str) -> tuple[Key, bytes] | None:
        """The key of that id, and its hash."""

    def revoke(self, key_id: str, at: str) -> None:
        """Nothing happens to one that is revoked already, or not there."""

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        """Erase a tenant's keys, or one user's of it, bytes included. Returns how many it was."""

    def close(self) -> None:
        """Let go of what is open. The next use opens it again."""


def row_of(key: Key) -> tuple[str, ...]:
    """As a table keeps it."""
    return (*astuple(key)[:-1], ",".join(key.groups))


def key_of(row: Sequence[Any]) -> Key:
    """The key of a row that `row_of` made."""
    groups = tuple(row[-1].split(",")) if row[-1] else ()
    return replace(Key(*row[:-1]), groups=groups)
