"""A detector of one's own, through the command line: asked, scanned, refused and compared."""

import json
from pathlib import Path

import pytest

from evals import material
from evals.__main__ import main as evaluate
from tests.support.command import Run, jsonl
from tests.support.onnx_models import classifier

QUESTION = "What is the freezer budget zorblax?"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    names = {"id2label": {"0": "SAFE", "1": "INJECTION"}}
    return classifier(tmp_path / "own", {"zorblax": [-9.0, 9.0]}, names, always=[4.0, 0.0])


def test_a_question_that_it_flags_is_refused(inside: Run, folder: Path) -> None:
    assert inside("ask", QUESTION, "--tenant", "U1").returncode == 0
    done = inside("ask", QUESTION, "--tenant", "U1", "--json", detector=folder)
    assert done.returncode == 3, done.stderr
    assert json.loads(done.stdout)["refusal"]["code"] == "InjectionDetected"


def test_a_detector_that_breaks_answers_nothing(inside: Run, folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"no model")
    done = inside("ask", QUESTION, "--tenant", "U1", detector=folder)
    assert done.returncode == 4 and "the detector of CORDON_DETECTOR failed" in done.stdout + done.stderr
    done = inside("scan", stdin='{"id": 1, "text": "hello"}', detector=folder)
    assert done.returncode == 2 and done.stdout == "" and "cannot be used" in done.stderr


def test_labels_that_mean_nothing_are_said_in_one_line(inside: Run, folder: Path) -> None:
    (folder / "config.json").write_text('{"id2label": {"0": "LABEL_0", "1": "LABEL_1"}}')
    done = inside("ask", QUESTION, "--tenant", "U1", detector=folder)
    assert done.returncode == 2 and "LABEL_0, LABEL_1" in done.stderr and done.stderr.count("\n") == 1
    mapped = {"detector": folder, "detector_labels": "LABEL_1=injection,LABEL_0=-"}
    assert inside("ask", QUESTION, "--tenant", "U1", **mapped).returncode == 3


def test_scan_asks_it(inside: Run, folder: Path) -> None:
    lines = [{"id": 1, "text": QUESTION}, {"id": 2, "text": "When is the library open?"}]
    rows = jsonl(inside("scan", stdin="\n".join(map(json.dumps, lines)), detector=folder))
    assert [row["action"] for row in rows] == ["BLOCK", "ALLOW"]
    assert rows[0]["scores"]["injection"] > 0.8


def test_the_evaluation_compares_without_and_with_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [{"text": QUESTION, "action": "BLOCK"}, {"text": "When is the library open?", "action": "ALLOW"}]
    monkeypatch.setattr(material, "own_set", lambda name: rows)
    assert evaluate(["guardrails", "--detector", str(folder), "--out", str(tmp_path / "out")]) == 0
    figures = json.loads((tmp_path / "out" / "report.json").read_text())["suites"]["guardrails"]["figures"]
    names = list(figures)
    at = names.index("labelled attacks: blocked, without")
    assert names[at + 1] == "labelled attacks: blocked, with"
    assert [figures[names[n]]["value"] for n in (at, at + 1)] == [0.0, 1.0]
    assert "labelled attacks: blocked, with " in capsys.readouterr().out
