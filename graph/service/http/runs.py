"""A run of one's own: its answer as a file or for colleagues, and whether it was right."""

from typing import Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field

from graph.administration.feedback import WHY_CHARS, Rating
from graph.service.http.service import Asker, Reader, Served

router = APIRouter(prefix="/v1/runs", tags=["runs"])
_KINDS: dict[Literal["pdf", "md"], str] = {"pdf": "application/pdf", "md": "text/markdown; charset=utf-8"}


def _file_responses(kind: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}, 409: {}}


@router.get("/{run_id}/answer.pdf", response_class=Response, responses=_file_responses("application/pdf"))
async def as_pdf(run_id: str, who: Reader, service: Served) -> Response:
    """The answer with its sources on paper. 409 where its text was not kept: asked with memory `none`."""
    return await _file(run_id, "pdf", who, service)


@router.get("/{run_id}/answer.md", response_class=Response, responses=_file_responses("text/markdown"))
async def as_markdown(run_id: str, who: Reader, service: Served) -> Response:
    """The same as Markdown."""
    return await _file(run_id, "md", who, service)


class Rated(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    rating: Rating
    why: str = Field("", max_length=WHY_CHARS, description="what should have stood there")


@router.post("/{run_id}/feedback", status_code=204)
async def rate(run_id: str, body: Rated, who: Asker, service: Served) -> Response:
    """Say whether it was right. It goes on record, and is a sample for `cordon eval own`."""
    p = who.principal
    asker: dict[str, Any] = {"tenant_id": p.tenant_id, "user_id": p.user_id, "why": body.why}
    await service.work(who, lambda: service.agent.feedback(run_id, body.rating, **asker))
    return Response(status_code=204)


@router.post("/{run_id}/link", status_code=204)
async def share(run_id: str, who: Asker, service: Served) -> Response:
    """Let colleagues of the tenant read the answer, if they are in the groups that its documents are for. 409 where its
    text was not kept."""
    await service.work(who, lambda: service.agent.share(run_id, **who.person))
    return Response(status_code=204)


@router.delete("/{run_id}/link", status_code=204)
async def unshare(run_id: str, who: Asker, service: Served) -> Response:
    """Take that back."""
    p = who.principal
    await service.work(who, lambda: service.agent.unshare(run_id, tenant_id=p.tenant_id, user_id=p.user_id))
    return Response(status_code=204)


@router.get("/{run_id}/shared")
async def shared(run_id: str, who: Reader, service: Served) -> dict[str, Any]:
    """An answer that a colleague shared: question, answer and sources, and who asked."""
    p = who.principal
    return await service.work(who, lambda: service.agent.shared(run_id, tenant_id=p.tenant_id, groups=p.groups))


async def _file(run_id: str, form: Literal["pdf", "md"], who: Reader, service: Served) -> Response:
    data = await service.work(who, lambda: service.agent.answer_file(run_id, form, **who.person))
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="answer.{form}"',
    }
    return Response(data, media_type=_KINDS[form], headers=headers)
