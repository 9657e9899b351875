"""Experiments: every row of a suite with its scores, masked, in a file or at an endpoint."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evals import experiments
from evals.task import Output, Result, Row, Sample, Score
from tests.support.sink import sink

CNIC = "35202-1234567-1"
ASKED = Sample("a", f"Who is {CNIC}?", {"docs": ["staff"]}, {"kind": "who"})
REPLY = Output(f"Nobody, {CNIC}.", ["staff"], "ALLOW", {"confidence": "high"}, raw=CNIC)
RESULT = Result(
    "answers",
    rows=[
        Row("own", ASKED, REPLY, {"right": Score(True), "share": Score(0.5, "one of two")}),
        Row("own", Sample("b", "When?"), Output(), {"right": Score(False)}),
    ],
)


def test_rows_hold_question_reference_sources_verdict_and_scores(tmp_path: Path) -> None:
    file = experiments.write("answers", RESULT.rows, tmp_path / "rows.jsonl")
    first, second = (json.loads(line) for line in file.read_text().splitlines())
    assert first == {
        "id": "answers-a",
        "task": "own",
        "question": "Who is [REDACTED]?",
        "reference": {"docs": ["staff"]},
        "answer": "Nobody, [REDACTED].",
        "sources": ["staff"],
        "verdict": "ALLOW",
        "scores": {"right": 1.0, "share": 0.5},
        "explanations": {"share": "one of two"},
        "metadata": {"kind": "who", "confidence": "high"},
    }
    assert second["scores"] == {"right": 0.0} and second.keys() == first.keys()


def test_half_a_letter_can_be_kept(tmp_path: Path) -> None:
    rows = [Row("own", Sample("a", "half \ud800"), Output(), {})]
    (line,) = experiments.write("json", rows, tmp_path / "rows.jsonl").read_text().splitlines()
    assert json.loads(line)["question"] == "half \ud800"


def test_an_endpoint_gets_runs_and_scores_and_never_a_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    with sink() as collector:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", collector.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_not_a_key")
        experiments.send(RESULT)
    posted = [path for method, path, _ in collector.requests if method == "POST"]
    assert posted.count("/runs") == 2 and posted.count("/feedback") == 3
    assert b"[REDACTED]" in collector.everything and b"1234567" not in collector.everything
    assert all(word in collector.everything for word in (b'"reference"', b'"sources"', b'"verdict"', b"one of two"))


def test_experiments_that_ask_the_same_share_a_data_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(method: str, path: str) -> list[Any]:
        return [json.loads(body) for done, asked, body in collector.requests if (done, asked) == (method, path)]

    with sink() as collector:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", collector.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_not_a_key")
        experiments.send(RESULT)
        lost = collector.examples.pop()  # as after a connection that was lost
        experiments.send(RESULT)
        other = replace(RESULT.rows[1], sample=Sample("b", "Where?"))
        experiments.send(Result("answers", rows=[RESULT.rows[0], other]))
    dataset, another = sent("POST", "/datasets")
    assert dataset["name"].startswith("cordon-answers-") and another["name"] != dataset["name"]
    made = collector.datasets[0]["id"]
    assert [one["reference_dataset_id"] for one in sent("POST", "/sessions")[:2]] == [made, made]
    first, again, _ = sent("POST", "/examples/bulk")
    assert [(one["inputs"]["question"], one["outputs"]["reference"]) for one in first] == [
        ("Who is [REDACTED]?", {"docs": ["staff"]}),
        ("When?", None),
    ]
    assert [one["id"] for one in again] == [lost["id"]]
    runs = [one["reference_example_id"] for one in sent("POST", "/runs")]
    assert runs[:2] == runs[2:4] == [one["id"] for one in first] and not set(runs[:2]) & set(runs[4:])
