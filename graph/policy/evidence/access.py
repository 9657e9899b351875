"""Who may read what. Asked again for every piece of evidence, after retrieval and whatever retrieval was asked."""

from datetime import UTC, datetime
from typing import Literal

from graph.context import PUBLIC, Principal

Denied = Literal["tenant", "expired"]


def denied(
    principal: Principal, owner: str, visibility: str, expires: str, now: datetime | None = None
) -> Denied | None:
    """None when the principal may read it: it is public or the tenant's own, and its retention has not run out.

    `owner` is the tenant whose space it lies in; `expires` is UTC, ISO 8601, or "".
    """
    if visibility != PUBLIC and owner != principal.tenant_id:
        return "tenant"
    if expires and expires <= (now or datetime.now(UTC)).isoformat(timespec="seconds"):
        return "expired"
    return None
