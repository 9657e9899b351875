"""Who asks. The tenant, and the groups of a person in it, enter the graph here and nowhere else."""

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from graph.errors import BadInput, Forbidden

Role = Literal["member", "uploader", "admin", "auditor", "reviewer", "operator"]
PUBLIC = "public"
DEFAULT_USER = "local"
MOST_GROUPS = 64  # of a person, or of a document
_OF = "/"  # between a tenant and groups in the name of a space: no id has it
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,63}")


@dataclass(frozen=True)
class Context:
    """What an in-process caller says of itself. On a server it is ignored: there the credential speaks."""

    tenant_id: str = ""
    user_id: str = ""
    thread_id: str = ""
    role: Role = "member"
    groups: Collection[str] = ()
    granted: str = ""  # the refused run that a reviewer granted on appeal, which is asked again


@dataclass(frozen=True)
class ReadScope:
    """Who reads documents: somebody of a tenant, who is in these groups of it."""

    tenant: str
    groups: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Principal:
    """Who asks. `principal` reads it, and checks its ids and groups."""

    tenant_id: str
    user_id: str
    role: Role = "member"
    groups: frozenset[str] = frozenset()

    @property
    def digest(self) -> str:
        """Names the asker as the owner of threads."""
        return key_of(self.tenant_id, self.user_id)

    @property
    def reader(self) -> ReadScope:
        """Without the user: documents are open to tenants and groups."""
        return ReadScope(self.tenant_id, self.groups)


def owner(tenant_id: str, public: bool) -> str:
    """Whose documents or list is meant: the tenant, or `PUBLIC`. Raises BadInput unless exactly one is given."""
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


def valid_groups(values: Iterable[str]) -> frozenset[str]:
    """Groups of a tenant by name, as `valid_id` takes names. Raises BadInput, also for more than MOST_GROUPS."""
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise BadInput("groups are a list of names.", hint='For example groups=["staff", "board"].')
    named = frozenset(valid_id(value, "group") for value in values)
    if len(named) > MOST_GROUPS:
        raise BadInput(f"there are {len(named)} groups, and at most {MOST_GROUPS} can be named.")
    return named


def groups_of(text: str, between: str = ",") -> frozenset[str]:
    """The groups that a text names: `staff,board`; "" names none. Raises as `valid_groups` does."""
    return valid_groups(part.strip() for part in text.split(between)) if text.strip() else frozenset()


def space_name(tenant: str, groups: Collection[str] = ()) -> str:
    """The name of the space with a tenant's documents that these groups share; without groups, all of the tenant."""
    return f"{tenant}{_OF}{','.join(sorted(groups))}" if groups else tenant


@lru_cache(maxsize=1_024)
def whose(name: str) -> tuple[str, frozenset[str]]:
    """The tenant, and the groups, of a space by its name."""
    tenant, _, groups = name.partition(_OF)
    return tenant, frozenset(groups.split(",")) if groups else frozenset()


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
def space_key(name: str) -> str:
    """What the documents of a space are stored by."""
    tenant, groups = whose(name)
    return PUBLIC if name == PUBLIC else key_of("space", tenant, *sorted(groups))


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
        groups = user["groups"] if "groups" in user else ()  # noqa: SIM401
        return Principal(valid_tenant(tenant), valid_id(str(user.identity), "user"), groups=valid_groups(groups))
    context = runtime.context
    if context is None or not context.tenant_id:
        raise Forbidden("no tenant was named.", hint="Pass context=Context(tenant_id=…).")
    return Principal(
        valid_tenant(context.tenant_id),
        valid_id(context.user_id or "local", "user"),
        context.role,
        valid_groups(context.groups),
    )
