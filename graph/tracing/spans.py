"""A run as spans: the run itself and its stages, from the reply. No evidence, draft or prompt is in reach here."""

import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from graph.context import key_of
from graph.policy import pii

if TYPE_CHECKING:
    from graph.state import Reply


@dataclass(frozen=True)
class Span:
    """`start` and `end` are UTC. The first span of a trace is the run, the others are its stages in their order."""

    id: str  # UUID
    name: str
    start: datetime
    end: datetime
    attributes: dict[str, Any] = field(default_factory=dict)  # str, int, float, bool, lists of str
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)


def spans(reply: "Reply", *, content: bool) -> list[Span]:
    """The trace of a run. With `content` the question and the answer go along, masked once more."""
    begun = datetime.fromisoformat(reply["timestamp"].replace("Z", "+00:00"))
    stages, at = [], begun
    for name, spent_ms in reply["timings_ms"].items():
        if name != "total":
            stages.append(Span(str(uuid.uuid4()), name, at, at := at + timedelta(milliseconds=spent_ms)))
    verdict, refusal = reply["verdict"], reply["refusal"]
    attributes = {
        "run_id": reply["run_id"],
        "tenant_id": reply["tenant_id"],
        "user": key_of(reply["tenant_id"], reply["user_id"]),
        "thread": key_of(reply["tenant_id"], reply["user_id"], reply["thread_id"]),
        "intent": reply["intent"]["name"],
        "action": verdict["action"],
        "risk_score": verdict["risk_score"],
        "threats": [threat["type"] for threat in verdict["threats"]],
        "decision": reply["decision"],
        "refusal": refusal["code"] if refusal else "",
        "confidence": reply["confidence"],
        "flags": reply["safety_flags"],
        "retrieved": [c["chunk_id"] for c in reply["retrieval"]["candidates"]],
        "cited": list(dict.fromkeys(c["chunk_id"] for c in reply["citations"])),
        "sentences": len(reply["sentences"]),
        "model": reply["usage"]["model"],
        "model_calls": reply["usage"]["model_calls"],
        "prompt_tokens": reply["usage"]["prompt_tokens"],
        "completion_tokens": reply["usage"]["completion_tokens"],
    }
    inputs = {"question": pii.mask(reply["question"]).text} if content else {}
    outputs = {"answer": pii.mask(reply["answer"]).text} if content else {}
    return [Span(str(uuid.UUID(reply["run_id"])), "cordon", begun, at, attributes, inputs, outputs), *stages]
