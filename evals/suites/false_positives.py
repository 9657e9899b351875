"""What people said of the guards, judged by the present ones: questions stopped wrongly (`cordon audit flag`), and
sentences of documents, released or confirmed (`cordon docs release`, `confirm`)."""

from collections.abc import Callable, Iterator
from typing import Any, Literal

from evals.solvers import judged, triage
from evals.task import Output, Sample, Scores, Task
from graph.errors import BadInput
from graph.policy.evidence import withholding
from graph.stores import Stores

Log = Literal["false_positives", "withheld"]


def tasks(stores: Stores) -> Iterator[Task]:
    """How many of the reported questions and sentences are still stopped; n = 0 without a log. In it they are masked.

    Each was stopped when it was reported, so nothing but 0 is good; of confirmed sentences nothing but 1. Sentences are
    judged in their passages. Raises BadInput for a line that is no report.
    """
    still = {"blocked": "blocked", "blocked or guarded": "stopped"}
    figures = {f"reported false positives: still {name}": score for name, score in still.items()}
    yield Task("reported false positives", reported(stores), again, judged, figures)
    for says in ("released", "confirmed"):
        sentences = [sample for sample in decided(stores) if sample.metadata["says"] == says]
        figures = {f"{says} sentences: still withheld": "withheld"}
        yield Task(f"{says} sentences", sentences, lambda sample: Output(), withheld, figures)


def again(sample: Sample) -> Output:
    return triage(sample, tenant=sample.metadata["tenant_id"], encode=True)


def withheld(sample: Sample, out: Output) -> Scores:
    start, end = sample.metadata["start"], sample.metadata["end"]
    return {"withheld": any(a < end and b > start for a, b in withholding.ranges(sample.input))}


def reported(stores: Stores) -> list[Sample]:
    """Each run that was reported once (its last report), oldest first."""

    def read(row: dict[str, Any]) -> tuple[Any, Sample]:
        return row["run_id"], Sample(
            str(row["run_id"]), str(row["question"]), "ALLOW", {"tenant_id": str(row["tenant_id"])}
        )

    return _last(stores, "false_positives", read, "report of a false positive")


def decided(stores: Stores) -> list[Sample]:
    """Each sentence of a document once (the last word on it), oldest first."""

    def read(row: dict[str, Any]) -> tuple[Any, Sample]:
        key = (row["tenant_id"], row["doc_id"], row["sentence_sha256"])
        told = {"says": str(row["says"]), "start": int(row["start"]), "end": int(row["end"])}
        return key, Sample(key[2], str(row["passage"]), None, told)

    return _last(stores, "withheld", read, "sample of a withheld sentence")


def _last(stores: Stores, name: Log, read: Callable[[dict[str, Any]], tuple[Any, Sample]], what: str) -> list[Sample]:
    found: dict[Any, Sample] = {}
    for number, row in enumerate(stores.rows(name).all(), 1):
        try:
            key, sample = read(row)
            found[key] = sample
        except (ValueError, KeyError, TypeError) as exc:
            raise BadInput(f"line {number} of {name} is no {what}.", hint="Remove or correct the line.") from exc
    return list(found.values())
