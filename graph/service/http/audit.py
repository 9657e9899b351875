"""GET /v1/audit: what a tenant's own people asked and what became of it."""

from collections import deque
from typing import Annotated, Any

from fastapi import APIRouter, Query

from graph.service.http.service import Auditor, Served

router = APIRouter(prefix="/v1", tags=["audit"])
# The place in the chain counts the runs of every tenant, the folder is the machine's,
# and an error's text names servers, files and settings.
_NOT_SHOWN = ("seq", "prev", "artifacts", "error")


@router.get("/audit")
async def audit(
    who: Auditor,
    service: Served,
    day: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$", description="UTC")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="the last ones")] = 100,
) -> dict[str, Any]:
    """The tenant's journal entries, oldest first. `hash` is each entry's own, to compare with the operator's log."""

    def work() -> list[dict[str, Any]]:
        mine = (
            {key: value for key, value in entry.items() if key not in _NOT_SHOWN}
            for entry in service.agent.deps.journal.entries()
            if entry["tenant_id"] == who.principal.tenant_id and entry["timestamp"].startswith(day or "")
        )
        return list(deque(mine, maxlen=limit))

    return {"entries": await service.work(who, work)}
