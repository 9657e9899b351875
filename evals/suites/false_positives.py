"""What people said of the guards, judged by the present ones: questions stopped wrongly (`cordon audit flag`), and
sentences of documents, released or confirmed (`cordon docs release`, `confirm`)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evals.stats import Rate
from graph.errors import BadInput
from graph.policy.evidence import withholding
from graph.policy.threats import assess

Row = dict[str, Any]


def judge(home: Path) -> dict[str, Any]:
    """How many of the reported questions and sentences are still stopped; n = 0 without a log. In it they are masked.

    Each was stopped when it was reported, so nothing but 0 is good; of confirmed sentences nothing but 1. Sentences are
    judged in their passages. Raises BadInput for a line that is no report.
    """
    rows = reported(home)
    stopped = [assess(row["question"], tenant=row["tenant_id"], encode=True).action for row in rows]
    found = {
        "reported false positives: still blocked": Rate(stopped.count("BLOCK"), len(rows)).as_json(),
        "reported false positives: still blocked or guarded": Rate(
            sum(action != "ALLOW" for action in stopped), len(rows)
        ).as_json(),
    }
    sentences = decided(home)
    for says in ("released", "confirmed"):
        still = [_withheld(row) for row in sentences if row["says"] == says]
        found[f"{says} sentences: still withheld"] = Rate(sum(still), len(still)).as_json()
    return found


def reported(home: Path) -> list[Row]:
    """The lines of HOME/audit/false_positives.jsonl, oldest first, each run once (its last report)."""

    def read(row: Row) -> tuple[Any, Row]:
        return row["run_id"], {"question": str(row["question"]), "tenant_id": str(row["tenant_id"])}

    return _last(home / "audit" / "false_positives.jsonl", read, "report of a false positive")


def decided(home: Path) -> list[Row]:
    """The lines of HOME/audit/withheld.jsonl, oldest first, each sentence of a document once (the last word on it)."""

    def read(row: Row) -> tuple[Any, Row]:
        kept: Row = {"says": str(row["says"]), "passage": str(row["passage"])}
        kept |= {"start": int(row["start"]), "end": int(row["end"])}
        return (row["tenant_id"], row["doc_id"], row["sentence_sha256"]), kept

    return _last(home / "audit" / "withheld.jsonl", read, "sample of a withheld sentence")


def _withheld(row: Row) -> bool:
    return any(a < row["end"] and b > row["start"] for a, b in withholding.ranges(row["passage"]))


def _last(path: Path, read: Callable[[Row], tuple[Any, Row]], what: str) -> list[Row]:
    if not path.is_file():
        return []
    found: dict[Any, Row] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            key, row = read(json.loads(line))
            found[key] = row
        except (ValueError, KeyError, TypeError) as exc:
            raise BadInput(f"line {number} of {path.name} is no {what}.", hint="Remove or correct the line.") from exc
    return list(found.values())
