"""POST /v1/ask: one question, one reply object, or its verified sentences as server-sent events."""

import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field

from graph.agent import VerifiedSentence
from graph.errors import CordonError
from graph.service.http import problems
from graph.service.http.caller import Caller
from graph.service.http.peekable_stream import HEARTBEAT_S, PeekableStream
from graph.service.http.service import Asker, Options, Served, Stage
from graph.state import CitedSentence, Reply

Event = VerifiedSentence | Reply
UNBUFFERED = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # a proxy passes each event on as it comes
router = APIRouter(prefix="/v1", tags=["ask"])


class Question(Options):
    question: str = Field(description="in words; at most CORDON_MAX_QUESTION_CHARS characters")
    stream: bool = Field(False, description="server-sent events: `sentence`…, `reply`, `done`")
    stages: bool = Field(False, description="of a stream: `stage` events, too: searching, reading, writing, checking")


@router.post("/ask", responses={503: {"description": "The model or the index is down; the body is a reply object."}})
async def ask(body: Question, who: Asker, service: Served) -> Response:
    """Answer one question. A refusal is a reply (200, `decision` refusal); an outage is 503, with the reply object."""
    options = Options(**body.model_dump(exclude={"question", "stream", "stages"}))
    if not body.stream:
        return _whole(await service.ask(who, body.question, options, "rest"))
    events = PeekableStream(service.events(who, body.question, options, "rest", stages=body.stages))
    if await events.within(HEARTBEAT_S):  # what fails at once fails with its own status
        first = await events.next()
        if isinstance(first, dict) and first["decision"] == "unavailable":
            return _whole(first)
        return StreamingResponse(_events(events, who, first), headers=UNBUFFERED, media_type="text/event-stream")
    return StreamingResponse(_events(events, who), headers=UNBUFFERED, media_type="text/event-stream")


def _whole(reply: Reply) -> Response:
    return JSONResponse(reply, 503 if reply["decision"] == "unavailable" else 200)


async def _events(
    events: PeekableStream[Event | Stage], who: Caller, first: Event | Stage | None = None
) -> AsyncIterator[bytes]:
    """A sentence leaves when it is verified and on record; until then comments keep the line open."""
    event = first
    try:
        while not isinstance(event, dict):
            if event is not None:
                yield _event("stage" if isinstance(event, Stage) else "sentence", asdict(event))
            while not await events.within(HEARTBEAT_S):
                yield b": working\n\n"
            event = await events.next()
        yield _event("reply", event)
        yield _event("done", {"run_id": event["run_id"]})
    except (problems.Problem, CordonError) as error:
        problem = problems.from_error(error)
        details = {"code": problem.code, "message": problem.message, "request_id": who.request_id}
        yield _event("error", {"error": details})
    finally:
        await events.close()


def sentences(reply: Reply) -> list[CitedSentence]:
    """Each sentence with the citations it rests on, whole."""
    cited = {c["n"]: c for c in reply["citations"]}
    return [
        {"text": s["text"], "citations": [cited[n] for n in s["citations"]], "support": s["support"]}
        for s in reply["sentences"]
    ]


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
