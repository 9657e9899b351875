"""A suite's rows as an experiment: offline as JSON lines, or sent to LangSmith (LANGSMITH_ENDPOINT, LANGSMITH_API_KEY).

Everything is masked, in the file as on the wire.
"""

import uuid
from collections.abc import Iterable
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
    """Make a project of its own for the suite's rows, a run with its scores for each; returns the project's name."""
    from graph.tracing.langsmith import client

    to = client()
    now = datetime.now(UTC)
    project = f"cordon-{result.suite}-{now:%Y%m%d-%H%M%S}"
    session = to.create_project(project, description=f"cordon eval {result.suite}")
    for row in result.rows:
        told = traced(result.suite, row)
        run_id = str(uuid.uuid4())
        to.create_run(
            result.suite, {key: told[key] for key in ("id", "task", "question", "metadata")}, "chain",
            project_name=project, id=run_id, trace_id=run_id, dotted_order=f"{now:%Y%m%dT%H%M%S%f}Z{run_id}",
            start_time=now, end_time=now,
            outputs={key: told[key] for key in ("answer", "sources", "verdict", "reference")},
        )  # fmt: skip
        for name, score in told["scores"].items():
            why = told["explanations"].get(name)
            to.create_feedback(
                run_id, name, score=score, comment=why, trace_id=run_id, session_id=session.id, start_time=now
            )
    to.cleanup()
    return project
