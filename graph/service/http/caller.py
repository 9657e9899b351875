"""Who calls: set once by authentication, read by every door behind it."""

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from graph.context import Principal, Role
from graph.errors import Forbidden
from graph.service.http.limits import Ticket
from graph.stores.sessions import Session

Permission = Literal["ask", "read", "upload", "delete", "release", "review", "audit", "observe"]
# Who may do what. An auditor sees the record of what was done and no content beside it; an admin does not audit itself.
# What the whole service does is the operator's to see: it tells of every tenant.
PERMISSIONS: dict[Role, frozenset[Permission]] = {
    "member": frozenset({"ask", "read"}),
    "uploader": frozenset({"ask", "read", "upload"}),
    "admin": frozenset({"ask", "read", "upload", "delete", "release"}),
    "auditor": frozenset({"audit"}),
    "reviewer": frozenset({"ask", "read", "review"}),
    "operator": frozenset({"observe"}),
}


@dataclass(frozen=True)
class Caller:
    """Who was let in, by which key, with the ticket that counts against its limits."""

    principal: Principal
    key_id: str
    request_id: str
    ticket: Ticket
    session: Session | None = None  # of a person who signed in; a program has a key

    @property
    def person(self) -> dict[str, Any]:
        """tenant_id, user_id and groups, as the methods of an Agent take them."""
        p = self.principal
        return {"tenant_id": p.tenant_id, "user_id": p.user_id, "groups": p.groups}

    def may(self, permission: Permission) -> bool:
        """By the role alone."""
        return permission in PERMISSIONS.get(self.principal.role, frozenset())


# Doors that hand on no request (LangServe, MCP) find the caller here. A thread of the pool does not inherit it.
CALLER: ContextVar[Caller] = ContextVar("cordon_caller")


def current() -> Caller:
    """The caller of the request being served. Raises Forbidden outside of one: closed when in doubt."""
    try:
        return CALLER.get()
    except LookupError:
        raise Forbidden("the request carries no credential.", hint="Send a key of your tenant.") from None
