"""record: the journal line, on disk before the reply exists. If it cannot be written, the run fails."""

from typing import Any

from langgraph.runtime import Runtime

from graph import memory
from graph.audit.record import entry_of, reply_of, review_line, thread_of
from graph.context import Context, Principal, granted, principal
from graph.errors import CordonError
from graph.knowledge.embeddings import Embedder, once
from graph.policy.threats.detector import Detector
from graph.policy.threats.thresholds import Thresholds
from graph.state import Reply, State
from graph.stores.conversations import Conversations
from graph.stores.journal import Journal
from graph.tracing import Tracer


def record(
    state: State,
    runtime: Runtime[Context],
    *,
    journal: Journal,
    conversations: Conversations,
    embedder: Embedder,
    tracer: Tracer | None,
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> State:
    """The order matters: the journal first, then the conversation, the trace and the thread's memory."""
    try:
        asker = principal(runtime)
    except CordonError:
        asker = Principal("", "")
    reply = reply_of(state, asker, thread_of(runtime))
    guards: dict[str, Any] = {
        "guard_detector": detector.digest[:16] if detector else "",
        "guard_borders": thresholds.as_set(asker.tenant_id) if thresholds else {},
    }
    if refused := granted(runtime):
        guards["granted"] = refused
    _append(journal, state, reply, entry_of(state, reply) | guards | {"groups": sorted(asker.groups)})
    # An answer that never left must not leave on the next turn, out of memory: so it is kept only now.
    if asker.tenant_id and state.get("options", {}).get("memory", "none") != "none":
        turn = state["said"]
        # The question as it was searched for: its vector is cached, so nobody waits for another one.
        vector = once(embedder, memory.meant(turn)) if turn and reply["sentences"] else None
        conversations.add(
            asker.tenant_id, asker.user_id, reply["thread_id"], reply, dict(turn or {}), vector, state["audiences"]
        )
    if tracer is not None and state["review"]["said"] is None:  # one that waited was traced when it began to
        tracer.run(reply)
    done: State = {"reply": reply}
    if state["remembered"]:
        done["memory"] = state["remembered"]
    return done


SAYS = {"approve": "approved", "edit": "edited", "refuse": "refused", "expire": "expired"}


def _append(journal: Journal, state: State, reply: Reply, entry: dict[str, Any]) -> None:
    """Write the run's line; for a run that waited for a reviewer, which has its line, who decided what and the outcome.
    A decision that was interrupted is carried out again, so nothing is written twice."""
    decision, run = state["review"]["said"], state["turn"]
    if decision is None:
        journal.append(entry)
        return
    written = {line["kind"] for line in journal.entries("run", run)}
    if "review" not in written:
        journal.append(review_line(reply["tenant_id"], run, SAYS[decision["act"]], decision["by"], decision["reason"]))
    if "outcome" not in written:
        journal.append({**entry, "kind": "outcome", "run": run})
