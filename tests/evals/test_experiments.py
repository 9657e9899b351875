"""Experiments: every row of a suite with its scores, masked, in a file or at an endpoint."""

import json
from pathlib import Path

import pytest

from evals import experiments
from tests.support.sink import sink

CNIC = "35202-1234567-1"
RESULT = {
    "figures": {},
    "rows": [
        {"id": "a", "question": f"Who is {CNIC}?", "answer": f"Nobody, {CNIC}.", "right": True, "score": 0.5},
        {"id": "b", "question": "When?", "answer": "", "right": False, "score": None},
    ],
}


def test_rows_become_inputs_outputs_and_scores(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in experiments.write("answers", RESULT, tmp_path).read_text().splitlines()]
    assert rows[0]["inputs"] == {"id": "a", "question": "Who is [REDACTED]?"}
    assert rows[0]["outputs"] == {"answer": "Nobody, [REDACTED]."}
    assert [row["scores"] for row in rows] == [{"right": 1.0, "score": 0.5}, {"right": 0.0}]


def test_rows_of_several_parts_are_taken_together() -> None:
    assert len(experiments.experiment("memory", {"rows": {"x": {"none": [{"id": 1}]}, "y": [{"id": 2}]}})) == 2


def test_an_endpoint_gets_runs_and_scores_and_never_a_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    with sink() as collector:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", collector.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_not_a_key")
        experiments.send("answers", RESULT)
    posted = [path for method, path, _ in collector.requests if method == "POST"]
    assert posted.count("/runs") == 2 and posted.count("/feedback") == 3
    assert b"[REDACTED]" in collector.everything and b"1234567" not in collector.everything
