"""The report of an evaluation: what it shows, what fails it, and the command as a person types it."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evals import figures
from evals.__main__ import gate, main, markdown
from evals.task import Metric, Output, Result, Rows, Sample, Task
from graph.errors import BadInput
from tests.support.command import Run

Suite = Callable[..., None]


@pytest.fixture
def suite(monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Puts a suite of one task in the place of `answers`: so many of ten samples are right."""

    def put(right: int, more: Any = None, **aim: float) -> None:
        samples = [Sample(str(n), f"question {n}", n < right) for n in range(10)]

        def figure(rows: Rows) -> list[Metric]:
            return [rows.rate("right", "right", **aim)]

        def tasks() -> Iterator[Task]:
            yield Task(
                "all", samples, lambda sample: Output(), lambda s, out: {"right": s.target}, figure, more or Task.more
            )

        monkeypatch.setitem(sys.modules, "evals.suites.answers", SimpleNamespace(tasks=tasks))

    return put


@pytest.mark.parametrize(("now", "lines"), [(0.85, 0), (0.9, 0), (0.79, 1), (0.95, 1)])
def test_what_left_its_interval_has_drifted(now: float, lines: int) -> None:
    before = {"found": Metric("found", 0.85, 50, (0.8, 0.9)), "ms": Metric("ms", 0.85, 1)}
    after = Result("answers", [Metric("found", now, 50, (0.8, 0.9)), Metric("ms", now, 1)])
    assert len(list(gate(after, before))) == lines
    assert list(gate(after, {})) == [], "a figure that is new has not drifted"


def test_a_report_of_before_fails_what_has_drifted(suite: Suite, inside: Run, tmp_path: Path) -> None:
    """`cordon eval answers --against old.json`"""
    old, place = tmp_path / "old", {"home": tmp_path / "home"}
    suite(9)
    assert inside("eval", "answers", "--out", str(old), **place).returncode == 0
    against = ("eval", "answers", "--out", str(tmp_path / "new"), "--against", str(old / "report.json"))
    assert inside(*against, **place).returncode == 0
    suite(3)
    done = inside(*against, **place)
    assert done.returncode == 1
    assert "drifted: answers, right: 0.900 [0.596, 0.982] n=10 before, 0.300 [0.108, 0.603] n=10 now\n" in done.stdout


def test_a_missed_aim_fails_and_is_told(suite: Suite, inside: Run, tmp_path: Path) -> None:
    arguments = ("eval", "answers", "--out", str(tmp_path))
    suite(9, least=0.9)
    assert inside(*arguments, home=tmp_path / "home").returncode == 0
    suite(9, least=0.95)
    done = inside(*arguments, home=tmp_path / "home")
    assert done.returncode == 1
    assert "missed: answers, right: 0.900 [0.596, 0.982] n=10, and should be at least 0.95\n" in done.stdout
    assert "| right | 0.900 | 0.596 to 0.982 | 10 | at least 0.95 |" in (tmp_path / "report.md").read_text()
    assert json.loads((tmp_path / "report.json").read_text())["suites"]["answers"]["figures"]["right"]["least"] == 0.95


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[]", "is no report"),
        ("{", "is no report"),
        ('{"suites": []}', "is no report"),
        ('{"suites": {"answers": 1}}', "is no report"),
        ('{"suites": {"answers": {"figures": {"x": {"value": "much"}}}}}', "is no report"),
        ('{"suites": {"answers": {"figures": {"x": {"value": 1, "interval": [0]}}}}}', "is no report"),
        ('{"suites": {"memory": {"figures": {}}}}', "has nothing of answers"),
    ],
)
def test_what_nothing_can_be_compared_with_is_said(inside: Run, tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "x.json").write_text(content)
    arguments = ("eval", "answers", "--out", str(tmp_path / "out"), "--against", str(tmp_path / "x.json"))
    done = inside(*arguments, home=tmp_path / "home")
    assert done.returncode == 2 and told in done.stderr and done.stderr.count("\n") == 1


def test_tables_are_in_both_reports() -> None:
    rate = Metric("recall", 0.5, 10, (0.4, 0.6))
    table = {"a": [rate], "b": [Metric("exact", 1.0, 1), rate]}
    result = Result("g", tables={"classes": table})
    lines = list(markdown("now", [result]))
    assert "| classes | recall | exact |" in lines and "| a | 0.500 [0.400, 0.600] n=10 | - |" in lines
    assert result.as_json()["classes"]["b"]["exact"]["value"] == 1.0


@pytest.mark.parametrize("option", ["--experiment=jsonl", "--trace=file"])
def test_the_command_knows_every_option_of_the_module(tmp_path: Path, option: str, inside: Run) -> None:
    out = tmp_path / "report"
    done = inside("eval", "json", "--out", str(out), option, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    first = json.loads((out / "experiment_json.jsonl").read_text().splitlines()[0])
    assert (first["id"], first["task"], first["scores"]) == ("json-faults-1", "faults", {"fits": 0.0, "told": 1.0})
    again = inside("eval", "json", "--out", str(out), "--against", str(out / "report.json"), home=tmp_path / "home")
    assert again.returncode == 0, again.stderr
    shown = inside("eval", "--help", home=tmp_path / "home").stdout
    assert "--against" in shown and "--experiment" in shown


def test_without_matplotlib_the_report_says_what_to_install(
    suite: Suite, inside: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plotted(rows: Any, out: Path) -> dict[str, Any]:
        return {"plots": figures.drawn(out / "guardrails.png", lambda pyplot: pyplot.plot([1, 2]))}

    for there in (True, False):
        if not there:
            (tmp_path / "guardrails.png").write_bytes(b"an old one")
            monkeypatch.setitem(sys.modules, "matplotlib", None)
        suite(9, plotted)
        done = inside("eval", "answers", "--out", str(tmp_path), home=tmp_path / "home")
        assert done.returncode == 0, done.stderr
        for told in (done.stdout, (tmp_path / "report.md").read_text()):
            assert ("matplotlib, which `make dev` installs" in told) is not there
        assert (".png" in (tmp_path / "report.md").read_text()) is there


def test_nothing_is_said_of_plots_that_no_suite_draws(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    suite(9)
    assert main(["answers", "--out", str(tmp_path)]) == 0
    assert "matplotlib" not in capsys.readouterr().out


def test_no_report_is_said_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no report"):
        main(["json", "--out", str(tmp_path / "out"), "--against", str(tmp_path / "nothing.json")])
    assert not (tmp_path / "out").exists()
