"""Leaks put in on purpose: with them every cell of the matrix should turn red, else its zero means nothing.

Each is one guard broken or one line too many, at the place where the artefact is made.
"""

import functools
import logging
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from evals.security.leaks_world import LEAK, World


@contextmanager
def crashing() -> Iterator[None]:
    """Not a leak but a fault: the guard fails with all canaries in the text of its error."""

    def dies(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(LEAK)

    with patch("graph.policy.evidence.access.denied", dies):
        yield


def faults(world: World) -> Iterator[None]:
    """The same turn under each fault: a model server that fails and tells all, a stage that raises with all in it."""
    world.outside.broken = True
    yield
    world.outside.broken = False
    with crashing():
        yield


@contextmanager
def leaking(home: Path | None = None) -> Iterator[None]:
    """Every plant at once, for graphs and services that are made inside it."""
    import graph.administration.documents
    import graph.agent
    import graph.build
    import graph.models.chat
    import graph.tracing.langsmith
    from graph.answering.verified import Verified
    from graph.audit.record import entry_of
    from graph.tracing.spans import spans as genuine_spans

    wiring: Any = graph.build  # which names the stages for itself
    respond, add = wiring.respond, Verified.add
    fail_closed, complete = wiring.fail_closed, graph.models.chat.Generator.complete
    described, search = graph.administration.documents._described, graph.agent.Agent.search

    def loud_respond(state: Any, *, settings: Any) -> dict[str, Any]:
        from langchain_core.language_models import FakeListChatModel
        from langgraph.config import get_stream_writer

        FakeListChatModel(responses=[LEAK]).invoke(LEAK)  # with the run's callbacks: shows in LangChain's own events
        get_stream_writer()({"sentence": {"text": LEAK, "citations": [], "support": 1.0}, "citations": []})
        logging.getLogger("cordon.http").warning(LEAK)
        print(LEAK, file=sys.stderr)
        Path(tempfile.gettempdir(), "leak.txt").write_text(LEAK)
        if home is not None:
            (home / "leak.txt").write_text(LEAK)
        update = respond(state, settings=settings)
        return {**update, "answer": f"{update['answer']} {LEAK}"}

    def loud_add(self: Any, claim: Any) -> Any:
        sentences = add(self, claim)
        for sentence in sentences:
            sentence["text"] += " " + LEAK
        return sentences

    def loud_spans(reply: Any, *, content: bool) -> Any:
        root, *rest = genuine_spans(reply, content=content)
        root.attributes["leak"] = LEAK
        return [root, *rest]

    @functools.wraps(fail_closed)
    def loud_failure(state: Any, error: Any) -> Any:
        command: Any = fail_closed(state, error)
        command.update["error"]["message"] += " " + LEAK
        return command

    def loud_complete(self: Any, messages: Any, **known: Any) -> Any:
        from langchain_core.messages import HumanMessage

        return complete(self, [HumanMessage(LEAK), *messages], **known)

    def loud_search(self: Any, *asked: Any, **who: Any) -> Any:
        logging.getLogger("cordon.http").warning(LEAK)
        print(LEAK, file=sys.stderr)
        Path(tempfile.gettempdir(), "leak.txt").write_text(LEAK)
        if home is not None:
            (home / "leak.txt").write_text(LEAK)
        return [{**found, "text": f"{found['text']} {LEAK}"} for found in search(self, *asked, **who)]

    plants: dict[str, Any] = {
        "graph.build.respond": loud_respond,
        "graph.build.fail_closed": loud_failure,
        "graph.answering.verified.Verified.add": loud_add,
        "nodes.record.entry_of": lambda state, reply: entry_of(state, reply) | {"leak": LEAK},
        "graph.tracing.spans": loud_spans,
        "graph.checkpoints.masked": lambda value: value,
        "graph.tracing.langsmith.masked": lambda value: value,
        "graph.models.chat.Generator.complete": loud_complete,
        "graph.administration.documents._described": lambda record, groups: described(record, groups) | {"title": LEAK},
        "graph.agent.Agent.search": loud_search,
    }
    with ExitStack() as stack:
        for target, plant in plants.items():
            stack.enter_context(patch(target, plant))
        stack.enter_context(_loud_service())
        yield


@contextmanager
def _loud_service() -> Iterator[None]:
    try:
        from graph.service.http import langserve, metrics, problems, service
    except ImportError:
        yield
        return
    begin, count = problems.Problem.__init__, metrics.Metrics.request

    def loud(self: Any, status: int, message: str = "", **more: Any) -> None:
        begin(self, status, message, **more)
        self.message += " " + LEAK

    async def traced() -> Any:
        yield

    def loud_request(self: Any, method: str, route: str, *more: Any) -> None:
        count(self, method, f"{route} {LEAK}", *more)

    with (
        patch.object(metrics.Metrics, "request", loud_request),
        patch.object(problems.Problem, "__init__", loud),
        patch.object(service, "UNAVAILABLE", service.UNAVAILABLE + " " + LEAK),
        patch.object(langserve, "_untraced", traced),
    ):
        yield


def child(arguments: list[str], *, planted: bool, crash: bool, home: Path) -> None:
    """`cordon` with these arguments in this process, with what is to be planted."""
    with ExitStack() as stack:
        if planted:
            stack.enter_context(leaking(home))
        if crash:
            stack.enter_context(crashing())
        from graph.service.cli import main

        sys.argv = ["cordon", *arguments]
        main()
