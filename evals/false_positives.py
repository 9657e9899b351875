"""What people reported as stopped wrongly (`cordon audit flag RUN --false-positive`), judged by the present guards."""

import json
from pathlib import Path
from typing import Any

from evals.stats import Rate
from graph.errors import BadInput
from graph.policy.threats import assess


def judge(home: Path) -> dict[str, Any]:
    """How many of the reported questions are still stopped; n = 0 without a log. Questions are masked in the log.

    Each was stopped when it was reported, so nothing but 0 is good. Raises BadInput for a line that is no report.
    """
    rows = reported(home)
    stopped = [assess(row["question"], tenant=row["tenant_id"], encode=True).action for row in rows]
    return {
        "reported false positives: still blocked": Rate(stopped.count("BLOCK"), len(rows)).as_json(),
        "reported false positives: still blocked or guarded": Rate(
            sum(action != "ALLOW" for action in stopped), len(rows)
        ).as_json(),
    }


def reported(home: Path) -> list[dict[str, Any]]:
    """The lines of HOME/audit/false_positives.jsonl, oldest first, each run once (its last report)."""
    path = home / "audit" / "false_positives.jsonl"
    if not path.is_file():
        return []
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            found[row["run_id"]] = {"question": str(row["question"]), "tenant_id": str(row["tenant_id"])}
        except (ValueError, KeyError, TypeError) as exc:
            raise BadInput(
                f"line {number} of {path.name} is no report of a false positive.", hint="Remove or correct the line."
            ) from exc
    return list(found.values())
