"""Who may read what. Asked again for every piece of evidence, after retrieval and whatever retrieval was asked."""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Literal

from graph.context import PUBLIC, Principal, whose

Denied = Literal["tenant", "group", "expired"]


def denied(
    principal: Principal,
    owner: str,
    visibility: str,
    expires: str,
    groups: Collection[str] = (),
    now: datetime | None = None,
) -> Denied | None:
    """None when the principal may read it: it is public or the tenant's own, for all of the tenant or for one of the
    principal's groups, and its retention has not run out.

    `owner` is the name of the space it lies in; `groups` are those of its own record, which must be those of the space;
    `expires` is UTC, ISO 8601, or "".
    """
    tenant, audience = whose(owner)
    if visibility != PUBLIC and tenant != principal.tenant_id:
        return "tenant"
    if audience != frozenset(groups) or (audience and not audience & principal.groups):
        return "group"
    if expires and expires <= (now or datetime.now(UTC)).isoformat(timespec="seconds"):
        return "expired"
    return None
