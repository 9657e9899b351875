"""Who asks. The tenant enters the graph here and nowhere else."""

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from graph.errors import BadInput, Forbidden

Role = Literal["member", "uploader", "admin", "auditor", "reviewer", "operator"]
PUBLIC = "public"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}")


@dataclass(frozen=True)
class Context:
    """What an in-process caller says of itself. On a server it is ignored: there the credential speaks."""

    tenant_id: str = ""
    user_id: str = ""
    thread_id: str = ""
    role: Role = "member"
    granted: str = ""  # the refused run that a reviewer granted on appeal, which is asked again


@dataclass(frozen=True)
class Principal:
    tenant_id: str
    user_id: str
    role: Role = "member"

    @property
    def digest(self) -> str:
        return key_of(self.tenant_id, self.user_id)


def owner(tenant_id: str, public: bool) -> str:
    """Whose documents or list is meant: the tenant, or `PUBLIC`. Raises BadInput unless one of the two is said."""
    if public == bool(tenant_id):
        raise BadInput("name a tenant or say public, one of the two.")
    return PUBLIC if public else valid_tenant(tenant_id)


def valid_id(value: str, what: str) -> str:
    """A tenant, user or thread id as given, or BadInput.

    Letters, digits and `. _ : @ -`, first a letter or digit, at most 64. Ids are compared byte for byte: `U1`,
    `u1`, `U10` and `U1:0` are four different tenants, and never meet, because everything stored is named by
    `key_of`, never by the id itself.
    """
    if not isinstance(value, str) or not _ID.fullmatch(value) or ".." in value:
        raise BadInput(
            f"{what} {_shown(value)} is not usable: 1 to 64 letters, digits and . _ : @ - are, "
            "beginning with a letter or digit.",
            hint=f"Choose another {what}.",
        )
    return value


def valid_tenant(value: str) -> str:
    """As `valid_id`; `public` names the shared space and cannot be a tenant."""
    if valid_id(value, "tenant").casefold() == PUBLIC:
        raise BadInput(f"tenant {value!r} is the name of the shared space, not of a tenant.", hint="Use --public.")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:36] + "…'"


def key_of(*parts: str) -> str:
    """A name for (tenant, user, thread, …) that no other tuple shares: SHA-256 over length-prefixed UTF-8.

    Separators inside a part cannot make two tuples meet. 40 hexadecimal digits.
    """
    digest = hashlib.sha256()
    for part in parts:
        raw = unicodedata.normalize("NFC", part).encode("utf-8", "surrogatepass")
        digest.update(len(raw).to_bytes(8, "big") + raw)
    return digest.hexdigest()[:40]


@lru_cache(maxsize=1_024)
def space_key(tenant: str) -> str:
    """The name under which a tenant's documents are stored."""
    return PUBLIC if tenant == PUBLIC else key_of("space", tenant)


def granted(runtime: Any) -> str:
    """The refused run that this one answers because a reviewer granted it; "" on a server, where the client writes the
    context."""
    context = runtime.context
    return "" if getattr(runtime, "server_info", None) is not None or context is None else str(context.granted)


def principal(runtime: Any) -> Principal:
    """The asker: on a server the authenticated user, in process the caller's context, else Forbidden."""
    server = getattr(runtime, "server_info", None)
    if server is not None:
        user = server.user
        if user is None:
            raise Forbidden("the request carries no credential.", hint="Send a key of your tenant.")
        tenant = user["tenant_id"] if "tenant_id" in user else ""  # noqa: SIM401 (the protocol has no get)
        return Principal(valid_tenant(tenant), valid_id(str(user.identity), "user"))
    context = runtime.context
    if context is None or not context.tenant_id:
        raise Forbidden("no tenant was named.", hint="Pass context=Context(tenant_id=…).")
    return Principal(valid_tenant(context.tenant_id), valid_id(context.user_id or "local", "user"), context.role)
