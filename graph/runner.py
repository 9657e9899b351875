"""Where turns run: the compiled graphs of one home, in this process.

`cordon serve` may hand turns to processes of its own instead (graph/service/processes.py); they run them here.
"""

import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypedDict

from graph.context import Context, key_of
from graph.deps import Deps
from graph.models.gate import WHOSE
from graph.state import CitedSentence, Evidence, Input, Reply
from graph.stores.checkpoints import AFTER
from graph.turn import begin as begin_turn
from graph.turn import spent_ms

SentenceSink = Callable[[CitedSentence], None]


class Found(TypedDict):
    """Of a search: what `answer` tells of it, the passages, and why it was not searched ("" where it was)."""

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
        return key_of(self.context.tenant_id, self.context.user_id, self.context.thread_id)


class Runner(Protocol):
    """What an Agent hands its turns to."""

    def run(self, turn: Turn, release: SentenceSink | None = None) -> Reply:
        """With `release` the sentences that may leave before the end are handed out as they come."""

    def search(self, turn: Turn) -> Found:
        """Its evidence alone."""

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
        """Everything that is opened on first use, before several threads could do it at the same time."""
        _ = self.graph, self._passing, self._finder
        if self._deps.detector is not None:
            self._deps.detector.open()

    def run(self, turn: Turn, release: SentenceSink | None = None) -> Reply:
        # In a context of its own: callbacks and tracers of the caller would see the state and the raw question.
        with self._deps.gate.inside(turn.context.tenant_id):
            return contextvars.Context().run(self._run, turn, release)

    def _run(self, turn: Turn, release: SentenceSink | None) -> Reply:
        from langsmith.run_helpers import tracing_context

        WHOSE.set(turn.context.tenant_id)
        begin_turn()
        known: dict[str, Any] = {"context": turn.context}
        graph = self._passing
        if turn.kept:
            graph = self.graph
        # Not all of the state, which would be read anew after each stage; of the reply the last one counts.
        known |= {"stream_mode": ["custom", "values"] if release else ["values"], "output_keys": ["reply"]}
        reply: Reply | None = None
        kept = self._deps.checkpoints
        with tracing_context(enabled=False), kept.outages():
            if turn.kept:
                at = {"thread_id": turn.thread, AFTER: self._after_latest(turn.thread)}
                known |= {"config": {"configurable": at}, "durability": "exit"}
            for mode, told in graph.stream(turn.asked, **known):
                if mode == "values":
                    reply = told["reply"]
                elif release is not None:
                    release(told["sentence"] | {"citations": told["citations"]})
            if turn.kept:
                kept.keep_latest(turn.thread)  # a turn needs the last one only, and the journal has the history
        assert reply is not None
        # The record cannot tell how long it took itself; the reply can.
        return {**reply, "timings_ms": {**reply["timings_ms"], "total": spent_ms() or 0.0}}

    def search(self, turn: Turn) -> Found:
        with self._deps.gate.inside(turn.context.tenant_id):
            return contextvars.Context().run(self._search, turn)

    def _search(self, turn: Turn) -> Found:
        from langsmith.run_helpers import tracing_context

        WHOSE.set(turn.context.tenant_id)
        begin_turn()
        with tracing_context(enabled=False):
            state = self._finder.invoke(turn.asked, context=turn.context)
        return {"reply": state["reply"], "evidence": state["evidence"], "admitted": state["admitted"]}

    @property
    def alive(self) -> int:
        return 1

    def finish(self) -> None:
        """Turns here are ended by whoever began them."""

    def close(self) -> None:
        for compiled in ("graph", "_passing", "_finder"):
            self.__dict__.pop(compiled, None)

    def _after_latest(self, thread: str) -> str:
        """The id of the thread's last checkpoint, "" without one. Those of a turn come after those that are there,
        though the clock was set back: LangGraph takes the one with the greatest id for the last, and an id begins with
        the time."""
        from langgraph.checkpoint.base import id as ids

        if latest := self._deps.checkpoints.latest(thread):
            ids._last_v6_timestamp = max(ids._last_v6_timestamp or 0, ids.UUID(latest).time)  # type: ignore[assignment]
        return latest

    @cached_property
    def graph(self) -> Any:
        from graph.build import build_graph

        return build_graph(self._deps).compile(checkpointer=self._deps.checkpoints.saver)

    @cached_property
    def _passing(self) -> Any:
        """The same graph for threads that nobody comes back to: nothing of them is stored but the record."""
        from graph.build import build_graph

        _ = self._deps.lock
        return build_graph(self._deps).compile()

    @cached_property
    def _finder(self) -> Any:
        from graph.build import build_search

        _ = self._deps.lock
        return build_search(self._deps).compile()
