"""A user's own conversations. Those of another user or tenant are not there."""

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from fastapi import Query as Parameter
from pydantic import BaseModel, ConfigDict, Field

from graph.administration.conversations import QUERY_CHARS
from graph.audit import markdown
from graph.errors import BadInput
from graph.service.http.caller import Caller
from graph.service.http.paging import After, Limit, page
from graph.service.http.problems import Problem
from graph.service.http.service import Reader, Served, Service, outage_untold
from graph.stores.conversations import TITLE_CHARS

router = APIRouter(prefix="/v1/threads", tags=["threads"])
Query = Annotated[str, Parameter(max_length=QUERY_CHARS, description="words to look for")]
Form = Annotated[Literal["markdown", "json"], Parameter(alias="format")]


class Named(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    title: str = Field(max_length=TITLE_CHARS, description="of the conversation, masked as it is kept")


@router.get("")
async def threads(
    who: Reader, service: Served, limit: Limit = None, after: After = None, q: Query = ""
) -> dict[str, Any]:
    """The remembered conversations, the latest first. Turns asked with memory `none` are not among them, nor those that
    tell of a document which the key's groups may not read. With `q` those that have a turn with all of its
    words."""
    rows = await service.work(who, lambda: service.agent.threads(query=q, **who.person))
    return page("threads", rows, limit, after, lambda row: row["thread_id"])


@router.get("/{thread_id}")
async def thread(thread_id: str, who: Reader, service: Served) -> dict[str, Any]:
    """One conversation with its turns."""
    return await _read(thread_id, who, service)


@router.patch("/{thread_id}")
async def rename(thread_id: str, body: Named, who: Reader, service: Served) -> dict[str, str]:
    """Give a conversation a title, or with "" that of its first question."""
    try:
        title = await service.work(who, lambda: service.agent.rename(thread_id, body.title, **who.person))
    except BadInput:  # of an id that cannot be, too
        raise Problem(404) from None
    return {"thread_id": thread_id, "title": title}


@router.get("/{thread_id}/export", response_class=Response)
async def export(thread_id: str, who: Reader, service: Served, form: Form = "markdown") -> Response:
    """A conversation as a file, each answer with its sources: Markdown, or the JSON of `GET /v1/threads/{id}`."""
    conversation = await _read(thread_id, who, service)
    if form == "json":
        return _file(json.dumps(conversation, ensure_ascii=False, indent=2), "application/json", "conversation.json")
    return _file(markdown.conversation(conversation["turns"]), "text/markdown; charset=utf-8", "conversation.md")


@router.delete("/{thread_id}", status_code=204)
async def forget(thread_id: str, who: Reader, service: Served) -> Response:
    """Forget a conversation: its turns and what was remembered of it, that of memory `none` included."""
    p = who.principal
    try:
        erased = await service.work(
            who, lambda: service.agent.clear(thread_id=thread_id, tenant_id=p.tenant_id, user_id=p.user_id)
        )
    except BadInput:
        erased = False
    if not erased:
        raise Problem(404)
    return Response(status_code=204)


async def _read(thread_id: str, who: Caller, service: Service) -> dict[str, Any]:
    try:
        conversation = await service.work(who, lambda: service.agent.thread(thread_id, **who.person))
    except BadInput:
        raise Problem(404) from None
    return {**conversation, "turns": [outage_untold(turn) for turn in conversation["turns"]]}


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
