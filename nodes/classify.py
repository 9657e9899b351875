"""classify: what the question wants, and what to look for, with a follow-up completed from memory."""

from typing import Any

from langgraph.runtime import Runtime

from graph import memory
from graph.context import Context, Principal, principal
from graph.knowledge.embeddings import Embedder, once
from graph.policy.question import intent
from graph.policy.threats import assess, courtesy
from graph.policy.threats.thresholds import Thresholds
from graph.state import Memory, PastTurn, State
from graph.stores.conversations import Conversations


def classify(
    state: State,
    runtime: Runtime[Context],
    *,
    conversations: Conversations,
    embedder: Embedder,
    thresholds: Thresholds | None = None,
) -> State:
    asker, question, kind = principal(runtime), courtesy.bare(state["question"]), state["options"]["memory"]
    if state["earlier"]:
        # No stage has judged what a client says was asked before: what a guard would stop is not gone on from.
        earlier = [turn for turn in state["earlier"] if _harmless(turn["meant"], asker.tenant_id, thresholds)]
        past: Memory = {"turns": [*earlier, *memory.recalled(state["memory"], kind)], "summary": []}
        follow_up = memory.resolve(question, past, "buffer")
    else:
        earlier = _earlier(state, question, asker, conversations, embedder) if kind != "none" else []
        follow_up = memory.resolve(question, state["memory"], kind, earlier)
    return {
        "intent": intent.classify(question),
        "listing": intent.inventory(follow_up.query),
        "query": " ".join(follow_up.query.split()),
        "follow_up": _as_state(follow_up) if follow_up.turns_used else {},
        "turns_used": len(memory.recalled(state["memory"], kind)) + len(earlier),
        "earlier": earlier,
        "audiences": memory.audiences([*memory.recalled(state["memory"], kind), *earlier]),
    }


def _harmless(question: str, tenant: str, thresholds: Thresholds | None) -> bool:
    return assess(question, tenant=tenant, encode=True, thresholds=thresholds).action == "ALLOW"


def _as_state(follow_up: memory.FollowUp) -> dict[str, Any]:
    return {"about": follow_up.about, "doc_ids": list(follow_up.doc_ids), "after": follow_up.after}


def _earlier(
    state: State, question: str, asker: Principal, conversations: Conversations, embedder: Embedder
) -> list[PastTurn]:
    """Turns of the asker's own threads that this thread's memory no longer holds word by word, nearest in meaning."""
    tenant, user = asker.tenant_id, asker.user_id
    if not conversations.any(tenant, user, asker.groups):
        return []
    known = {turn["question"] for turn in state["memory"]["turns"]}
    vector = once(embedder, memory.without_cue(question) or question)
    found = conversations.search(tenant, user, vector, memory.RECALLED + len(known), asker.groups)
    near = [f.turn for f in found if f.score >= memory.RECALL_FROM and f.turn["question"] not in known]
    return near[: memory.RECALLED]  # type: ignore[return-value]
