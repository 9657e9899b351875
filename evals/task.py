"""The words of an evaluation. A suite gives tasks; a task has samples, what runs them, scorers, and metrics.

sample  one thing to ask or to judge: id, input, and the target, what is wanted of it
solver  runs a sample, and gives its output
scorer  looks at a sample and its output, and gives a score: a value, and why
metric  a figure over scores, with n, a 95% interval, and its aim where it has one
"""

import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from graph.errors import BadInput

Z95 = 1.959964


class NoData(BadInput):
    """Other people's data is not here: what a suite measures with it is left out, and said to be."""


@dataclass(frozen=True)
class Sample:
    """`metadata` says what kind of thing it is and who asks; figures are told by it."""

    id: str
    input: str
    target: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_row(cls, row: Mapping[str, Any], key: str = "question", *targets: str, **more: Any) -> "Sample":
        """From a line of a data set: `key` names the input; one target is its value, several are a dict of them."""
        target = {name: row.get(name) for name in targets} if len(targets) > 1 else row.get(*targets or ("",))
        rest = {name: value for name, value in row.items() if name not in ("id", key, *targets)}
        return cls(str(row.get("id", "")), row[key], target, rest | more)


@dataclass(frozen=True)
class Output:
    """What became of a sample. `sources` are names of documents, `verdict` is the action of the guards; `raw` is what
    it was made from, for scorers alone: it is never written down."""

    text: str = ""
    sources: Sequence[str] = ()
    verdict: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    raw: Any = None


@dataclass(frozen=True)
class Score:
    value: bool | float
    explanation: str = ""


Solver = Callable[[Sample], Output]
# Scores by name; None where a score says nothing of this sample.
Scores = Mapping[str, Score | bool | float | None]
Scorer = Callable[[Sample, Output], Scores]


@dataclass(frozen=True)
class Metric:
    """A figure. `hits` of a rate alone; a figure over nothing has n = 0 and no value. The aim: `least` or `most`."""

    name: str
    value: float | None
    n: int
    interval: tuple[float, float] | None = None
    hits: int | None = None
    least: float | None = None
    most: float | None = None

    @classmethod
    def rate(cls, name: str, hits: int, n: int, **aim: Any) -> "Metric":
        """hits of n, with Wilson's interval."""
        if not n:
            return cls(name, None, 0, hits=hits, **aim)
        p, z2 = hits / n, Z95**2
        centre = (p + z2 / (2 * n)) / (1 + z2 / n)
        half = Z95 / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n**2))
        return cls(name, p, n, (max(0.0, centre - half), min(1.0, centre + half)), hits, **aim)

    @classmethod
    def mean(cls, name: str, values: Sequence[float], seed: int = 7) -> "Metric":
        """With a bootstrapped interval (2,000 resamples)."""
        if not values:
            return cls(name, None, 0)
        import numpy as np  # `cordon eval --help` does without

        array, rng = np.asarray(values), np.random.default_rng(seed)
        samples = array[rng.integers(0, len(array), (2_000, len(array)))].mean(axis=1)
        low, high = np.percentile(samples, [2.5, 97.5])
        return cls(name, float(array.mean()), len(values), (float(low), float(high)))

    @classmethod
    def read(cls, name: str, figure: Mapping[str, Any]) -> "Metric":
        """From a report. Raises KeyError, TypeError or ValueError for what is no figure."""
        value, interval = figure["value"], figure.get("interval")
        low, high = interval or (0, 0)
        return cls(
            name, value and float(value), int(figure.get("n", 0)), (float(low), float(high)) if interval else None
        )

    @property
    def aim(self) -> str:
        """ "" without one."""
        words = {"least": self.least, "most": self.most}
        return " and ".join(f"at {word} {bound:g}" for word, bound in words.items() if bound is not None)

    @property
    def missed(self) -> bool:
        """A figure over nothing misses nothing."""
        low, high = (-math.inf if self.least is None else self.least), (math.inf if self.most is None else self.most)
        return self.value is not None and not low <= self.value <= high

    def drifted(self, before: "Metric") -> bool:
        """Whether it left the interval that it had."""
        if self.value is None or before.interval is None:
            return False
        return not before.interval[0] <= self.value <= before.interval[1]

    def __str__(self) -> str:
        """0.923 [0.875, 0.953] n=182"""
        if self.value is None:
            return f"n={self.n}"
        span = f" [{self.interval[0]:.3f}, {self.interval[1]:.3f}]" if self.interval else ""
        return f"{self.value:.3f}{span} n={self.n}"

    def as_json(self) -> dict[str, Any]:
        kept = {key: value for key, value in asdict(self).items() if key != "name" and value is not None}
        return {"value": None, "interval": None} | kept


@dataclass(frozen=True)
class Row:
    """A sample with its output and its scores. `row[name]` is a score's value, or a field of either's metadata."""

    task: str
    sample: Sample
    output: Output
    scores: Mapping[str, Score]

    def __getitem__(self, name: str) -> Any:
        """None where there is no such field."""
        found = {**self.sample.metadata, **self.output.metadata} | {k: score.value for k, score in self.scores.items()}
        return found.get(name)


class Rows(list[Row]):
    """What a task's metrics are told of."""

    def where(self, held: Callable[[Row], Any] = lambda row: True, **wanted: Any) -> "Rows":
        return Rows(row for row in self if held(row) and all(row[name] == value for name, value in wanted.items()))

    def wanting(self, *targets: Any) -> "Rows":
        """Those with one of these targets."""
        return Rows(row for row in self if row.sample.target in targets)

    def by(self, *names: str) -> "Iterator[tuple[Any, Rows]]":
        """The rows of each value of a field, or of each group of values, sorted."""
        groups: dict[Any, Rows] = {}
        for row in self:
            key = tuple(row[name] for name in names)
            groups.setdefault(key if len(names) > 1 else key[0], Rows()).append(row)
        yield from sorted(groups.items(), key=lambda group: group[0])

    def values(self, score: str) -> list[float]:
        """Of the rows that have this score."""
        return [float(row.scores[score].value) for row in self if score in row.scores]

    def rate(self, name: str, score: str, **aim: float) -> Metric:
        values = self.values(score)
        return Metric.rate(name, sum(map(bool, values)), len(values), **aim)

    def rates(self, figures: Mapping[str, str]) -> list[Metric]:
        """By a figure's name, the score that it is of."""
        return [self.rate(name, score) for name, score in figures.items()]

    def ratio(self, name: str, hits: str, of: str, **aim: float) -> Metric:
        """One score's sum of another's: both count something in each output."""
        return Metric.rate(name, int(sum(self.values(hits))), int(sum(self.values(of))), **aim)

    def mean(self, name: str, score: str) -> Metric:
        return Metric.mean(name, self.values(score))

    def figure(self, name: str, score: str, what: Callable[[list[float]], Any]) -> Metric:
        """Any other figure over a score's values: a median, a maximum."""
        values = self.values(score)
        return Metric(name, float(what(values)) if values else None, len(values))


# A title to rows, a row's name to its figures.
Tables = dict[str, dict[str, list[Metric]]]


@dataclass(frozen=True)
class Task:
    """`metrics` is a function, or names rates and the score of each. `tables` are figures for the report alone. `more`
    gives what else belongs there, and writes its files into the folder; `plots` in it names the plots."""

    name: str
    samples: Iterable[Sample]
    solver: Solver
    scorer: Scorer
    metrics: Callable[[Rows], Iterable[Metric]] | Mapping[str, str]
    more: Callable[[Rows, Path], dict[str, Any]] = lambda rows, out: {}
    tables: Callable[[Rows], Tables] = lambda rows: {}

    def run(self) -> tuple[Rows, list[Metric]]:
        """A sample without an id gets the task's name and its number."""
        rows = Rows()
        for at, sample in enumerate(self.samples, 1):
            output = self.solver(sample)
            told = {name: value for name, value in self.scorer(sample, output).items() if value is not None}
            scores = {name: value if isinstance(value, Score) else Score(value) for name, value in told.items()}
            rows.append(
                Row(self.name, sample if sample.id else replace(sample, id=f"{self.name}-{at}"), output, scores)
            )
        return rows, rows.rates(self.metrics) if isinstance(self.metrics, Mapping) else list(self.metrics(rows))


@dataclass
class Result:
    """Of a suite. `more` goes into its report as it is."""

    suite: str
    metrics: list[Metric] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    tables: Tables = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Without the rows, which hold texts: they are an experiment (`--experiment`)."""
        tables = {
            title: {name: {m.name: m.as_json() for m in row} for name, row in table.items()}
            for title, table in self.tables.items()
        }
        figures = {m.name: m.as_json() for m in self.metrics}
        return {"figures": figures, **tables, **self.more, "seconds": self.seconds}


def run(suite: str, tasks: Iterable[Task], out: Path) -> Result:
    """Runs one task after the other; raises NoData only where the first of them needs what is not here."""
    begun, result = time.perf_counter(), Result(suite)
    try:
        for task in tasks:
            rows, metrics = task.run()
            result.metrics += metrics
            result.rows += rows
            result.tables |= task.tables(rows)
            result.more |= task.more(rows, out)
    except NoData as error:
        if not result.metrics:
            raise
        result.more["skipped"] = str(error)
    result.seconds = round(time.perf_counter() - begun, 1)
    return result


def jsonl(path: Path, rows: Iterable[Any]) -> Path:
    """A JSON object a line. What else some readers take for the end of a line is escaped, and half a surrogate pair."""
    breaks = {ord(c): f"\\u{ord(c):04x}" for c in "\x85\u2028\u2029"}
    lines = (json.dumps(row, ensure_ascii=False, default=str).translate(breaks) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    return path
