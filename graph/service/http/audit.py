"""GET /v1/audit: what a tenant's own people asked and what became of it."""

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AfterValidator

from graph.service.http.service import Auditor, Served
from graph.stores.journal import Entry

router = APIRouter(prefix="/v1", tags=["audit"])


def _real(day: str) -> str:
    try:
        date.fromisoformat(day)
    except ValueError:
        raise ValueError("there is no such day") from None
    return day


Day = Annotated[
    str,
    Query(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description="UTC", json_schema_extra={"format": "date"}),
    AfterValidator(_real),
]


@router.get("/audit")
async def audit(
    who: Auditor,
    service: Served,
    day: Day | None = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="the last ones; with `after` the next ones")] = 100,
    after: Annotated[
        str | None, Query(max_length=64, description="the id of an entry, or a run_id: only what came after it")
    ] = None,
    before: Annotated[
        str | None, Query(max_length=64, description="the id of an entry, or a run_id: only what came before it")
    ] = None,
) -> dict[str, Any]:
    """The tenant's journal entries, oldest first. `id` names an entry; the operator's log has it as `personal_sha256`.

    Pages go back with `before`, the first `id` seen; `after`, the last one, tells what is new.
    """

    def work() -> list[Entry]:
        journal = service.agent.deps.journal
        return journal.page(who.principal.tenant_id, limit=limit, day=day or "", after=after, before=before)

    return {"entries": await service.work(who, work)}


@router.get("/audit/head")
async def head(who: Auditor, service: Served) -> dict[str, Any]:
    """Place and hash of the tenant's last journal entry in its own chain, signed where the operator has a key for it.
    Who keeps it can show later that no entry up to it was changed: `cordon audit verify --lines FILE --head FILE`."""
    from graph.audit import signed_heads

    def work() -> dict[str, Any]:
        tenant, settings = who.principal.tenant_id, service.settings
        signer = signed_heads.private_key(settings.head_key.get_secret_value(), settings.home)
        return signed_heads.head(service.agent.deps.journal.tenant_head(tenant), signer, tenant)

    return await service.work(who, work)
