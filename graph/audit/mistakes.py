"""The false-positive log: runs that a person says were stopped wrongly. `cordon eval guardrails` asks the guards again.

One row each, the question masked, and a line of kind `flag` in the journal.
"""

from itertools import islice
from typing import Any

from graph.audit.chain import is_run
from graph.errors import BadInput, NotFound
from graph.policy import pii
from graph.stores.journal import Journal, Rows
from graph.timestamps import timestamp


def flag(journal: Journal, mistakes: Rows, run_id: str, note: str = "") -> dict[str, Any]:
    """Log a run that was blocked or guarded wrongly. `run_id` may be cut to its first 4 characters or more.

    Raises NotFound for no such run or several, BadInput for one that the guards let through, or flagged before.
    """
    run = one_run(journal, run_id)
    if run["action"] == "ALLOW":
        raise BadInput(f"run {run['run_id'][:8]} was allowed: there is nothing to correct.")
    if any(known["run_id"] == run["run_id"] for known in mistakes.all()):
        raise BadInput(f"run {run['run_id'][:8]} is flagged already.")
    if "query" not in run:
        raise BadInput(f"run {run['run_id'][:8]} was erased: its question is gone.")
    now = timestamp()
    row = {
        "run_id": run["run_id"],
        "timestamp": now,
        "tenant_id": run["tenant_id"],
        "question": run["query"],
        "action": run["action"],
        "risk_score": run["risk_score"],
        "threats": [event["type"] for event in run["guard_events"]],
        "note": pii.mask(note).text,
    }
    journal.append(
        {
            "kind": "flag",
            "timestamp": now,
            "tenant_id": row["tenant_id"],
            "about": row["run_id"],
            "says": "false_positive",
            "note": row["note"],
        }
    )
    mistakes.append(row)
    return row


def one_run(journal: Journal, run_id: str) -> dict[str, Any]:
    """The run whose id begins with `run_id`. Raises NotFound for none, several, or fewer than 4 characters."""
    runs = list(islice(filter(is_run, journal.entries("run_id", run_id)), 2)) if len(run_id) >= 4 else []
    if len(runs) != 1:
        raise NotFound(f"no single run begins with {run_id[:40]!r}.", hint="`cordon audit tail --json` lists them.")
    return runs[0]
