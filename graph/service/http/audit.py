"""GET /v1/audit: what a tenant's own people asked and what became of it."""

from collections import deque
from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AfterValidator

from graph.service.http.service import Auditor, Served

router = APIRouter(prefix="/v1", tags=["audit"])
# The place in the chain counts the runs of every tenant, the folder is the machine's,
# and an error's text names servers, files and settings.
_NOT_SHOWN = ("seq", "prev", "artifacts", "error")


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
