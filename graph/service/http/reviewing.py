"""Answers that wait for a reviewer, what became of them, and appeals of refusals."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from graph.service.http.null_as_unset import NullAsUnset
from graph.service.http.paging import After, Limit, page
from graph.service.http.service import Asker, Reader, Reviewer, Served, outward

router = APIRouter(prefix="/v1", tags=["review"])


class Decision(NullAsUnset):
    model_config = ConfigDict(extra="forbid", strict=True)

    decision: Literal["approve", "edit", "refuse"] = Field(description="of an appeal: approve grants, refuse upholds")
    text: str = Field("", max_length=20_000, description="of an edit: each sentence must be supported by the evidence")
    reason: str = Field("", max_length=1_000, description="of a refusal: the asker reads it")


class Appeal(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    run_id: str = Field(max_length=64, description="of a refused run of one's own")
    note: str = Field("", max_length=1_000, description="why it should be answered")


@router.get("/reviews")
async def reviews(who: Reviewer, service: Served, limit: Limit = None, after: After = None) -> dict[str, Any]:
    """What waits for a reviewer of the tenant, the longest first."""
    p = who.principal
    rows = await service.work(who, lambda: service.agent.reviews(tenant_id=p.tenant_id, user_id=p.user_id))
    return page("reviews", rows, limit, after, lambda row: row["run_id"])


@router.get("/reviews/{run_id}")
async def review(run_id: str, who: Reviewer, service: Served) -> dict[str, Any]:
    """One of them: question, verdict, draft and evidence, masked."""
    return await service.work(who, lambda: service.agent.under_review(run_id, **who.person))


@router.post("/reviews/{run_id}")
async def decide(run_id: str, body: Decision, who: Reviewer, service: Served) -> dict[str, Any]:
    """Decide: the reply as the asker gets it. 409 when somebody else was first, or what it rests on has changed."""
    how: Any = {**who.person, "text": body.text, "reason": body.reason}
    reply = await service.work(who, lambda: service.agent.review(run_id, body.decision, **how))
    return dict(outward(reply))


@router.get("/runs/{run_id}")
async def outcome(run_id: str, who: Reader, service: Served) -> dict[str, Any]:
    """What became of a run of one's own that waited for a reviewer: the reply object."""
    reply = await service.work(who, lambda: service.agent.outcome(run_id, **who.person))
    return dict(outward(reply))


@router.post("/appeals", status_code=202)
async def appeal(body: Appeal, who: Asker, service: Served) -> dict[str, Any]:
    """Have a person look at a refusal of one's own question; its outcome is at /v1/runs/{run_id}."""
    p = who.principal
    reply = await service.work(
        who, lambda: service.agent.appeal(body.run_id, tenant_id=p.tenant_id, user_id=p.user_id, note=body.note)
    )
    return dict(outward(reply))
