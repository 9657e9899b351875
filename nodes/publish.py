"""publish: the run's folder of artefacts, a blocked run's included."""

from langgraph.runtime import Runtime

from graph.audit.artifacts import Artifacts
from graph.audit.record import reply_of, thread_of
from graph.context import Context, Principal, principal
from graph.errors import Forbidden, Unavailable
from graph.state import State


def publish(state: State, runtime: Runtime[Context], *, artifacts: Artifacts | None) -> State:
    if artifacts is None:
        return {}
    try:
        asker = principal(runtime)
    except Forbidden:
        return {}  # nobody's run: there is nobody to hand artefacts to
    return _write(state, asker, thread_of(runtime), artifacts)


def _write(state: State, asker: Principal, thread: str, artifacts: Artifacts) -> State:
    try:
        with artifacts.folder(state) as folder:
            state = {**state, "artifacts": folder.names()}
            folder.write(state, reply_of(state, asker, thread))
        return {"artifacts": state["artifacts"], "drafts": []}
    except (OSError, Unavailable):
        # The journal is the record that must not fail; a missing folder is told and the answer stands.
        return {"artifacts": {}, "drafts": [], "flags": [*state["flags"], "artifacts_failed"]}
