"""The answer of a run of one's own as a file."""

from typing import Any, Literal

from fastapi import APIRouter, Response

from graph.service.http.service import Reader, Served

router = APIRouter(prefix="/v1/runs", tags=["runs"])
_KINDS: dict[Literal["pdf", "md"], str] = {"pdf": "application/pdf", "md": "text/markdown; charset=utf-8"}


def _told(kind: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {kind: {"schema": {"type": "string", "format": "binary"}}}}, 409: {}}


@router.get("/{run_id}/answer.pdf", response_class=Response, responses=_told("application/pdf"))
async def as_pdf(run_id: str, who: Reader, service: Served) -> Response:
    """The answer with its sources on paper. 409 where its text was not kept: asked with memory `none`."""
    return await _file(run_id, "pdf", who, service)


@router.get("/{run_id}/answer.md", response_class=Response, responses=_told("text/markdown"))
async def as_markdown(run_id: str, who: Reader, service: Served) -> Response:
    """The same as Markdown."""
    return await _file(run_id, "md", who, service)


async def _file(run_id: str, form: Literal["pdf", "md"], who: Reader, service: Served) -> Response:
    p = who.principal
    asked: dict[str, Any] = {"tenant_id": p.tenant_id, "user_id": p.user_id, "groups": p.groups}
    data = await service.work(who, lambda: service.agent.answer_file(run_id, form, **asked))
    headers = {
        "Cache-Control": "private, no-store",
        "X-Content-Type-Options": "nosniff",
        "Content-Disposition": f'attachment; filename="answer.{form}"',
    }
    return Response(data, media_type=_KINDS[form], headers=headers)
