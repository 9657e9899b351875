"""The false-positive log: runs that a person says were stopped wrongly. `cordon eval guardrails` asks the guards again.

One JSON line each in audit/false_positives.jsonl, the question masked, and a line of kind `flag` in the journal.
"""

import json
import os
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from graph.audit.journal import Journal
from graph.errors import BadInput, NotFound
from graph.knowledge.home import private_directory
from graph.policy import pii


class Mistakes:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self.path = journal.path.with_name("false_positives.jsonl")

    def flag(self, run_id: str, note: str = "") -> dict[str, Any]:
        """Log a run that was blocked or guarded wrongly. `run_id` may be cut to its first 4 characters or more.

        Raises NotFound for no such run or several, BadInput for one that the guards let through, or flagged before.
        """
        run = one_run(self._journal, run_id)
        if run["action"] == "ALLOW":
            raise BadInput(f"run {run['run_id'][:8]} was allowed: there is nothing to correct.")
        if any(known["run_id"] == run["run_id"] for known in self.all()):
            raise BadInput(f"run {run['run_id'][:8]} is flagged already.")
        if "query" not in run:
            raise BadInput(f"run {run['run_id'][:8]} was erased: its question is gone.")
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
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
        self._journal.append(
            {
                "kind": "flag",
                "timestamp": now,
                "tenant_id": row["tenant_id"],
                "run_id": row["run_id"],  # what erases the run erases the note
                "says": "false_positive",
                "note": row["note"],
            }
        )
        private_directory(self.path.parent)
        with os.fdopen(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as out:
            out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        return row

    def all(self) -> list[dict[str, Any]]:
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_bytes().splitlines() if line.strip()]

    def forget(self, run_ids: Collection[str]) -> int:
        """Erase what was flagged of these runs. Returns how many lines it was."""
        known = self.all()
        kept = [row for row in known if row["run_id"] not in set(run_ids)]
        if len(kept) < len(known):
            fresh = self.path.with_name(f".{self.path.name}.writing")
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.writelines(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in kept)
            fresh.replace(self.path)
        return len(known) - len(kept)


def one_run(journal: Journal, run_id: str) -> dict[str, Any]:
    """The run whose id begins so. Raises NotFound for none, several, or fewer than 4 characters."""
    found = [entry for entry in journal.runs() if entry["run_id"].startswith(run_id)]
    if len(found) != 1 or len(run_id) < 4:
        raise NotFound(f"no single run begins with {run_id[:40]!r}.", hint="`cordon audit tail --json` lists them.")
    return found[0]
