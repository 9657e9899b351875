"""Prometheus metrics. Labels are stages, codes and route templates: no tenant, no user, no content."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from graph.state import Reply

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_STAGE_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """One registry per service, so that two services in a process do not meet."""

    def __init__(self, in_flight: Callable[[], float], waiting: Callable[[], float]) -> None:
        self._registry = r = CollectorRegistry()
        self._requests = Counter("cordon_requests", "HTTP requests", ["method", "route", "status"], registry=r)
        self._request_s = Histogram("cordon_request_seconds", "HTTP request", ["route"], buckets=_STAGE_S, registry=r)
        self._stage_s = Histogram("cordon_stage_seconds", "A stage of a run", ["stage"], buckets=_STAGE_S, registry=r)
        self._turns = Counter("cordon_turns", "Runs by decision", ["door", "decision"], registry=r)
        self._verdicts = Counter("cordon_verdicts", "Runs by verdict", ["action"], registry=r)
        self._refusals = Counter("cordon_refusals", "Refusals by code", ["code"], registry=r)
        self._guard_errors = Counter("cordon_guard_errors", "Runs that a failing stage closed", registry=r)
        self._tokens = Counter("cordon_tokens", "Tokens of the language model", ["kind"], registry=r)
        self._files = Counter("cordon_ingested_files", "Uploaded files by outcome", ["status"], registry=r)
        Gauge("cordon_requests_in_flight", "Requests being served", registry=r).set_function(in_flight)
        Gauge("cordon_turns_waiting", "Runs waiting for a thread", registry=r).set_function(waiting)

    def text(self) -> bytes:
        """In the format that Prometheus reads."""
        return generate_latest(self._registry)

    def request(self, method: str, route: str, status: int, spent_ms: float) -> None:
        """`route` is the template of the address, without ids."""
        self._requests.labels(method if method in _METHODS else "other", route, str(status)).inc()
        self._request_s.labels(route).observe(spent_ms / 1_000)

    def turn(self, door: str, reply: Reply) -> None:
        """`door` is where it came in: rest, chat, langserve, mcp."""
        for stage, spent_ms in reply["timings_ms"].items():
            self._stage_s.labels(stage).observe(spent_ms / 1_000)
        self._turns.labels(door, reply["decision"]).inc()
        self._verdicts.labels(reply["verdict"]["action"]).inc()
        if reply["refusal"]:
            self._refusals.labels(reply["refusal"]["code"]).inc()
        if reply["decision"] == "unavailable":
            self._guard_errors.inc()
        self._tokens.labels("prompt").inc(reply["usage"]["prompt_tokens"])
        self._tokens.labels("completion").inc(reply["usage"]["completion_tokens"])

    def file(self, status: str) -> None:
        """Count an uploaded file by its outcome."""
        self._files.labels(status).inc()
