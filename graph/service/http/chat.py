"""OpenAI's chat completions, for clients that speak nothing else.

The question is the last user message. The messages before it are the conversation, where the extension field `cordon`
names no thread ({"thread_id": …, "memory": …}): a follow-up is completed from its questions, which are masked and
judged; what a client says was answered is no evidence and is in no prompt. System messages are not read: they are no
instruction to Cordon. What a client asks for itself (a title, tags) is in client_tasks.py.
"""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, StrictInt

from graph.agent import VerifiedSentence
from graph.errors import CordonError
from graph.options import MOST_EXCHANGES, Exchange
from graph.policy.answer import prose, refusals
from graph.policy.evidence import places
from graph.policy.text import defang
from graph.service.http import client_tasks
from graph.service.http.asking import UNBUFFERED, Event, sentences
from graph.service.http.caller import Caller
from graph.service.http.null_as_unset import NullAsUnset
from graph.service.http.problems import Problem, openai_type, outage
from graph.service.http.service import Asker, Options, Reader, Served, Service
from graph.state import Reply

MODEL = "cordon"
MAX_MESSAGES = 1_000
Pieces = AsyncGenerator[str | Reply | None, None]
router = APIRouter(prefix="/v1", tags=["OpenAI"])


class Part(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: str
    text: str | None = None


class Message(BaseModel):
    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(NullAsUnset):
    model_config = ConfigDict(extra="ignore")

    include_usage: bool = False


class Completion(NullAsUnset):
    """Fields of the wire format that Cordon has no use for (temperature, user, tools, metadata, …) are not read."""

    model_config = ConfigDict(extra="ignore")

    model: str = Field(MODEL, max_length=200)
    messages: list[Message] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    n: StrictInt | None = Field(None, description="only 1")
    response_format: dict[str, Any] | None = Field(None, description="only text")
    logprobs: bool | None = Field(None, description="only false")
    top_logprobs: int | None = None
    tool_choice: str | dict[str, Any] | None = Field(None, description="only none or auto: no tool is ever called")
    cordon: Options = Field(default_factory=lambda: Options())  # type: ignore[call-arg]


@router.post("/chat/completions")
async def complete(body: Completion, who: Asker, service: Served) -> Response:
    """A chat completion. Citations: as footnotes in the text, and whole in the extension field `cordon`."""
    if body.model != MODEL:
        raise no_such_model()
    _refuse_unsupported(body)
    last = next((m for m in reversed(body.messages) if m.role == "user"), None)
    question = text_of(last.content if last else None, "messages")
    task = client_tasks.answered(question, [plain(m.content) for m in body.messages if m.role == "user"])
    if task is not None:
        return _task_response(task, body.stream, who)
    sent = conversation([(m.role, plain(m.content)) for m in body.messages], body.cordon)
    if body.stream:
        pieces = await begun(who, question, body.cordon, service, sent)
        usage = body.stream_options is not None and body.stream_options.include_usage
        chunks = _chunks(pieces, usage, who)
        return StreamingResponse(chunks, headers=UNBUFFERED, media_type="text/event-stream")
    reply = await whole(who, question, body.cordon, service, sent)
    message = {"role": "assistant", "content": content(reply), "refusal": refusal_of(reply)}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return JSONResponse(
        {
            **_head(f"chatcmpl-{who.request_id}", "chat.completion"),
            "choices": [choice],
            "usage": _usage(reply),
            "cordon": extension(reply),
        }
    )


@router.get("/models")
async def models(who: Reader) -> dict[str, Any]:
    """The one model there is."""
    return {"object": "list", "data": [{"id": MODEL, "object": "model", "created": 0, "owned_by": "cordon"}]}


@router.get("/models/{model_id}")
async def model(model_id: str, who: Reader) -> dict[str, Any]:
    if model_id != MODEL:
        raise no_such_model()
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": "cordon"}


async def whole(who: Caller, question: str, options: Options, service: Service, sent: Sequence[Exchange] = ()) -> Reply:
    """The reply object. Raises Problem for an outage."""
    reply = await service.ask(who, question, options, "chat", sent)
    if reply["decision"] == "unavailable":
        raise outage()
    return reply


async def begun(
    who: Caller, question: str, options: Options, service: Service, sent: Sequence[Exchange] = ()
) -> Pieces:
    """The pieces of the answer (`_pieces`), once there is one: what fails at once fails with its own status."""
    events = service.stream(who, question, options, "chat", sent)
    first = await anext(events)
    if isinstance(first, dict) and first["decision"] == "unavailable":
        raise outage()
    return _pieces(first, events)


def no_such_model() -> Problem:
    """In the words that OpenAI's clients know."""
    return Problem(404, f"There is no such model. The one there is: {MODEL}.", code="model_not_found", param="model")


def _refuse_unsupported(body: Completion) -> None:
    """Refuse what would silently give something else than was asked for."""
    wrong = ""
    if body.n not in (None, 1):
        wrong, what = "n", "One answer is given: leave n out."
    elif body.response_format is not None and body.response_format.get("type") != "text":
        wrong, what = "response_format", "Answers are text: leave it out, and read the field cordon for their parts."
    elif body.logprobs or body.top_logprobs:
        wrong, what = "logprobs", "Sentences are checked as a whole, so no token has a probability: leave it out."
    elif body.tool_choice not in (None, "none", "auto"):
        wrong, what = "tool_choice", "No tools are called: leave it out, or say none or auto."
    if wrong:
        raise Problem(400, what, code="unsupported", param=wrong)


def text_of(content: str | list[Part] | None, param: str) -> str:
    """The text of a user's message, which came in the field `param`."""
    if content is None:
        raise Problem(400, "There is no user message to answer.", code="no_question", param=param)
    if isinstance(content, str):
        return content
    if any(part.type not in ("text", "input_text") for part in content):
        raise Problem(400, "Only text can be asked.", code="unsupported", param=param)
    return "\n".join(part.text or "" for part in content)


def plain(content: str | list[Part] | None) -> str:
    """The text of a message, "" where it has none."""
    return content if isinstance(content, str) else "\n".join(part.text or "" for part in content or ())


def conversation(messages: Sequence[tuple[str | None, str]], options: Options) -> list[Exchange]:
    """The exchanges before the last question, from (role, text) of each message; none where a thread is named,
    which has its own memory."""
    if options.thread_id is not None:
        return []
    exchanges: list[Exchange] = []
    for role, text in messages:
        if role == "user":
            exchanges.append({"question": text, "answer": ""})
        elif role == "assistant" and exchanges:
            exchanges[-1]["answer"] += text
    return exchanges[:-1][-MOST_EXCHANGES:]


def content(reply: Reply) -> str:
    """The answer, and its sources as footnotes."""
    return reply["answer"] + _footnotes(reply)


def refusal_of(reply: Reply) -> str | None:
    """What a client reads to know a refusal. The text is the content as well: where OpenAI leaves that null, many
    clients show an empty answer; and at finish_reason `content_filter` OpenAI's own helpers raise.
    """
    return reply["refusal"]["text"] if reply["refusal"] else None


def _footnotes(reply: Reply) -> str:
    lines = []
    for c in reply["citations"]:
        place = "".join(f", {defang.line(part)}" for part in places.parts(c))
        # The extension field has the quote verbatim; here a chat client may render what it is given.
        lines.append(f"[{c['n']}] {defang.line(c['filename'])}{place}: “{defang.line(c['quote'])}”")
    return "\n\n" + "\n".join(lines) if lines else ""


async def _pieces(first: Event, events: AsyncGenerator[Event, None]) -> Pieces:
    """The text as it comes: sentences once they are verified, then what the whole has beyond them, footnotes above all;
    last the reply object, or None when the answer broke off. A refusal is in the reply alone."""
    sent = before = ""
    event: Event | None = first
    try:
        while isinstance(event, VerifiedSentence):
            piece = prose.gap(before, event.text) + prose.cited(event.text, [c["n"] for c in event.citations])
            sent, before = sent + piece, event.text
            yield piece
            event = await anext(events)
    except (Problem, CordonError):
        event = None
    finally:
        await events.aclose()
    if event is None or event["decision"] == "unavailable":
        yield None
        return
    if event["decision"] != "refusal":
        text = content(event)
        if text.startswith(sent):
            rest = text[len(sent) :]
        elif event.get("assessment"):
            rest = "\n\n" + text  # a brief says more than its sentences
        else:  # as a list, or with a word in front: nothing is sent twice
            besides = refusals.besides(event["answer"])
            rest = ("\n\n" + besides if besides else "") + _footnotes(event)
        if rest:
            yield rest
    yield event


def _task_response(text: str, stream: bool, who: Caller) -> Response:
    """A text that is no answer to a question, so that nothing of it is on record."""
    message = {"role": "assistant", "content": text, "refusal": None}
    run, choice = f"chatcmpl-{who.request_id}", {"index": 0, "logprobs": None, "finish_reason": "stop"}
    if stream:
        chunk = {**_head(run, "chat.completion.chunk"), "choices": [{**choice, "delta": message}]}
        lines = iter((_data(chunk), b"data: [DONE]\n\n"))
        return StreamingResponse(lines, headers=UNBUFFERED, media_type="text/event-stream")
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return JSONResponse({**_head(run, "chat.completion"), "choices": [{**choice, "message": message}], "usage": usage})


async def _chunks(pieces: Pieces, usage: bool, who: Caller) -> AsyncIterator[bytes]:
    run = f"chatcmpl-{who.request_id}"

    def chunk(delta: dict[str, Any], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        head = _head(run, "chat.completion.chunk")
        return _data({**head, "choices": [choice], **({"usage": None} if usage else {}), **more})

    yield chunk({"role": "assistant", "content": "", "refusal": None})
    async with aclosing(pieces):  # a client that goes away ends what it waited for
        async for piece in pieces:
            if isinstance(piece, str):
                yield chunk({"content": piece})
                continue
            if piece is None:  # clients raise at it; without it half an answer reads as a whole
                yield _data({"error": broken_off(who)})
                return
            if refused := refusal_of(piece):
                yield chunk({"content": refused, "refusal": refused})
            yield chunk({}, "stop", cordon=extension(piece))
            if usage:
                yield _data({**_head(run, "chat.completion.chunk"), "choices": [], "usage": _usage(piece)})
            yield b"data: [DONE]\n\n"


def broken_off(who: Caller) -> dict[str, Any]:
    """The error object of an answer of which a part was sent."""
    error = {"code": "unavailable", "message": "The answer broke off.", "request_id": who.request_id}
    return {**error, "type": openai_type(503), "param": None}


def _data(value: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(value)}\n\n".encode()


def _head(run: str, kind: str) -> dict[str, Any]:
    return {
        "id": run,
        "object": kind,
        "created": int(time.time()),
        "model": MODEL,
        "system_fingerprint": None,
    }


def _usage(reply: Reply) -> dict[str, int]:
    used = reply["usage"]
    return {
        "prompt_tokens": used["prompt_tokens"],
        "completion_tokens": used["completion_tokens"],
        "total_tokens": used["prompt_tokens"] + used["completion_tokens"],
    }


def extension(reply: Reply) -> dict[str, Any]:
    """The field `cordon` of a response."""
    whole: Mapping[str, Any] = reply
    keys = ("run_id", "thread_id", "decision", "refusal", "verdict", "confidence", "safety_flags", "citations")
    fields = {**{key: whole[key] for key in keys}, "sentences": sentences(reply)}
    return fields | {key: whole[key] for key in ("rewrite", "understood") if whole.get(key)}
