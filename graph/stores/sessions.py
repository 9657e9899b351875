"""Sessions of people who signed in, by the keyed hash of their secrets (graph/service/sessions.py makes and compares
them).

Promises. What is written is durable when the call returns and seen by the next call of every process, so that a session
that was ended opens nothing from the next request on. A session that ended stays known until it would have run out: its
id cannot be used again. Nothing here needs the lease of the stores. Concurrency: threads and processes may share one.
Errors: Unavailable.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, Protocol


@dataclass(frozen=True)
class Session:
    """Times are seconds since 1970. `expires` is the latest end, `seen` the last use, to within a tenth of the idle
    time. `hint` is the ID token, sealed with the session's secret, for signing out at the provider; b"" when there is
    none."""

    session_id: str
    tenant_id: str
    user_id: str
    role: str
    name: str  # of the person, as the provider shows it
    created: float
    seen: float
    expires: float
    ended: bool = False
    groups: tuple[str, ...] = ()  # of the tenant, in order
    hashed: bytes = field(default=b"", repr=False)
    hint: bytes = field(default=b"", repr=False)


class SessionStore(Protocol):
    """Sessions by id, for all tenants."""

    def add(self, session: Session, now: float) -> bool:
        """False, and nothing changes, when one of its id is known. Those that ran out before `now` are erased."""

    def find(self, session_id: str) -> Session | None:
        """None for one that is not known; one that ended or ran out is found."""

    def all(self, tenant_id: str = "") -> list[Session]:
        """Every session, or a tenant's, oldest first; those that ended or ran out too."""

    def use(self, session_id: str, seen: float) -> None:
        """It was used just then."""

    def end(self, session_id: str) -> None:
        """Nothing happens to one that has ended already, or is not there."""

    def forget(self, tenant_id: str, user_id: str = "") -> int:
        """Erase a tenant's sessions, or one user's of it, bytes included. Returns how many it was."""

    def close(self) -> None:
        """Let go of what is open. The next use opens it again."""


def row_of(session: Session) -> tuple[Any, ...]:
    """As a table keeps it."""
    *rest, groups, hashed, hint = astuple(session)
    return (*rest, ",".join(groups), hashed, hint)


def session_of(row: Sequence[Any]) -> Session:
    """The session of a row that `row_of` made."""
    *rest, ended, groups, hashed, hint = row
    named = tuple(groups.split(",")) if groups else ()
    return replace(Session(*rest), ended=bool(ended), groups=named, hashed=bytes(hashed), hint=bytes(hint))
