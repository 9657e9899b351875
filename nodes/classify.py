"""classify: what the question wants, and what to look for, with a follow-up completed from memory."""

from functools import partial

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
    """What a client says was asked before is judged here, as no other stage does."""
    asker, question, kind = principal(runtime), courtesy.bare(state["question"]), state["options"]["memory"]
    if state["earlier"]:
        judge = partial(assess, tenant=asker.tenant_id, encode=True, thresholds=thresholds)
        earlier = [turn for turn in state["earlier"] if judge(turn["meant"]).action == "ALLOW"]
        past: Memory = {"turns": [*earlier, *memory.recalled(state["memory"], kind)], "summary": []}
        follow_up = memory.resolve(question, past, "buffer")
    else:
        earlier = _earlier(state, question, asker, conversations, embedder) if kind != "none" else []
        follow_up = memory.resolve(question, state["memory"], kind, earlier)
    pointer = {"about": follow_up.about, "doc_ids": list(follow_up.doc_ids), "after": follow_up.after}
    return {
        "intent": intent.classify(question),
        "listing": intent.inventory(follow_up.query),
        "query": " ".join(follow_up.query.split()),
        "follow_up": pointer if follow_up.turns_used else {},
        "turns_used": len(memory.recalled(state["memory"], kind)) + len(earlier),
        "earlier": earlier,
        "audiences": memory.audiences([*memory.recalled(state["memory"], kind), *earlier]),
    }


def _earlier(
    state: State, question: str, asker: Principal, conversations: Conversations, embedder: Embedder
) -> list[PastTurn]:
    """Turns of the asker's own threads that this thread's memory lacks word by word, nearest in meaning first."""
    tenant, user = asker.tenant_id, asker.user_id
    if not conversations.any(tenant, user, asker.groups):
        return []
    known = {turn["question"] for turn in state["memory"]["turns"]}
    vector = once(embedder, memory.without_cue(question) or question)
    matches = conversations.search(tenant, user, vector, memory.RECALLED + len(known), asker.groups)
    near = [m.turn for m in matches if m.score >= memory.RECALL_FROM and m.turn["question"] not in known]
    return near[: memory.RECALLED]  # type: ignore[return-value]
