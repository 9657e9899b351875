"""`python -m evals [SUITE…] [--out DIR]`: run suites, print their figures, write report.json and report.md."""

import argparse
import importlib
import json
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from evals.command import ended
from evals.task import Metric, Result, run
from graph.errors import BadInput

UNPLOTTED = "No plots were drawn: they need matplotlib, which `make dev` installs (or `pip install matplotlib`)."
# A suite is one module of evals/suites with `tasks()`, and one name below.
SUITES = (
    "answers",
    "reader",
    "handbooks",
    "retrieval",
    "redteam",
    "planted",
    "unguarded",
    "guardrails",
    "stress",
    "tenancy",
    "memory",
    "json",
    "support",
    "regulation",
)


def main(argv: list[str] | None = None) -> int:
    """1 when a figure misses its aim, or has left the interval of an earlier report."""
    parser = argparse.ArgumentParser(
        prog="cordon eval",
        description="Measure: run evaluation suites, print their figures, write report.json and report.md. "
        "Ends with 1 when a figure misses its aim, or left its earlier interval (--against).",
        epilog="Example: cordon eval answers retrieval --out report",
    )
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=f"{', '.join(SUITES)}; all when none is named; own")
    parser.add_argument("--out", type=Path, default=Path("out/eval"), help="where the reports and the plots go")
    parser.add_argument(
        "--experiment",
        "--trace",  # its earlier name, whose "file" read like a path
        type=lambda kind: "jsonl" if kind == "file" else kind,
        choices=("off", "jsonl", "langsmith"),
        default="off",
        help="keep each row: in experiment_SUITE.jsonl beside the report, or at LANGSMITH_ENDPOINT",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="REPORT",
        help="an earlier report.json: tell what left its interval; exit 1 then",
    )
    parser.add_argument(
        "--detector",
        metavar="DIR",
        help="with guardrails alone: the own sets without and with this detector (CORDON_DETECTOR), beside each other",
    )
    parser.add_argument(
        "--questions", type=Path, metavar="FILE", help="with own: questions of yours, a JSON object a line"
    )
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="with own: the documents that they are about")
    parser.add_argument("--attacks", type=Path, metavar="FILE", help="with own: texts, and how each should be judged")
    arguments = parser.parse_args(argv)
    yours = {name: value for name in ("questions", "corpus", "attacks") if (value := getattr(arguments, name))}
    chosen = arguments.suites or (["own"] if yours else list(SUITES))
    if unknown := set(chosen) - set({*SUITES, "own"}):
        raise BadInput(f"there is no suite {sorted(unknown)[0]!r}.", hint=f"There are: {', '.join(SUITES)}.")
    if arguments.detector and chosen != ["guardrails"]:
        raise BadInput("--detector is for the suite guardrails alone.", hint="cordon eval guardrails --detector DIR")
    if yours and chosen != ["own"]:
        raise BadInput(f"--{next(iter(yours))} is for the suite own alone.", hint="cordon eval own --questions FILE")
    before = earlier(arguments.against) if arguments.against else {}
    if arguments.against and not before.keys() & set(chosen):
        raise BadInput(f"{arguments.against} has nothing of {', '.join(chosen)}.", hint="Give a report of that suite.")
    given: dict[str, Any] = yours or ({"detector": arguments.detector} if arguments.detector else {})
    arguments.out.mkdir(parents=True, exist_ok=True)
    at, results = datetime.now(UTC).isoformat(timespec="seconds"), []
    for name in chosen:
        result = run(name, importlib.import_module(f"evals.suites.{name}").tasks(**given), arguments.out)
        results.append(result)
        print(f"\n{name} ({result.seconds} s)")
        if arguments.experiment != "off":
            print(f"  experiment: {kept(arguments.experiment, result, arguments.out)}")
        tell(result.metrics)
        if "skipped" in result.more:
            print(f"  left out: {result.more['skipped']}")
        report = {"at": at, "python": platform.python_version(), "suites": {r.suite: r.as_json() for r in results}}
        (arguments.out / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False), encoding="utf-8")
    (arguments.out / "report.md").write_text("\n".join(markdown(at, results)), encoding="utf-8")
    print(f"\n{arguments.out / 'report.md'}{f'. {UNPLOTTED}' if unplotted(results) else ''}")
    failed = [line for result in results for line in gate(result, before.get(result.suite, {}))]
    print("".join(line + "\n" for line in failed), end="")
    return 1 if failed else 0


def tell(metrics: Iterable[Metric]) -> None:
    for metric in metrics:
        print(f"  {metric.name:<58} {metric}", flush=True)


def gate(result: Result, before: Mapping[str, Metric]) -> Iterator[str]:
    """Figures that miss their aim, and those that left the interval that they had, a line each."""
    for now in result.metrics:
        if now.missed:
            yield f"missed: {result.suite}, {now.name}: {now}, and should be {now.aim}"
        if now.name in before and now.drifted(before[now.name]):
            yield f"drifted: {result.suite}, {now.name}: {before[now.name]} before, {now} now"


def earlier(file: Path) -> dict[str, dict[str, Metric]]:
    """The figures of a report.json by suite and name."""
    try:
        suites = json.loads(file.read_text(encoding="utf-8"))["suites"]
        return {
            suite: {name: Metric.read(name, figure) for name, figure in told["figures"].items()}
            for suite, told in suites.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{file} is no report of an evaluation.", hint="Give a report.json.") from error


def kept(where: str, result: Result, out: Path) -> str:
    from evals import experiments

    if where == "langsmith":
        return experiments.send(result)
    return str(experiments.write(result.suite, result.rows, out / f"experiment_{result.suite}.jsonl"))


def markdown(at: str, results: Sequence[Result]) -> Iterator[str]:
    """Lines."""
    yield from ("# Evaluation", "", f"{at}, Python {platform.python_version()}. Intervals are 95%.", "")
    for result in results:
        yield from (f"## {result.suite}", "", f"`cordon eval {result.suite}`, {result.seconds} s", "")
        yield from ("| figure | value | 95% interval | n | aim |", "|---|---|---|---|---|")
        for m in result.metrics:
            value = "-" if m.value is None else f"{m.value:.3f}"
            interval = f"{m.interval[0]:.3f} to {m.interval[1]:.3f}" if m.interval else "-"
            yield f"| {m.name} | {value} | {interval} | {m.n} | {m.aim or '-'} |"
        for title, table in result.tables.items():
            columns = list(dict.fromkeys(m.name for row in table.values() for m in row))
            yield from ("", f"| {title} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|")
            for name, row in table.items():
                cells = {m.name: str(m) for m in row}
                yield f"| {name} | {' | '.join(cells.get(column, '-') for column in columns)} |"
        yield from ("", *(f"![{Path(plot).stem}]({Path(plot).name})" for plot in result.more.get("plots", ())), "")
    yield from (UNPLOTTED, "") if unplotted(results) else ()


def unplotted(results: Iterable[Result]) -> bool:
    """Whether a plot was asked for that could not be drawn."""
    return any(result.more.get("plots") == [] for result in results)


if __name__ == "__main__":
    sys.exit(ended(main))
