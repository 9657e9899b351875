"""record: the journal line, on disk before the reply exists. If it cannot be written, the run fails."""

from typing import Any

from langgraph.runtime import Runtime

from graph.audit.journal import Journal
from graph.audit.record import entry_of, reply_of, thread_of
from graph.context import Context, Principal, principal
from graph.errors import CordonError
from graph.state import State


def record(state: State, runtime: Runtime[Context], *, journal: Journal) -> dict[str, Any]:
    try:
        asker = principal(runtime)
    except CordonError:
        asker = Principal("", "")
    reply = reply_of(state, asker, thread_of(runtime))
    journal.append(entry_of(state, reply))
    # An answer that never left must not leave on the next turn, out of memory: so it is kept only now.
    return {"reply": reply} | ({"memory": state["remembered"]} if state["remembered"] else {})
