"""The report of an evaluation: what it shows, and what has drifted since an earlier one."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evals.__main__ import drift, main, markdown
from graph.errors import BadInput
from tests.support.command import Run


def suites(value: float) -> dict[str, Any]:
    rate = {"value": value, "interval": [0.8, 0.9], "n": 50}
    return {"answers": {"figures": {"found": rate, "ms": {"value": value}}, "seconds": 1}}


@pytest.mark.parametrize(("now", "lines"), [(0.85, 0), (0.9, 0), (0.79, 1), (0.95, 1)])
def test_what_left_its_interval_has_drifted(now: float, lines: int) -> None:
    assert len(drift(suites(0.85), suites(now))) == lines


def test_a_figure_that_is_new_has_not_drifted() -> None:
    assert drift({}, suites(0.1)) == []


def test_what_is_no_report_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(BadInput, match="no report"):
        main(["json", "--out", str(tmp_path), "--against", str(tmp_path / "x.json")])


def test_classes_have_a_table() -> None:
    rate = {"value": 0.5, "interval": [0.4, 0.6], "n": 10}
    report = {
        "at": "now",
        "python": "3",
        "suites": {"g": {"figures": {}, "seconds": 1, "classes": {"a": {"recall": rate}}}},
    }
    assert "| a | - | 0.500 [0.400, 0.600] n=10 | - |" in markdown(report)


@pytest.mark.parametrize("option", ["--experiment=jsonl", "--trace=file"])
def test_the_command_knows_every_option_of_the_module(tmp_path: Path, option: str, inside: Run) -> None:
    out = tmp_path / "report"
    done = inside("eval", "json", "--out", str(out), option, home=tmp_path / "home")
    assert done.returncode == 0, done.stderr
    assert (out / "experiment_json.jsonl").exists()
    again = inside("eval", "json", "--out", str(out), "--against", str(out / "report.json"), home=tmp_path / "home")
    assert again.returncode == 0, again.stderr
    shown = inside("eval", "--help", home=tmp_path / "home").stdout
    assert "--against" in shown and "--experiment" in shown


def test_no_plot_is_named_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = SimpleNamespace(run=lambda out: {"figures": {}, "plots": [str(out / "guardrails.png")]})
    monkeypatch.setitem(sys.modules, "evals.suites.guardrails", suite)
    for plotted in (True, False):
        monkeypatch.setattr("evals.__main__._PLOTTED", plotted)
        main(["guardrails", "--out", str(tmp_path)])
        report = (tmp_path / "report.md").read_text()
        assert ".png" not in report and ("matplotlib" in report) is not plotted
        (tmp_path / "guardrails.png").write_bytes(b"an old one")
