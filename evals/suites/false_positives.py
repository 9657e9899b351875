"""What people said of the guards, judged by the present ones: questions stopped wrongly (`cordon audit flag`), and
sentences of documents, released or confirmed (`cordon docs release`, `confirm`)."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from evals.solvers import judged, triage
from evals.task import Output, Sample, Scores, Task
from graph.errors import BadInput
from graph.policy.evidence import withholding


def tasks(home: Path) -> Iterator[Task]:
    """How many of the reported questions and sentences are still stopped; n = 0 without a log. In it they are masked.

    Each was stopped when it was reported, so nothing but 0 is good; of confirmed sentences nothing but 1. Sentences are
    judged in their passages. Raises BadInput for a line that is no report.
    """
    still = {"blocked": "blocked", "blocked or guarded": "stopped"}
    figures = {f"reported false positives: still {name}": score for name, score in still.items()}
    yield Task("reported false positives", reported(home), again, judged, figures)
    for says in ("released", "confirmed"):
        sentences = [sample for sample in decided(home) if sample.metadata["says"] == says]
        figures = {f"{says} sentences: still withheld": "withheld"}
        yield Task(f"{says} sentences", sentences, lambda sample: Output(), withheld, figures)


def again(sample: Sample) -> Output:
    return triage(sample, tenant=sample.metadata["tenant_id"], encode=True)


def withheld(sample: Sample, out: Output) -> Scores:
    start, end = sample.metadata["start"], sample.metadata["end"]
    return {"withheld": any(a < end and b > start for a, b in withholding.ranges(sample.input))}


def reported(home: Path) -> list[Sample]:
    """The lines of HOME/audit/false_positives.jsonl, oldest first, each run once (its last report)."""

    def read(row: dict[str, Any]) -> tuple[Any, Sample]:
        return row["run_id"], Sample(
            str(row["run_id"]), str(row["question"]), "ALLOW", {"tenant_id": str(row["tenant_id"])}
        )

    return _last(home / "audit" / "false_positives.jsonl", read, "report of a false positive")


def decided(home: Path) -> list[Sample]:
    """The lines of HOME/audit/withheld.jsonl, oldest first, each sentence of a document once (the last word on it)."""

    def read(row: dict[str, Any]) -> tuple[Any, Sample]:
        key = (row["tenant_id"], row["doc_id"], row["sentence_sha256"])
        told = {"says": str(row["says"]), "start": int(row["start"]), "end": int(row["end"])}
        return key, Sample(key[2], str(row["passage"]), None, told)

    return _last(home / "audit" / "withheld.jsonl", read, "sample of a withheld sentence")


def _last(path: Path, read: Callable[[dict[str, Any]], tuple[Any, Sample]], what: str) -> list[Sample]:
    if not path.is_file():
        return []
    found: dict[Any, Sample] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            key, sample = read(json.loads(line))
            found[key] = sample
        except (ValueError, KeyError, TypeError) as exc:
            raise BadInput(f"line {number} of {path.name} is no {what}.", hint="Remove or correct the line.") from exc
    return list(found.values())
