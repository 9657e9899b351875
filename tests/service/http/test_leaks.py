"""The leak matrix: a slice of it always, all of it by `python -m evals.security.leaks`; and every cell of the slice can fail."""

from pathlib import Path
from typing import Any

import pytest

from evals.security.doors import routes
from evals.security.leaks import ARTEFACTS, LEGITIMATE, DatabaseOf, matrix, run
from evals.security.leaks_doors import DOORS
from evals.security.leaks_world import CANARIES, LEAK, canaries_in, indexed, outside
from evals.serving import Served
from graph.agent import Agent
from graph.build import build_graph
from graph.context import Context, key_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning"),  # LangServe's own calls
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning"),
]
SLICE = (
    "Agent.astream",
    "POST /v1/ask stream",
    "/agent/stream_events",
    "MCP ask",
    "graph.stream messages, embedded model",
    "graph.astream_events, embedded model",
)


def test_no_canary_gets_out_and_every_cell_can_fail(database_of: DatabaseOf) -> None:
    looked, leaked = matrix(SLICE, planted=False, database_of=database_of)
    assert sorted(map(str, leaked)) == []
    assert len(looked) > 400
    _, shown = matrix(SLICE, planted=True, database_of=database_of)
    assert sorted(map(str, looked - shown)) == []


def test_every_route_that_asks_or_reads_is_in_the_matrix(served: Served) -> None:
    told = " ".join(DOORS)
    reading = ("ask", "read", "release", "audit")
    found = {r.path for r in routes(served.inner) if r.permission in reading and r.method in ("GET", "POST")}
    # A page, schemas and names of things; a job names files; a head is a hash.
    others = ("playground", "_schema", "/models", "/jobs", "/audit/head")
    elsewhere = {path for path in found if any(part in path for part in others)}
    assert [p for p in sorted(found - elsewhere) if p.split("/{")[0] not in told] == []


def test_the_canaries_are_told_apart_and_none_is_in_an_innocent_text() -> None:
    assert canaries_in(LEAK) == set(CANARIES)
    assert canaries_in("The kestrel freezer holds the whole blood samples.") == set()
    assert len(CANARIES["prompt"]) >= 15
    assert {artefact for _, artefact in LEGITIMATE} <= set(ARTEFACTS)


def test_langserve_would_trace_the_raw_question_without_its_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The framework's switch, set behind the back of a running service that traces to LangSmith itself."""

    async def traced() -> Any:
        yield

    with outside() as beside:
        home = indexed(tmp_path)
        _, kept = run("/agent/invoke", home, beside, "langsmith", planted=False)
        assert kept == set() and beside.collected
        monkeypatch.setattr("graph.service.http.langserve._untraced", traced)
        monkeypatch.setattr("graph.policy.pii.mask", unmasked)
        _, lost = run("/agent/invoke", home, beside, "langsmith", planted=False)
    assert "question's secret" in {cell.canary for cell in lost if cell.artefact == "trace"}


def test_a_model_inside_the_runs_context_would_show_its_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    door = "graph.astream_events, embedded model"
    with outside() as beside:
        home = indexed(tmp_path)
        assert run(door, home, beside, "jsonl", planted=False)[1] == set()
        monkeypatch.setattr("graph.models.chat._alone", lambda call, *args: call(*args))
        _, lost = run(door, home, beside, "jsonl", planted=False)
    assert {(cell.artefact, cell.canary) for cell in lost} == {("events", "prompt")}


def test_the_stream_of_messages_has_no_token_of_a_model(agent: Agent) -> None:
    """What a model writes is a draft: a raw stream of its messages must stay empty."""
    asked: Any = {"question": "How many people are in PunjabThal after the removals?"}
    context = Context("U1", "local", "raw-messages")
    graph = build_graph(agent.deps).compile()
    assert list(graph.stream(asked, context=context, stream_mode="messages")) == []


def test_a_finished_thread_holds_no_draft(agent: Agent) -> None:
    agent.ask("How many people are in PunjabThal after the removals?", tenant_id="U1", thread_id="no-draft")
    state = agent.turns.graph.get_state({"configurable": {"thread_id": key_of("U1", "local", "no-draft")}}).values
    assert state["sentences"] and (state["draft"]["text"], state["draft"]["value"]) == ("", None)


def unmasked(text: str, **_: Any) -> Any:
    from graph.policy.pii import Masked

    return Masked(text, ())


def test_a_callers_callbacks_see_nothing_of_a_run(agent: Agent) -> None:
    """Cordon inside somebody else's chain: the chain's callbacks are not handed down into the graph."""
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.runnables import RunnableLambda

    class Ears(BaseCallbackHandler):
        heard: list[str]

        def __init__(self) -> None:
            self.heard = []

        def on_chain_start(self, serialized: Any, inputs: Any, **more: Any) -> None:
            self.heard.append(str(more.get("name")))

        def on_chat_model_start(self, serialized: Any, messages: Any, **more: Any) -> None:
            self.heard.append("model")

    ears = Ears()
    asked = RunnableLambda(lambda question: agent.ask(question, tenant_id="U1"), name="theirs")
    reply = asked.invoke("How many people are in PunjabThal after the removals?", {"callbacks": [ears]})
    assert reply["decision"] == "answer"
    assert ears.heard == ["theirs"]
