"""Where turns run: the compiled graphs of one home, in this process.

`cordon serve` may hand turns to processes of its own instead (graph/service/processes.py); they run them here.
"""

import contextvars
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypedDict, TypeVar, cast

from graph.context import Context, key_of
from graph.deps import Deps
from graph.errors import BadInput, Conflict
from graph.models.fair_semaphore import CURRENT_TENANT
from graph.state import CitedSentence, Evidence, Input, Reply, Said, State, fresh_turn
from graph.stores.checkpoints import AFTER
from graph.turn_cache import begin as begin_turn
from graph.turn_cache import spent_ms
from graph.waiting import thread_of

T = TypeVar("T")
SentenceSink = Callable[[CitedSentence], None]
StageSink = Callable[[str], None]
# What a caller who waits is told, by the stage that begins.
PROGRESS = {"retrieve": "searching", "guard": "reading", "generate": "writing", "validate": "checking"}


class SearchResult(TypedDict):
    """`evidence` has the passages; `admitted` says why nothing was searched, "" where it was."""

    reply: Reply
    evidence: list[Evidence]
    admitted: str


@dataclass(frozen=True)
class Turn:
    """A question that may be asked, by whom and in which thread. `kept`: its thread is remembered and may go on."""

    asked: Input
    context: Context
    kept: bool = True

    @property
    def thread(self) -> str:
        """The name of the thread among the checkpoints."""
        return key_of(self.context.tenant_id, self.context.user_id, self.context.thread_id)


class Runner(Protocol):
    """What an Agent hands its turns to."""

    def run(self, turn: Turn, release: SentenceSink | None = None, reached: StageSink | None = None) -> Reply:
        """`release` gets the sentences that may leave before the end as they come, `reached` the values of PROGRESS."""

    def search(self, turn: Turn) -> SearchResult:
        """The evidence for a question, without an answer."""

    @property
    def alive(self) -> int:
        """How many processes can take a turn."""

    def finish(self) -> None:
        """Begin no more turns, and end those under way elsewhere."""


class Turns:
    """Runs turns in this process. Opened on first use; safe between threads."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def open(self) -> None:
        """Compile the graphs now, before several threads could do so at the same time."""
        _ = self.graph, self._stateless_graph, self._search_graph
        if self._deps.detector is not None:
            self._deps.detector.open()

    def run(self, turn: Turn, release: SentenceSink | None = None, reached: StageSink | None = None) -> Reply:
        return self._as_turn(turn.context.tenant_id, lambda: self._run(turn, release, reached))

    def _as_turn(self, tenant: str, work: Callable[[], T]) -> T:
        """Do the work as a turn of this tenant, in a context of its own: callbacks and tracers of the caller would see
        the state and the raw question."""
        from langsmith.run_helpers import tracing_context

        def turn() -> T:
            CURRENT_TENANT.set(tenant)
            begin_turn()
            with tracing_context(enabled=False):
                return work()

        with self._deps.turn_semaphore.inside(tenant):
            return contextvars.Context().run(turn)

    def _run(self, turn: Turn, release: SentenceSink | None, reached: StageSink | None) -> Reply:
        stream_options: dict[str, Any] = {"context": turn.context}
        stored = turn.kept or bool(self._deps.settings.reviewed)  # what may have to wait needs a checkpoint
        graph = self.graph if stored else self._stateless_graph
        # Only the reply, of which the last one counts: the whole state would be read anew after each stage.
        stream_options |= {"stream_mode": ["custom", "values"] if release else ["values"], "output_keys": ["reply"]}
        reply: Reply | None = None
        checkpoints, waits = self._deps.checkpoints, False
        with checkpoints.outages():
            if stored:
                at = {"thread_id": turn.thread, AFTER: self._after_latest(turn.thread)}
                stream_options |= {"config": {"configurable": at}, "durability": "exit"}
            try:
                for mode, event in graph.stream(turn.asked, **stream_options):
                    if mode == "values":
                        reply, waits = event.get("reply", reply), waits or "__interrupt__" in event
                    elif "stage" in event:
                        if reached is not None and event["stage"] in PROGRESS:
                            reached(PROGRESS[event["stage"]])
                    elif release is not None:
                        sentence = event["sentence"]
                        release(
                            {"text": sentence["text"], "support": sentence["support"], "citations": event["citations"]}
                        )
                if waits and reply is not None:
                    self._set_aside(turn, reply["run_id"])
            finally:
                if stored and not turn.kept:
                    checkpoints.forget([turn.thread])
        assert reply is not None
        # The record cannot tell how long it took itself; the reply can.
        return {**reply, "timings_ms": {**reply["timings_ms"], "total": spent_ms() or 0.0}}

    # -- what waits for a reviewer ------------------------------------------------------------------------

    def _set_aside(self, turn: Turn, run_id: str) -> None:
        """Move a run that waits to a thread of its own, so that its conversation may go on."""
        at, own = _config(turn.thread), _config(thread_of(turn.context.tenant_id, run_id))
        self.graph.update_state(own, self.graph.get_state(at).values, as_node="hold")
        self.graph.invoke(None, own, context=turn.context, durability="exit")  # as far as the reviewer's decision
        if turn.kept:
            self.graph.update_state(at, None, as_node="__end__")
            self.graph.update_state(at, fresh_turn("", ""), as_node="record")

    def waiting(self, tenant_id: str, run_id: str) -> State:
        """The state of a run that waits, or of its outcome; {} when there is none."""
        with self._deps.checkpoints.outages():
            state: State = self.graph.get_state(_config(thread_of(tenant_id, run_id))).values
            return state

    def resolve(self, asker: Context, run_id: str, decision: Said) -> Reply:
        """Carry out a reviewer's decision on a run that waits, and keep the outcome alone. The caller holds the run's
        thread and that of the conversation.

        Raises Conflict, with what is in the way, when it cannot be done, BadInput for an edit that cannot stand; then
        it waits on. Unavailable when it could not be recorded.
        """
        return self._as_turn(asker.tenant_id, lambda: self._resolve(asker, run_id, decision))

    def _resolve(self, asker: Context, run_id: str, decision: Said) -> Reply:
        from langgraph.types import Command

        own = _config(thread_of(asker.tenant_id, run_id))
        talk = _config(key_of(asker.tenant_id, asker.user_id, asker.thread_id))
        with self._deps.checkpoints.outages():
            memory = self.graph.get_state(talk).values.get("memory")  # as it is now: the conversation may have gone on
            waits, command = self.graph.get_state(own), cast(Any, None)
            if "review" in waits.next:
                command = Command(resume=decision, update={"memory": memory} if memory else {})
            else:  # decided before, and not recorded: it goes on from there
                self.graph.update_state(own, {}, as_node="publish")
                memory = memory if memory == waits.values["memory"] else None
            outcome = self.graph.invoke(command, own, context=asker, durability="exit")
            if "__interrupt__" in outcome:
                raise (BadInput if decision["act"] == "edit" else Conflict)(outcome["review"]["problem"])
            if memory and outcome["memory"] != memory:
                self.graph.update_state(talk, {"memory": outcome["memory"]}, as_node="record")
            reply: Reply = outcome["reply"]
            self.keep_outcome(asker.tenant_id, run_id, outcome["owner"], reply, outcome["audiences"])
            return reply

    def keep_outcome(
        self, tenant_id: str, run_id: str, owner: str, reply: Reply, audiences: Sequence[list[str]] = ()
    ) -> None:
        """Keep a run's reply, and nothing else of the run, for the asker to fetch: `owner` is their digest, `audiences`
        the sets of groups who may read it."""
        own = _config(thread_of(tenant_id, run_id))
        outcome: dict[str, Any] = {**fresh_turn("", ""), "owner": owner, "reply": reply, "audiences": [*audiences]}
        with self._deps.checkpoints.outages():
            self.graph.update_state(own, outcome, as_node="record")

    def search(self, turn: Turn) -> SearchResult:
        return self._as_turn(turn.context.tenant_id, lambda: self._search(turn))

    def _search(self, turn: Turn) -> SearchResult:
        state = self._search_graph.invoke(turn.asked, context=turn.context)
        return {"reply": state["reply"], "evidence": state["evidence"], "admitted": state["admitted"]}

    @property
    def alive(self) -> int:
        return 1

    def finish(self) -> None:
        """Turns here are ended by whoever began them."""

    def close(self) -> None:
        """Give up the compiled graphs; the next turn compiles them anew."""
        for compiled in ("graph", "_stateless_graph", "_search_graph"):
            self.__dict__.pop(compiled, None)

    def _after_latest(self, thread: str) -> str:
        """The id of the thread's last checkpoint, "" without one. LangGraph takes the greatest id for the last, and an
        id begins with the time: so the next ids are made greater even if the clock was set back."""
        from langgraph.checkpoint.base import id as ids

        if latest := self._deps.checkpoints.latest(thread):
            ids._last_v6_timestamp = max(ids._last_v6_timestamp or 0, ids.UUID(latest).time)  # type: ignore[assignment]
        return latest

    @cached_property
    def graph(self) -> Any:
        """The compiled graph, with the checkpointer."""
        from graph.build import build_graph

        return build_graph(self._deps).compile(checkpointer=self._deps.checkpoints.saver)

    @cached_property
    def _stateless_graph(self) -> Any:
        """The same graph for threads that nobody comes back to: nothing of them is stored but the record."""
        from graph.build import build_graph

        _ = self._deps.lock
        return build_graph(self._deps).compile()

    @cached_property
    def _search_graph(self) -> Any:
        from graph.build import build_search

        _ = self._deps.lock
        return build_search(self._deps).compile()


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread}}
