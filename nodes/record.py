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
    try:
        asker = principal(runtime)
    except CordonError:
        asker = Principal("", "")
    reply = reply_of(state, asker, thread_of(runtime))
    guards: dict[str, Any] = {
        "guard_detector": detector.digest[:16] if detector else "",
        "guard_borders": thresholds.said(asker.tenant_id) if thresholds else {},
    }
    if refused := granted(runtime):
        guards["granted"] = refused
    _append(journal, state, reply, entry_of(state, reply) | guards | {"groups": sorted(asker.groups)})
    # An answer that never left must not leave on the next turn, out of memory: so it is kept only now.
    if asker.tenant_id and state.get("options", {}).get("memory", "none") != "none":
        gist = state["said"]
        # Of the question as it was searched for, whose vector is there already: nobody waits for another one.
        vector = once(embedder, memory.meant(gist)) if gist and reply["sentences"] else None
        conversations.add(
            asker.tenant_id, asker.user_id, reply["thread_id"], reply, dict(gist or {}), vector, state["audiences"]
        )
    if tracer is not None and state["review"]["said"] is None:  # one that waited was traced when it began to
        tracer.run(reply)
    done: State = {"reply": reply}
    if state["remembered"]:
        done["memory"] = state["remembered"]
    return done


SAYS = {"approve": "approved", "edit": "edited", "refuse": "refused", "expire": "expired"}


def _append(journal: Journal, state: State, reply: Reply, entry: dict[str, Any]) -> None:
    """The run's line; of a run that waited, and has it, who decided what, and what came of it. A decision that was cut
    short is carried out again: what is on record already is not written twice."""
    said, run = state["review"]["said"], state["turn"]
    if said is None:
        journal.append(entry)
        return
    written = {line["kind"] for line in journal.entries("run", run)}
    if "review" not in written:
        journal.append(review_line(reply["tenant_id"], run, SAYS[said["act"]], said["by"], said["reason"]))
    if "outcome" not in written:
        journal.append({**entry, "kind": "outcome", "run": run})
