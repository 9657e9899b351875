"""The day's runs in figures, a row per tenant (requirement C7)."""

import csv
import io
import re
import statistics
from collections import Counter
from collections.abc import Iterable
from datetime import date
from typing import Any

from graph.errors import BadInput

COLUMNS = (
    "day", "tenant_id", "runs", "answered", "not_in_documents", "refused", "unavailable", "allowed", "guarded",
    "blocked", "guard_events", "rewrites", "median_latency_ms", "worst_latency_ms", "tokens_prompt",
    "tokens_completion",
)  # fmt: skip
_DECISIONS = {"answer": "answered", "no_answer": "not_in_documents", "refusal": "refused", "unavailable": "unavailable"}
_ACTIONS = {"ALLOW": "allowed", "ALLOW_WITH_GUARDRAILS": "guarded", "BLOCK": "blocked"}


def report(entries: Iterable[dict[str, Any]], day: str) -> list[dict[str, Any]]:
    """Rows by tenant for one UTC day, YYYY-MM-DD. Raises BadInput for anything else."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", day):
            raise ValueError
        date.fromisoformat(day)
    except ValueError:
        raise BadInput(f"{day[:40]!r} is no day.", hint="Write it as YYYY-MM-DD, in UTC.") from None
    by_tenant: dict[str, _Tally] = {}
    for entry in entries:
        if entry["timestamp"].startswith(day):
            by_tenant.setdefault(entry["tenant_id"], _Tally()).add(entry)
    return [{"day": day, "tenant_id": tenant, **tally.row()} for tenant, tally in sorted(by_tenant.items())]


def as_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    # A spreadsheet runs what begins with one of these; a tenant's name must stay a name.
    writer.writerows({k: f"'{v}" if str(v)[:1] in "=+-@" else v for k, v in row.items()} for row in rows)
    return out.getvalue()


class _Tally:
    """What is counted of a tenant's runs: a day of many runs is not held in memory."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._latencies: list[float] = []

    def add(self, run: dict[str, Any]) -> None:
        self._counts.update((_DECISIONS[run["final_decision"]], _ACTIONS[run["action"]]))
        self._counts["guard_events"] += len(run["guard_events"])
        self._counts["rewrites"] += bool(run.get("rewrite"))
        self._counts["tokens_prompt"] += run["tokens_prompt"]
        self._counts["tokens_completion"] += run["tokens_completion"]
        self._latencies.append(run["latency_ms"])

    def row(self) -> dict[str, Any]:
        known = {
            "runs": len(self._latencies),
            "median_latency_ms": round(statistics.median(self._latencies), 1),
            "worst_latency_ms": round(max(self._latencies), 1),
        }
        return {column: known.get(column, self._counts[column]) for column in COLUMNS[2:]}
