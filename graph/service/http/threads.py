"""A user's own conversations. Those of another user or tenant are not there."""

from typing import Any

from fastapi import APIRouter, Response

from graph.errors import BadInput
from graph.service.http.paging import After, Limit, page
from graph.service.http.problems import Problem
from graph.service.http.service import Reader, Served, outage_untold

router = APIRouter(prefix="/v1/threads", tags=["threads"])


@router.get("")
async def threads(who: Reader, service: Served, limit: Limit = None, after: After = None) -> dict[str, Any]:
    """The remembered conversations, the latest first. Turns asked with memory `none` are not among them, nor those that
    tell of a document which the key's groups may not read."""
    p = who.principal
    found = await service.work(
        who, lambda: service.agent.threads(tenant_id=p.tenant_id, user_id=p.user_id, groups=p.groups)
    )
    return page("threads", found, limit, after, lambda row: row["thread_id"])


@router.get("/{thread_id}")
async def thread(thread_id: str, who: Reader, service: Served) -> dict[str, Any]:
    """One conversation with its turns."""
    p = who.principal
    try:
        found = await service.work(
            who, lambda: service.agent.thread(thread_id, tenant_id=p.tenant_id, user_id=p.user_id, groups=p.groups)
        )
    except BadInput:
        raise Problem(404) from None
    return {**found, "turns": [outage_untold(turn) for turn in found["turns"]]}


@router.delete("/{thread_id}", status_code=204)
async def forget(thread_id: str, who: Reader, service: Served) -> Response:
    """Forget a conversation: its turns and what was remembered of it, that of memory `none` included."""
    p = who.principal
    try:
        held = await service.work(
            who, lambda: service.agent.clear(thread_id=thread_id, tenant_id=p.tenant_id, user_id=p.user_id)
        )
    except BadInput:
        held = False
    if not held:
        raise Problem(404)
    return Response(status_code=204)
