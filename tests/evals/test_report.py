"""The report of an evaluation: what it shows, and what has drifted since an earlier one."""

from pathlib import Path
from typing import Any

import pytest

from evals.__main__ import drift, main, markdown
from graph.errors import BadInput


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
