"""Traces to any OpenTelemetry collector: OTLP over HTTP, at OTEL_EXPORTER_OTLP_ENDPOINT."""

from datetime import datetime
from typing import Any

from opentelemetry import trace as api
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from graph.settings import Settings
from graph.tracing.spans import Span


class Otel:
    """Attributes are named `cordon.…`. Each span is sent by itself and given up after ten seconds."""

    def __init__(self) -> None:
        self._provider = TracerProvider(resource=Resource({"service.name": "cordon"}), shutdown_on_exit=False)
        self._provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(timeout=10)))
        self._tracer = self._provider.get_tracer("cordon")

    def export(self, trace: list[Span]) -> None:
        root, *stages = trace
        values: dict[str, Any] = {f"cordon.{key}": value for key, value in root.attributes.items()}
        values |= {f"cordon.{key}": value for key, value in (root.inputs | root.outputs).items()}
        parent = self._tracer.start_span("cordon", start_time=_ns(root.start), attributes=values)
        within = api.set_span_in_context(parent)
        for stage in stages:
            child = self._tracer.start_span(stage.name, context=within, start_time=_ns(stage.start))
            child.end(_ns(stage.end))
        parent.end(_ns(root.end))

    def close(self) -> None:
        self._provider.shutdown()


def _ns(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1_000


def exporter(settings: Settings) -> Otel:
    """The SDK reads the address from OTEL_EXPORTER_OTLP_ENDPOINT."""
    return Otel()
