"""A run by its id, for the person who asked."""

import hashlib
import json
from pathlib import Path
from typing import Any

from graph.audit.chain import is_run
from graph.errors import NotFound
from graph.stores.journal import Entry, Journal


def run_of(journal: Journal, tenant: str, run_id: Any, user: str | None = None) -> Entry:
    """The journal line of a run of this tenant (and user). Raises NotFound."""
    prefix = run_id if isinstance(run_id, str) and len(run_id) >= 4 else "-"
    for entry in journal.entries("run_id", prefix):
        theirs = entry["tenant_id"] == tenant and user in (None, entry.get("user_id"))
        if is_run(entry) and theirs and "query" in entry:
            return entry
    raise NotFound(f"there is no run {str(run_id)[:40]!r}.", hint="A reply names its run_id.")


def last_of(journal: Journal, run: Entry) -> Entry:
    """The line of the outcome, where the run waited for a reviewer and was decided; else the run's own line."""
    lines = [line for line in journal.entries("run", run["run_id"]) if line["kind"] == "outcome"]
    return lines[-1] if lines else run


def reply_in_folder(entry: Entry) -> dict[str, Any] | None:
    """The reply in the run's folder; None where it is gone, or is not the one on record."""
    try:
        reply = json.loads((Path(entry["artifacts"]) / "answer.json").read_bytes())
        same = hashlib.sha256(reply["answer"].encode()).hexdigest() == entry["answer_sha256"]
        return reply if same and reply["run_id"] == entry["run_id"] else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
