"""A suite's rows as an experiment: offline as JSON lines, or sent to LangSmith (LANGSMITH_ENDPOINT, LANGSMITH_API_KEY).

Texts are inputs and outputs, figures and yes-or-no are scores. Everything is masked, in the file as on the wire.
"""

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graph.checkpoints import masked

INPUTS = frozenset({"question", "text", "claim", "prompt", "opening", "tenant", "kind", "id"})


def experiment(suite: str, result: dict[str, Any]) -> list[dict[str, Any]]:
    """{"id", "inputs", "outputs", "scores"} of each row that a suite kept; none when it kept none."""
    rows = result.get("rows", [])
    flat = rows if isinstance(rows, list) else [row for part in rows.values() for row in _rows(part)]
    return [masked(_one(suite, n, row)) for n, row in enumerate(flat)]


def _rows(part: Any) -> list[dict[str, Any]]:
    return part if isinstance(part, list) else [row for rows in part.values() for row in rows]


def _one(suite: str, n: int, row: dict[str, Any]) -> dict[str, Any]:
    scores = {k: float(v) for k, v in row.items() if isinstance(v, bool | int | float)}
    texts = {k: v for k, v in row.items() if k not in scores and v is not None}
    return {
        "id": f"{suite}-{row.get('id', n)}",
        "inputs": {k: v for k, v in texts.items() if k in INPUTS},
        "outputs": {k: v for k, v in texts.items() if k not in INPUTS},
        "scores": scores,
    }


def write(suite: str, result: dict[str, Any], out: Path) -> Path:
    path = out / f"experiment_{suite}.jsonl"
    lines = (json.dumps(row, ensure_ascii=False, default=str) for row in experiment(suite, result))
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def send(suite: str, result: dict[str, Any]) -> str:
    """Make a project of its own for the suite's rows, a run with its scores for each; returns the project's name."""
    from graph.tracing.langsmith import client

    to = client()
    now = datetime.now(UTC)
    project = f"cordon-{suite}-{now:%Y%m%d-%H%M%S}"
    session = to.create_project(project, description=f"cordon eval {suite}")
    for row in experiment(suite, result):
        run_id = str(uuid.uuid4())
        to.create_run(
            suite, row["inputs"], "chain", project_name=project, id=run_id, trace_id=run_id,
            dotted_order=f"{now:%Y%m%dT%H%M%S%f}Z{run_id}", start_time=now, end_time=now, outputs=row["outputs"],
        )  # fmt: skip
        for key, score in row["scores"].items():
            to.create_feedback(run_id, key, score=score, trace_id=run_id, session_id=session.id, start_time=now)
    to.cleanup()
    return project
