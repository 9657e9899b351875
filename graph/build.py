"""The whole system on one screen: stages, edges, and where a failure goes."""

import inspect
import time
from collections.abc import Callable
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from graph.context import Context
from graph.deps import Deps
from graph.settings import load
from graph.state import Input, State
from nodes.admit import admit, admitted
from nodes.classify import classify
from nodes.constrain import constrain
from nodes.decide import decide, settled
from nodes.fail_closed import fail_closed
from nodes.generate import generate, well_formed
from nodes.guard import guard, permitted
from nodes.hold import held, hold, waits
from nodes.present import present
from nodes.publish import publish
from nodes.record import record
from nodes.refuse import refuse
from nodes.remember import remember
from nodes.repair import repair
from nodes.respond import respond
from nodes.retrieve import retrieve
from nodes.review import review
from nodes.triage import enforce, triage
from nodes.validate import validate


def build_graph(deps: Deps | None = None) -> StateGraph[State, Context, Input, State]:
    """The uncompiled graph. Each stage is handed exactly what it asks for."""
    g = _staged(
        deps or Deps(load()), StateGraph(State, context_schema=Context, input_schema=Input),
        admit=admit, classify=classify, triage=triage, constrain=constrain, retrieve=retrieve, guard=guard,
        generate=generate, repair=repair, validate=validate, respond=respond, hold=hold,
        review=review, decide=decide, remember=remember, refuse=refuse, publish=publish, record=record,
    )  # fmt: skip

    g.add_edge(START, "admit")
    g.add_conditional_edges("admit", admitted)
    g.add_edge("classify", "triage")
    g.add_conditional_edges(
        "triage", enforce, {"BLOCK": "refuse", "ALLOW_WITH_GUARDRAILS": "constrain", "ALLOW": "retrieve"}
    )
    g.add_edge("constrain", "retrieve")
    g.add_edge("retrieve", "guard")
    g.add_conditional_edges("guard", permitted)
    g.add_conditional_edges("generate", well_formed)
    g.add_edge("repair", "validate")
    g.add_edge("validate", "respond")
    g.add_conditional_edges("respond", held)
    g.add_conditional_edges("hold", waits)
    g.add_edge("review", "decide")
    g.add_conditional_edges("decide", settled)
    g.add_edge("remember", "publish")
    g.add_edge("refuse", "publish")
    g.add_edge("publish", "record")
    g.add_edge("record", END)
    return g


def build_search(deps: Deps) -> StateGraph[State, Context, Input, State]:
    """The way to masked evidence alone: admission, triage, guard and record as for a question, and no generator."""
    g = _staged(
        deps, StateGraph(State, context_schema=Context, input_schema=Input),
        admit=admit, classify=classify, triage=triage, retrieve=retrieve, guard=guard, present=present,
        refuse=refuse, record=record,
    )  # fmt: skip

    g.add_edge(START, "admit")
    g.add_conditional_edges("admit", admitted, {"classify": "classify", "respond": "present"})
    g.add_edge("classify", "triage")
    g.add_conditional_edges(
        "triage", enforce, {"BLOCK": "refuse", "ALLOW_WITH_GUARDRAILS": "retrieve", "ALLOW": "retrieve"}
    )
    g.add_edge("retrieve", "guard")
    g.add_conditional_edges("guard", permitted, {"refuse": "refuse", "respond": "present", "generate": "present"})
    g.add_edge("present", "record")
    g.add_edge("refuse", "record")
    g.add_edge("record", END)
    return g


def build_replay(deps: Any, recalled: State, then: str) -> StateGraph[State, Context, State, State]:
    """The way of a run that is on record, from its verdict on, with what it had found: nothing is looked for, kept or
    recorded. `then` is the stage that goes on with it: guard, or respond where no passage was near enough."""

    def recall(state: State) -> State:
        return recalled

    g = _staged(
        deps, StateGraph(State, context_schema=Context),
        triage=triage, constrain=constrain, recall=recall, guard=guard, generate=generate, repair=repair,
        validate=validate, respond=respond, refuse=refuse,
    )  # fmt: skip

    g.add_edge(START, "triage")
    g.add_conditional_edges(
        "triage", enforce, {"BLOCK": "refuse", "ALLOW_WITH_GUARDRAILS": "constrain", "ALLOW": "recall"}
    )
    g.add_edge("constrain", "recall")
    g.add_edge("recall", then)
    g.add_conditional_edges("guard", permitted)
    g.add_conditional_edges("generate", well_formed)
    g.add_edge("repair", "validate")
    g.add_edge("validate", "respond")
    g.add_edge("respond", END)
    g.add_edge("refuse", END)
    return g


def _staged(
    deps: Deps, g: StateGraph[State, Context, Any, State], **stages: Callable[..., State]
) -> StateGraph[State, Context, Any, State]:
    handler: Any = fail_closed  # LangGraph's types lack NodeError
    g.set_node_defaults(error_handler=handler)
    for name, work in stages.items():
        _stage(g, deps, name, work)
    return g


def _stage(g: StateGraph[Any, Any, Any, Any], deps: Deps, name: str, work: Callable[..., State]) -> None:
    """Add a stage that tells its time (ms). What it asks for by name is an attribute of Deps, opened when it runs."""
    asks = list(inspect.signature(work).parameters)[1:]

    def run(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
        begun = time.perf_counter()
        runtime.stream_writer({"stage": name})
        update = work(state, **{ask: runtime if ask == "runtime" else getattr(deps, ask) for ask in asks})
        spent = state.get("timings", {}).get(name, 0.0) if name != "admit" else 0.0
        spent_ms = round(spent + (time.perf_counter() - begun) * 1_000, 2)
        return {**update, "timings": {**update.get("timings", {}), name: spent_ms}}

    g.add_node(name, run)
