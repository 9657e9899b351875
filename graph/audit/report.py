"""The day's runs in figures, a row per tenant (requirement C7)."""

import csv
import io
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from graph.audit.pdf import BAR, BARS
from graph.errors import BadInput
from graph.policy.text import defang

COLUMNS = (
    "day", "tenant_id", "runs", "answered", "not_in_documents", "refused", "unavailable", "allowed", "guarded",
    "blocked", "guard_events", "rewrites", "median_latency_ms", "worst_latency_ms", "tokens_prompt",
    "tokens_completion", "pending_review",
)  # fmt: skip
_DECISIONS = {
    "answer": "answered", "no_answer": "not_in_documents", "refusal": "refused", "unavailable": "unavailable",
    "pending_review": "pending_review",
}  # fmt: skip
_ACTIONS = {"ALLOW": "allowed", "ALLOW_WITH_GUARDRAILS": "guarded", "BLOCK": "blocked"}


def report(entries: Iterable[dict[str, Any]], day: str) -> list[dict[str, Any]]:
    """Rows by tenant for one UTC day, YYYY-MM-DD. Raises BadInput for anything else."""
    return [{"day": day, "tenant_id": tenant, **tally.row()} for tenant, tally in _tallies(entries, day)]


def as_markdown(entries: Iterable[dict[str, Any]], day: str) -> str:
    """The same with charts: when it was asked, what was decided, what the guards found. Raises as `report` does."""
    tallies = _tallies(entries, day)
    rows = [{"tenant_id": tenant, **tally.row()} for tenant, tally in tallies]
    hours, threats = Counter[str](), Counter[str]()
    for _, tally in tallies:
        hours += tally.hours
        threats += tally.threats
    parts = [
        f"# {day}",
        f"{_plural(sum(row['runs'] for row in rows), 'run')}, {_plural(len(rows), 'tenant')}. Hours are UTC.",
    ]
    if rows:
        shown = ("tenant_id", "runs", *_DECISIONS.values(), "median_latency_ms", "worst_latency_ms")
        parts += ["## Decisions", _table(shown, [[row[column] for column in shown] for row in rows])]
        shown = ("tenant_id", *_ACTIONS.values(), "guard_events", "rewrites")
        parts += ["## Verdicts", _table(shown, [[row[column] for column in shown] for row in rows])]
        by_hour = [(f"{hour:02}", hours[f"{hour:02}"]) for hour in range(int(min(hours)), int(max(hours)) + 1)]
        parts += ["## Runs by hour", _bars("hour", by_hour), "## Runs by tenant"]
        parts.append(_bars("tenant", [(row["tenant_id"], row["runs"]) for row in rows]))
        if threats:
            parts += ["## What the guards found", _bars("threat", threats.most_common())]
    return "\n\n".join(parts) + "\n"


def _tallies(entries: Iterable[dict[str, Any]], day: str) -> list[tuple[str, "_Tally"]]:
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
    return sorted(by_tenant.items())


def _plural(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count != 1 else ''}"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [[name.removesuffix("_id").replace("_", " ") for name in head], ["---"] * len(head)]
    lines += [[defang.line(str(cell)).replace("|", "/") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bars(what: str, counts: Sequence[tuple[str, int]]) -> str:
    most = max(count for _, count in counts)
    return _table((what, "runs", ""), [(name, count, BAR * -(-count * BARS // most)) for name, count in counts])


def as_csv(rows: list[dict[str, Any]]) -> str:
    """The rows of `report` under COLUMNS, lines ended by a line feed."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    # A spreadsheet runs what begins with one of these; a tenant's name must stay a name.
    writer.writerows({k: f"'{v}" if str(v)[:1] in "=+-@" else v for k, v in row.items()} for row in rows)
    return out.getvalue()


class _Tally:
    """What is counted of a tenant's runs, so that a day of many runs need not fit in memory."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._latencies: list[float] = []
        self.hours: Counter[str] = Counter()  # "00" to "23"
        self.threats: Counter[str] = Counter()  # runs by kind of threat

    def add(self, run: dict[str, Any]) -> None:
        """`run` is an entry of kind run."""
        self._counts.update((_DECISIONS[run["final_decision"]], _ACTIONS[run["action"]]))
        self._counts["guard_events"] += len(run["guard_events"])
        self._counts["rewrites"] += bool(run.get("rewrite"))
        self._counts["tokens_prompt"] += run["tokens_prompt"]
        self._counts["tokens_completion"] += run["tokens_completion"]
        self._latencies.append(run["latency_ms"])
        self.hours[run["timestamp"][11:13]] += 1
        self.threats.update({event["type"] for event in run["guard_events"]})

    def row(self) -> dict[str, Any]:
        """COLUMNS without day and tenant. Raises StatisticsError before the first run."""
        known = {
            "runs": len(self._latencies),
            "median_latency_ms": round(statistics.median(self._latencies), 1),
            "worst_latency_ms": round(max(self._latencies), 1),
        }
        return {column: known.get(column, self._counts[column]) for column in COLUMNS[2:]}
