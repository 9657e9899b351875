"""publish: the run's folder of artefacts, a blocked run's included."""

from langgraph.runtime import Runtime

from graph.audit.artifacts import Artifacts
from graph.audit.record import reply_of, thread_of
from graph.context import Context, principal
from graph.errors import Forbidden, Unavailable
from graph.state import State


def publish(state: State, runtime: Runtime[Context], *, artifacts: Artifacts | None) -> State:
    """The flag `artifacts_failed` where they cannot be written: the record is the journal, so the answer stands."""
    if artifacts is None:
        return {}
    try:
        asker = principal(runtime)
    except Forbidden:
        return {}  # nobody's run: there is nobody to hand artefacts to
    try:
        with artifacts.folder(state) as folder:
            state = {**state, "artifacts": folder.names()}
            folder.write(state, reply_of(state, asker, thread_of(runtime)))
        return {"artifacts": state["artifacts"], "drafts": []}
    except (OSError, Unavailable):
        return {"artifacts": {}, "drafts": [], "flags": [*state["flags"], "artifacts_failed"]}
