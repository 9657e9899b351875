"""The words of an evaluation: what a task makes of samples, and what figures say of scores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evals.task import Metric, NoData, Output, Row, Rows, Sample, Score, Scores, Task, run
from graph.errors import BadInput

WORDS = [Sample("a", "kite", "KITE", {"kind": "toy"}), Sample("", "owl", "bird", {"kind": "animal"})]


def metrics(rows: Rows) -> Iterator[Metric]:
    yield rows.rate("right", "right", least=1)
    for kind, part in rows.by("kind"):
        yield part.rate(f"right, {kind}", "right")
    yield rows.mean("letters", "letters")
    yield rows.ratio("vowels", "vowels", "letters")
    yield rows.figure("longest", "letters", max)
    yield rows.where(kind="toy").rate("ends well", "ends")


def loud(name: str = "loud") -> Task:
    def scored(sample: Sample, out: Output) -> Scores:
        return {
            "right": Score(out.text == sample.target, f"{out.text}, not {sample.target}"),
            "letters": len(sample.input),
            "vowels": sum(letter in "aeiou" for letter in sample.input),
            "ends": None if sample.metadata["kind"] == "toy" else True,
        }

    return Task(name, WORDS, lambda sample: Output(sample.input.upper()), scored, metrics)


def test_a_task_runs_and_scores_its_samples_and_tells_its_figures(tmp_path: Path) -> None:
    result = run("words", [loud()], tmp_path)
    assert [(m.name, m.value, m.n) for m in result.metrics] == [
        ("right", 0.5, 2), ("right, animal", 0.0, 1), ("right, toy", 1.0, 1),
        ("letters", 3.5, 2), ("vowels", 3 / 7, 7), ("longest", 4.0, 2), ("ends well", None, 0),
    ]  # fmt: skip
    first, second = result.rows
    assert (first.task, first["right"], first["kind"], second.sample.id) == ("loud", True, "toy", "loud-2")
    assert second.scores["right"] == Score(False, "OWL, not bird") and "ends" in second.scores
    assert "ends" not in first.scores, "what a scorer says nothing of has no score"
    assert [m.name for m in result.metrics if m.missed] == ["right"]


def test_a_line_of_a_data_set_is_a_sample() -> None:
    row = {"id": 7, "question": "When?", "docs": ["d"], "words": ["May"], "kind": "date"}
    assert Sample.from_row(row, "question", "docs", way="x") == Sample(
        "7", "When?", ["d"], {"words": ["May"], "kind": "date", "way": "x"}
    )
    assert Sample.from_row(row, "question", "docs", "words").target == {"docs": ["d"], "words": ["May"]}
    assert Sample.from_row(row).target is None


def test_what_needs_data_that_is_not_here_is_left_out_and_said(tmp_path: Path) -> None:
    def without() -> Iterator[Task]:
        yield loud()
        raise NoData("no such data.")

    result = run("words", without(), tmp_path)
    assert len(result.metrics) == 7 and result.as_json()["skipped"] == "no such data."

    def broken(error: BadInput) -> Iterator[Task]:
        yield from [loud()] if not isinstance(error, NoData) else []
        raise error

    for error in (NoData("nothing at all"), BadInput("a broken line")):
        with pytest.raises(BadInput, match=str(error)):
            run("words", broken(error), tmp_path)


@pytest.mark.parametrize(
    ("value", "aim", "missed"),
    [(1.0, {"least": 1}, False), (0.99, {"least": 1}, True), (0.0, {"most": 0}, False), (0.01, {"most": 0}, True),
     (None, {"least": 1}, False), (3.0, {"least": 3, "most": 3}, False), (2.0, {"least": 3, "most": 3}, True), (0.5, {}, False)],
)  # fmt: skip
def test_a_figure_beyond_its_aim_misses_it(value: float | None, aim: dict[str, float], missed: bool) -> None:
    assert Metric("x", value, 1, **aim).missed is missed  # type: ignore[arg-type]


def test_a_rate_has_wilsons_interval_and_a_mean_a_bootstrapped_one() -> None:
    rate = Metric.rate("x", 8, 10)
    assert rate.interval is not None and [round(end, 4) for end in rate.interval] == [0.4902, 0.9433]
    assert Metric.rate("x", 0, 10).interval == pytest.approx((0, 0.2775), abs=1e-4)
    mean = Metric.mean("x", [0.0, 1.0] * 50)
    assert mean.interval is not None and 0.38 < mean.interval[0] < 0.44 and 0.56 < mean.interval[1] < 0.62
    for nothing in (Metric.rate("x", 0, 0), Metric.mean("x", [])):
        assert (nothing.value, nothing.n, nothing.interval, str(nothing)) == (None, 0, None, "n=0")
    assert str(rate) == "0.800 [0.490, 0.943] n=10"


def test_a_figure_reads_back_from_a_report_as_it_was() -> None:
    for metric in (Metric.rate("x", 8, 10), Metric.mean("x", [1.0, 2.0]), Metric("x", 3.0, 1), Metric.rate("x", 0, 0)):
        read = Metric.read("x", metric.as_json())
        assert (read.value, read.n, read.interval) == (metric.value, metric.n, metric.interval)


def test_what_names_a_row_names_what_a_score_says_first() -> None:
    row = Row(
        "t", Sample("1", "x", None, {"kind": "a", "right": 7}), Output(metadata={"mode": "b"}), {"right": Score(1.5)}
    )
    assert (row["kind"], row["mode"], row["right"]) == ("a", "b", 1.5)
    assert Rows([row]).where(kind="a", mode="b") == [row] and Rows([row]).where(nothing="a") == []


def test_rates_can_be_given_by_name(tmp_path: Path) -> None:
    task = Task(
        "t",
        WORDS,
        lambda sample: Output(),
        lambda sample, out: {"short": len(sample.input) < 4},
        {"short words": "short"},
    )
    (metric,) = run("words", [task], tmp_path).metrics
    assert (metric.name, metric.hits, metric.n) == ("short words", 1, 2)


def test_every_suite_can_be_named() -> None:
    from evals.__main__ import SUITES

    folder = Path(__file__).parents[2] / "evals" / "suites"
    modules = {file.stem for file in folder.glob("*.py") if "def tasks(" in file.read_text(encoding="utf-8")}
    assert modules - {"own", "false_positives"} == set(SUITES)
