"""record: the journal line, on disk before the reply exists. If it cannot be written, the run fails."""

from langgraph.runtime import Runtime

from graph.audit.record import entry_of, reply_of, thread_of
from graph.context import Context, Principal, principal
from graph.errors import CordonError
from graph.knowledge.embeddings import Embedder, once
from graph.policy.threats.borders import Borders
from graph.policy.threats.detector import Detector
from graph.state import State
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
    borders: Borders | None = None,
) -> State:
    try:
        asker = principal(runtime)
    except CordonError:
        asker = Principal("", "")
    reply = reply_of(state, asker, thread_of(runtime))
    guards = {
        "guard_detector": detector.digest[:16] if detector else "",
        "guard_borders": borders.said(asker.tenant_id) if borders else {},
    }
    journal.append(entry_of(state, reply) | guards | {"groups": sorted(asker.groups)})
    # An answer that never left must not leave on the next turn, out of memory: so it is kept only now.
    if asker.tenant_id and state.get("options", {}).get("memory", "none") != "none":
        said = state["said"]
        vector = once(embedder, f"{said['question']} {said['topic']}") if said and reply["sentences"] else None
        conversations.add(
            asker.tenant_id, asker.user_id, reply["thread_id"], reply, dict(said or {}), vector, state["audiences"]
        )
    if tracer is not None:
        tracer.run(reply)
    done: State = {"reply": reply}
    if state["remembered"]:
        done["memory"] = state["remembered"]
    return done
