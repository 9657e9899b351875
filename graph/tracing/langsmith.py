"""Traces to LangSmith, at LANGSMITH_ENDPOINT with LANGSMITH_API_KEY, into the project LANGSMITH_PROJECT."""

import os
from typing import Any

from langsmith import Client

from graph.checkpoints import masked
from graph.settings import Settings
from graph.tracing.spans import Span


def client() -> Client:
    """A client that masks whatever it is given, and tells nothing of the machine it runs on."""
    return Client(
        anonymizer=masked,
        auto_batch_tracing=False,
        omit_traced_runtime_info=True,
        tracing_mode="langsmith",
        timeout_ms=10_000,
    )


class LangSmith:
    """Each span is a LangSmith run of the type "chain"; the stages are children of the run."""

    def __init__(self, to: Client, project: str) -> None:
        self._client, self._project = to, project

    def export(self, trace: list[Span]) -> None:
        root = trace[0]
        for span in trace:
            path = [root] if span is root else [root, span]
            more: dict[str, Any] = {} if span is root else {"parent_run_id": root.id}
            self._client.create_run(
                span.name,
                dict(span.inputs),
                "chain",
                project_name=self._project,
                id=span.id,
                trace_id=root.id,
                dotted_order=".".join(f"{part.start:%Y%m%dT%H%M%S%f}Z{part.id}" for part in path),
                start_time=span.start,
                end_time=span.end,
                outputs=dict(span.outputs),
                extra={"metadata": dict(span.attributes)},
                **more,
            )

    def close(self) -> None:
        if hasattr(self._client, "close"):
            self._client.close()


def exporter(settings: Settings) -> LangSmith:
    """Into the project LANGSMITH_PROJECT, or "cordon"."""
    return LangSmith(client(), os.environ.get("LANGSMITH_PROJECT") or "cordon")
