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
    by_tenant: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        if entry["timestamp"].startswith(day):
            by_tenant.setdefault(entry["tenant_id"], []).append(entry)
    return [_row(day, tenant, runs) for tenant, runs in sorted(by_tenant.items())]


def as_csv(rows: list[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    # A spreadsheet runs what begins with one of these; a tenant's name must stay a name.
    writer.writerows({k: f"'{v}" if str(v)[:1] in "=+-@" else v for k, v in row.items()} for row in rows)
    return out.getvalue()


def _row(day: str, tenant: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    decisions = Counter(_DECISIONS[run["final_decision"]] for run in runs)
    actions = Counter(_ACTIONS[run["action"]] for run in runs)
    latencies = [run["latency_ms"] for run in runs]
    known = {
        "day": day,
        "tenant_id": tenant,
        "runs": len(runs),
        "guard_events": sum(len(run["guard_events"]) for run in runs),
        "rewrites": sum(bool(run.get("rewrite")) for run in runs),
        "median_latency_ms": round(statistics.median(latencies), 1),
        "worst_latency_ms": round(max(latencies), 1),
        "tokens_prompt": sum(run["tokens_prompt"] for run in runs),
        "tokens_completion": sum(run["tokens_completion"] for run in runs),
    }
    return {column: known.get(column, decisions[column] + actions[column]) for column in COLUMNS}
