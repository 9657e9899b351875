"""A suite's rows as an experiment: offline as JSON lines, or sent to LangSmith (LANGSMITH_ENDPOINT, LANGSMITH_API_KEY).

Everything is masked, in the file as on the wire.
"""

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.task import Result, Row, jsonl
from graph.checkpoints import masked


def traced(suite: str, row: Row) -> dict[str, Any]:
    """One flat row; `pandas.read_json(file, lines=True)` makes a column of each key. Scores are numbers by name."""
    sample, output = row.sample, row.output
    told: dict[str, Any] = masked({
        "id": f"{suite}-{sample.id}",
        "task": row.task,
        "question": sample.input,
        "reference": sample.target,
        "answer": output.text,
        "sources": list(output.sources),
        "verdict": output.verdict,
        "scores": {name: float(score.value) for name, score in row.scores.items()},
        "explanations": {name: score.explanation for name, score in row.scores.items() if score.explanation},
        "metadata": {**sample.metadata, **output.metadata},
    })  # fmt: skip
    return told


def write(suite: str, rows: Iterable[Row], file: Path) -> Path:
    return jsonl(file, (traced(suite, row) for row in rows))


def send(result: Result) -> str:
    """Send the suite's rows as an experiment over a data set of its samples; returns the experiment's name.

    The data set is named after what its samples ask and want: suites that asked the same are compared over one of them.
    A run has the sample that it answers and its scores.
    """
    from graph.tracing.langsmith import client

    to = client()
    now = datetime.now(UTC)
    rows = [traced(result.suite, row) for row in result.rows]
    dataset, examples = _dataset(to, result.suite, rows)
    project = f"cordon-{result.suite}-{now:%Y%m%d-%H%M%S}"
    session = to.create_project(project, description=f"cordon eval {result.suite}", reference_dataset_id=dataset)
    for told, example in zip(rows, examples, strict=True):
        run_id = str(uuid.uuid4())
        to.create_run(
            result.suite, {key: told[key] for key in ("id", "task", "question", "metadata")}, "chain",
            project_name=project, id=run_id, trace_id=run_id, dotted_order=f"{now:%Y%m%dT%H%M%S%f}Z{run_id}",
            start_time=now, end_time=now, reference_example_id=example,
            outputs={key: told[key] for key in ("answer", "sources", "verdict", "reference")},
        )  # fmt: skip
        for name, score in told["scores"].items():
            why = told["explanations"].get(name)
            to.create_feedback(
                run_id, name, score=score, comment=why, trace_id=run_id, session_id=session.id, start_time=now
            )
    to.cleanup()
    return project


def _dataset(to: Any, suite: str, rows: Sequence[dict[str, Any]]) -> tuple[uuid.UUID, list[uuid.UUID]]:
    """The id of the data set that holds what these rows ask and want, and of the example of each. Only those that are
    not there yet are sent: one that was cut off is made whole."""
    wanted = [{key: told[key] for key in ("id", "task", "question", "reference")} for told in rows]
    digest = hashlib.sha256(json.dumps(wanted, sort_keys=True).encode()).hexdigest()[:8]
    name = f"cordon-{suite}-{digest}"
    if to.has_dataset(dataset_name=name):
        dataset = to.read_dataset(dataset_name=name).id
    else:
        dataset = to.create_dataset(name, description=f"What cordon eval {suite} asks, and what it wants").id
    ids = [uuid.uuid5(dataset, f"{n} {row['id']}") for n, row in enumerate(wanted)]
    there = {example.id for example in to.list_examples(dataset_id=dataset)}
    to.create_examples(
        dataset_id=dataset,
        examples=[
            {
                "id": one,
                "inputs": {"question": row["question"]},
                "reference_outputs": {"reference": row["reference"]},
                "metadata": {"id": row["id"], "task": row["task"]},
            }
            for one, row in zip(ids, wanted, strict=True)
            if one not in there
        ],
    )
    return dataset, ids
