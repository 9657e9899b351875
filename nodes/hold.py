"""hold: an answer that a person reads first goes on the list of what waits and on record. The reply that leaves now has
nothing of it."""

from dataclasses import asdict
from typing import Literal

from langgraph.runtime import Runtime

from graph.context import Context, principal
from graph.knowledge.embeddings import Embedder
from graph.policy.answer import refusals
from graph.policy.threats.detector import Detector
from graph.policy.threats.thresholds import Thresholds
from graph.state import State
from graph.stores.conversations import Conversations
from graph.stores.journal import Journal
from graph.tracing import Tracer
from graph.waiting import Waiting
from nodes.record import record

_WHY = {"assessment": "An assessment", "guarded": "An answer given under guardrails"}


def hold(
    state: State,
    runtime: Runtime[Context],
    *,
    waiting: Waiting,
    journal: Journal,
    conversations: Conversations,
    embedder: Embedder,
    tracer: Tracer | None,
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> State:
    """`unavailable` where too many answers wait already."""
    why = state["review"]["why"]
    nothing: State = {"sentences": [], "citations": [], "assessment": {}, "artifacts": {}, "confidence": "low"}
    # On LangGraph Server a run waits in a thread of that server, and is decided there.
    if runtime.server_info is None and not waiting.add(
        "answer", state["turn"], state["started"], state["question"], why, {**asdict(runtime.context)}
    ):
        notice = f"Unavailable: {waiting.most} answers wait for a reviewer already. Ask again when some are decided."
        flags = [*state["flags"], "reviews_full"]
        return {**nothing, "decision": "unavailable", "answer": notice, "flags": flags, "evidence": []}
    _ = principal(runtime)
    shown: State = {
        **state,
        **nothing,
        "decision": "pending_review",
        "answer": refusals.PENDING,
        "draft": {**state["draft"], "outcome": ""},
        "reasoning": f"{_WHY[why]} waits for a reviewer.",
    }
    stores = {"journal": journal, "conversations": conversations, "embedder": embedder, "tracer": tracer}
    reply = record(shown, runtime, **stores, detector=detector, thresholds=thresholds)["reply"]  # type: ignore[arg-type]
    return {"reply": {**reply, "retrieval": {"confidence": "low", "candidates": []}}}


def held(state: State) -> Literal["hold", "remember"]:
    """`why` is set by `respond`."""
    return "hold" if state["review"]["why"] else "remember"


def waits(state: State) -> Literal["review", "publish"]:
    """`unavailable` when the list of waiting answers was full."""
    return "publish" if state["decision"] == "unavailable" else "review"
