"""Tracing: off unless asked for, and then spans of our own instead of whatever a framework would send.

LangChain's and LangGraph's own tracing would hand out the graph's state: the raw question, drafts, prompts. So it stays
switched off always, and what leaves is built here from the reply: stage names, times, ids, codes and figures. A new
destination is one module with an `Exporter` and one line in `_EXPORTERS`.
"""

import importlib
import logging
import os
import queue
import threading
from typing import TYPE_CHECKING, Protocol

from graph.errors import BadSettings
from graph.settings import Settings
from graph.tracing.spans import Span, spans

if TYPE_CHECKING:
    from graph.state import Reply

_SWITCHES = (
    "LANGSMITH_TRACING",
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING",
    "LANGCHAIN_TRACING_V2",
    "LANGSMITH_OTEL_ENABLED",
)
_EXPORTERS = {"jsonl": "graph.tracing.jsonl", "langsmith": "graph.tracing.langsmith", "otel": "graph.tracing.otel"}
_WAITING = 1_000  # runs that may wait for a slow destination; more are dropped and counted
_CLOSE_S = 10.0
_log = logging.getLogger("cordon.tracing")


class Exporter(Protocol):
    """A destination of traces, called from the tracer's thread alone. What it raises is logged, without its text."""

    def export(self, trace: list[Span]) -> None:
        """Send one run: its own span first, then those of its stages."""

    def close(self) -> None:
        """Called once, after the last trace."""


def refuse_uninvited(settings: Settings) -> None:
    """Raise BadSettings when the environment would trace and the settings do not ask for it.

    When they do, the switches are taken out all the same: a framework's own trace would hold the graph's state.
    """
    on = [name for name in _SWITCHES if os.environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")]
    if on and settings.tracing == "off":
        raise BadSettings(
            f"{on[0]} is set, which would send traces to a server, but CORDON_TRACING does not ask for it.",
            hint=f"Unset {on[0]}, or set CORDON_TRACING=langsmith.",
        )
    for name in on:
        del os.environ[name]
    if on:
        from langsmith import utils

        utils.get_env_var.cache_clear()  # type: ignore[attr-defined]


class Tracer:
    """Hands finished runs to the exporter from a thread of its own: no answer waits for a trace, or fails by one."""

    def __init__(self, exporter: Exporter, *, content: bool) -> None:
        self._exporter, self._content = exporter, content
        self._queue: queue.Queue[list[Span] | threading.Event | None] = queue.Queue(_WAITING)
        self.dropped = 0
        self._thread = threading.Thread(target=self._work, name="cordon-tracing", daemon=True)
        self._thread.start()

    def run(self, reply: "Reply") -> None:
        """Trace the run that made this reply."""
        try:
            self._queue.put_nowait(spans(reply, content=self._content))
        except queue.Full:
            self.dropped += 1

    def flush(self) -> None:
        """Wait until what waits now is sent, for ten seconds at most."""
        sent = threading.Event()
        self._queue.put(sent)
        sent.wait(_CLOSE_S)

    def close(self) -> None:
        """Send what waits, for ten seconds at most."""
        self._queue.put(None)
        self._thread.join(_CLOSE_S)

    def _work(self) -> None:
        while (trace := self._queue.get()) is not None:
            if isinstance(trace, threading.Event):
                trace.set()
                continue
            try:
                self._exporter.export(trace)
            except Exception as error:  # its text may quote what was sent
                self.dropped += 1
                _log.warning("a trace was not delivered (%s)", type(error).__name__)
        try:
            self._exporter.close()
        except Exception as error:
            _log.warning("the trace exporter did not close (%s)", type(error).__name__)


def tracer(settings: Settings) -> Tracer | None:
    """The tracer that the settings ask for, or None. Raises BadSettings when its package is not installed."""
    if settings.tracing == "off":
        return None
    try:
        exporter = importlib.import_module(_EXPORTERS[settings.tracing]).exporter(settings)
    except ImportError as error:
        raise BadSettings(
            f"CORDON_TRACING={settings.tracing} needs {error.name}, which is not installed.",
            hint="Run `make serve`, or `pip install 'cordon[otel]'`.",
        ) from error
    return Tracer(exporter, content=settings.trace_content)
