"""GET /v1/audit: what a tenant's own people asked and what became of it."""

from collections import deque
from collections.abc import Iterator
from datetime import date
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import AfterValidator

from graph.service.http.problems import Problem
from graph.service.http.service import Auditor, Served

Entry = dict[str, Any]
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
    limit: Annotated[int, Query(ge=1, le=1_000, description="the last ones; with `after` the next ones")] = 100,
    after: Annotated[str | None, Query(max_length=64, description="run_id: only what came after it")] = None,
    before: Annotated[str | None, Query(max_length=64, description="run_id: only what came before it")] = None,
) -> dict[str, Any]:
    """The tenant's journal entries, oldest first. `hash` is each entry's own, to compare with the operator's log.

    Pages go back with `before`, the first run_id seen; `after`, the last one, tells what is new.
    """

    def work() -> list[Entry]:
        mine: Iterator[Entry] = (
            {key: value for key, value in entry.items() if key not in _NOT_SHOWN}
            for entry in service.agent.deps.journal.entries()
            if entry["tenant_id"] == who.principal.tenant_id and entry["timestamp"].startswith(day or "")
        )
        if after is not None:
            mine = _following(mine, after)
        if before is not None:
            mine = _until(mine, before)
        return list(islice(mine, limit) if after is not None else deque(mine, maxlen=limit))

    return {"entries": await service.work(who, work)}


def _following(entries: Iterator[Entry], run_id: str) -> Iterator[Entry]:
    """Those after the run. Raises Problem 404 when there is no such run among them."""
    for entry in entries:
        if entry["run_id"] == run_id:
            return entries
    raise Problem(404)


def _until(entries: Iterator[Entry], run_id: str) -> Iterator[Entry]:
    for entry in entries:
        if entry["run_id"] == run_id:
            return
        yield entry
    raise Problem(404)
