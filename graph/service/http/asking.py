"""POST /v1/ask: one question, one reply object, or its verified sentences as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import Field

from graph.errors import CordonError
from graph.service.http import problems
from graph.service.http.caller import Caller
from graph.service.http.service import Asker, Options, Served, Service

HEARTBEAT_S = 10
router = APIRouter(prefix="/v1", tags=["ask"])


class Question(Options):
    question: str = Field(description="in words; at most CORDON_MAX_QUESTION_CHARS characters")
    stream: bool = Field(False, description="server-sent events: `sentence`…, `reply`, `done`")


@router.post("/ask", responses={503: {"description": "The model or the index is down; the body is a reply object."}})
async def ask(body: Question, who: Asker, service: Served) -> Response:
    """Answer one question. A refusal is a reply (200, `decision` refusal); an outage is 503, with the reply object."""
    options = Options(**body.model_dump(exclude={"question", "stream"}))
    if body.stream:
        return StreamingResponse(_events(body.question, options, who, service), media_type="text/event-stream")
    reply = await service.ask(who, body.question, options, "rest")
    return JSONResponse(reply, 503 if reply["decision"] == "unavailable" else 200)


async def _events(question: str, options: Options, who: Caller, service: Service) -> AsyncIterator[bytes]:
    """A sentence leaves when it is verified and on record; until then comments keep the line open."""
    events = service.stream(who, question, options, "rest")
    try:
        while True:
            coming = asyncio.ensure_future(anext(events))
            while not (await asyncio.wait({coming}, timeout=HEARTBEAT_S))[0]:
                yield b": working\n\n"
            event = coming.result()
            if isinstance(event, dict):
                yield _event("reply", event)
                yield _event("done", {"run_id": event["run_id"]})
                return
            yield _event("sentence", asdict(event))
    except (problems.Problem, CordonError) as error:
        problem = error if isinstance(error, problems.Problem) else problems.of(error)
        told = {"code": problem.code, "message": problem.message, "request_id": who.request_id}
        yield _event("error", {"error": told})
    finally:
        coming.cancel()
        await asyncio.wait({coming})
        await events.aclose()


def sentences(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """Each sentence with the citations it rests on, whole."""
    cited = {c["n"]: c for c in reply["citations"]}
    return [
        {"text": s["text"], "citations": [cited[n] for n in s["citations"]], "support": s["support"]}
        for s in reply["sentences"]
    ]


def _event(name: str, data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
