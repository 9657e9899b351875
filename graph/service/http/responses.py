"""OpenAI's Responses, for clients that have left chat completions behind.

As there, the question is the last user message, the messages before it are the conversation where no thread is named,
and instructions are not read. No response is kept to go on from; a conversation with memory is asked for with the
extension field `cordon`: {"thread_id": …, "memory": …}.
"""

import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from graph.service.http import chat
from graph.service.http.asking import UNBUFFERED
from graph.service.http.caller import Caller
from graph.service.http.null_as_unset import NullAsUnset
from graph.service.http.problems import Problem
from graph.service.http.service import Asker, Options, Served
from graph.state import Reply

router = APIRouter(prefix="/v1", tags=["OpenAI"])


class Item(BaseModel):
    """A message. Items of other types, and what else is in one, are not read."""

    model_config = ConfigDict(extra="ignore")

    type: str = "message"
    role: str = ""
    content: str | list[chat.Part] | None = None


class Asked(NullAsUnset):
    """Fields of the wire format that Cordon has no use for (instructions, temperature, store, …) are not read."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(chat.MODEL, max_length=200)
    input: str | list[Item] = Field(max_length=1_000_000)
    stream: bool = False
    background: bool = Field(False, description="only false: the answer is waited for")
    previous_response_id: str | None = Field(None, description="none: no response is kept; see `cordon.thread_id`")
    conversation: str | dict[str, Any] | None = Field(None, description="none: see `cordon.thread_id`")
    text: dict[str, Any] | None = Field(None, description="only the format text")
    tool_choice: str | dict[str, Any] | None = Field(None, description="only none or auto: no tool is ever called")
    cordon: Options = Field(default_factory=lambda: Options())  # type: ignore[call-arg]


@router.post("/responses")
async def respond(body: Asked, who: Asker, service: Served) -> Response:
    """A response. Citations: as footnotes in the text, and whole in the extension field `cordon`."""
    if body.model != chat.MODEL:
        raise chat.no_such_model()
    _refuse_unsupported(body)
    question = _question(body.input)
    sent = chat.conversation(_messages(body.input), body.cordon)
    if body.stream:
        pieces = await chat.begun(who, question, body.cordon, service, sent)
        return StreamingResponse(_events(pieces, who), headers=UNBUFFERED, media_type="text/event-stream")
    reply = await chat.whole(who, question, body.cordon, service, sent)
    message = _message(who, "completed", _parts(chat.content(reply), chat.refusal_of(reply)))
    return JSONResponse(_response(who, "completed", [message], reply))


def _refuse_unsupported(body: Asked) -> None:
    """Refuse what would silently give something else than was asked for."""
    thread = "No response is kept: leave it out, and name a conversation in the field cordon (thread_id, memory)."
    form = (body.text or {}).get("format") or {}
    wrong = ""
    if body.background:
        wrong, what = "background", "Answers are waited for: leave it out."
    elif body.previous_response_id is not None:
        wrong, what = "previous_response_id", thread
    elif body.conversation is not None:
        wrong, what = "conversation", thread
    elif not isinstance(form, dict) or form.get("type", "text") != "text":
        wrong, what = "text.format", "Answers are text: leave it out, and read the field cordon for their parts."
    elif body.tool_choice not in (None, "none", "auto"):
        wrong, what = "tool_choice", "No tools are called: leave it out, or say none or auto."
    if wrong:
        raise Problem(400, what, code="unsupported", param=wrong)


def _question(items: str | list[Item]) -> str:
    if isinstance(items, str):
        return items
    if len(items) > chat.MAX_MESSAGES:
        raise Problem(400, f"At most {chat.MAX_MESSAGES:,} items are read.", code="invalid_request", param="input")
    last = next((item for item in reversed(items) if item.role == "user" and item.type == "message"), None)
    return chat.text_of(last.content if last else None, "input")


def _messages(input: str | list[Item]) -> list[tuple[str | None, str]]:
    """(role, text) of each message."""
    items = [] if isinstance(input, str) else input
    return [(item.role, chat.plain(item.content)) for item in items if item.type == "message"]


def _parts(text: str, refused: str | None) -> list[dict[str, Any]]:
    """A refusal stands in a part of its own and, for clients that show nothing else, in the text as well."""
    parts = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    return [*parts, {"type": "refusal", "refusal": refused}] if refused else parts


def _message(who: Caller, status: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": f"msg_{who.request_id}", "type": "message", "role": "assistant", "status": status, "content": parts}


def _response(who: Caller, status: str, output: list[dict[str, Any]], reply: Reply | None) -> dict[str, Any]:
    response: dict[str, Any] = {
        "id": f"resp_{who.request_id}", "object": "response", "created_at": int(time.time()), "status": status,
        "model": chat.MODEL, "output": output, "error": None, "incomplete_details": None, "instructions": None,
        "metadata": {}, "parallel_tool_calls": False, "tool_choice": "none", "tools": [], "temperature": None,
        "top_p": None, "max_output_tokens": None, "previous_response_id": None, "store": False,
        "text": {"format": {"type": "text"}}, "usage": None,
    }  # fmt: skip
    return response | ({"usage": _usage(reply), "cordon": chat.extension(reply)} if reply else {})


def _usage(reply: Reply) -> dict[str, Any]:
    used = reply["usage"]
    return {
        "input_tokens": used["prompt_tokens"],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": used["completion_tokens"],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used["prompt_tokens"] + used["completion_tokens"],
    }


async def _events(pieces: chat.Pieces, who: Caller) -> AsyncIterator[bytes]:
    """The events of one message in the order that OpenAI's helpers expect."""
    number = -1

    def event(kind: str, **more: Any) -> bytes:
        nonlocal number
        number += 1
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'sequence_number': number, **more})}\n\n".encode()

    place: dict[str, Any] = {"item_id": f"msg_{who.request_id}", "output_index": 0}
    first = {**place, "content_index": 0}
    yield event("response.created", response=_response(who, "in_progress", [], None))
    yield event("response.in_progress", response=_response(who, "in_progress", [], None))
    yield event("response.output_item.added", output_index=0, item=_message(who, "in_progress", []))
    yield event("response.content_part.added", **first, part=_parts("", None)[0])
    text = ""
    piece: str | Reply | None = None
    async with aclosing(pieces):  # a client that goes away ends what it waited for
        async for piece in pieces:
            delta = piece if piece is None or isinstance(piece, str) else chat.refusal_of(piece)
            if delta:
                text += delta
                yield event("response.output_text.delta", **first, delta=delta, logprobs=[])
    if piece is None or isinstance(piece, str):
        error = chat.broken_off(who)
        failed = _response(who, "failed", [_message(who, "incomplete", _parts(text, None))], None)
        yield event(
            "response.failed", response=failed | {"error": {"code": "server_error", "message": error["message"]}}
        )
        # OpenAI's client raises at an object with an error, and would take half an answer for a whole without one.
        yield event("error", error=error, code=error["code"], message=error["message"], param=None)
        return
    parts = _parts(text, chat.refusal_of(piece))
    yield event("response.output_text.done", **first, text=text, logprobs=[])
    yield event("response.content_part.done", **first, part=parts[0])
    for part in parts[1:]:
        second = {**place, "content_index": 1}
        yield event("response.content_part.added", **second, part={**part, "refusal": ""})
        yield event("response.refusal.delta", **second, delta=part["refusal"])
        yield event("response.refusal.done", **second, refusal=part["refusal"])
        yield event("response.content_part.done", **second, part=part)
    message = _message(who, "completed", parts)
    yield event("response.output_item.done", output_index=0, item=message)
    yield event("response.completed", response=_response(who, "completed", [message], piece))
