"""`python -m evals [SUITE…] [--out DIR]`: run suites, print their figures, write report.json and report.md."""

import argparse
import importlib
import json
import platform
import sys
import time
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from graph.errors import BadInput, CordonError

# A suite is one module of evals/suites with `run(out) -> {"figures": {name: {"value", "interval", "n"}}, …}`, and one
# name below.
SUITES = (
    "answers",
    "reader",
    "handbooks",
    "retrieval",
    "redteam",
    "planted",
    "unguarded",
    "guardrails",
    "tenancy",
    "memory",
    "json",
    "support",
    "regulation",
)

_PLOTTED = find_spec("matplotlib") is not None
_UNPLOTTED = "No plots were drawn: they need matplotlib, which `make dev` installs (or `pip install matplotlib`)."


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="cordon eval",
        description="Measure: run evaluation suites, print their figures, write report.json and report.md.",
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
    before = _earlier(arguments.against) if arguments.against else {}
    yours = {name: value for name in ("questions", "corpus", "attacks") if (value := getattr(arguments, name))}
    chosen = arguments.suites or (["own"] if yours else list(SUITES))
    if unknown := set(chosen) - set({*SUITES, "own"}):
        raise BadInput(f"there is no suite {sorted(unknown)[0]!r}.", hint=f"There are: {', '.join(SUITES)}.")
    if arguments.detector and chosen != ["guardrails"]:
        raise BadInput("--detector is for the suite guardrails alone.", hint="cordon eval guardrails --detector DIR")
    if yours and chosen != ["own"]:
        raise BadInput(f"--{next(iter(yours))} is for the suite own alone.", hint="cordon eval own --questions FILE")
    given: dict[str, Any] = yours or ({"detector": arguments.detector} if arguments.detector else {})
    arguments.out.mkdir(parents=True, exist_ok=True)
    report: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "suites": {},
    }
    for name in chosen:
        begun = time.perf_counter()
        result = importlib.import_module(f"evals.suites.{name}").run(arguments.out, **given)
        result["plots"] = [plot for plot in result.get("plots", []) if _PLOTTED and Path(plot).exists()]
        result["seconds"] = round(time.perf_counter() - begun, 1)
        report["suites"][name] = result
        print(f"\n{name} ({result['seconds']} s)")
        if arguments.experiment != "off":
            print(f"  experiment: {_kept(arguments.experiment, name, result, arguments.out)}")
        for figure, value in result["figures"].items():
            print(f"  {figure:<58} {shown(value)}")
        (arguments.out / "report.json").write_text(json.dumps(report, indent=2, ensure_ascii=False), encoding="utf-8")
    (arguments.out / "report.md").write_text(markdown(report), encoding="utf-8")
    print(f"\n{arguments.out / 'report.md'}{'' if _PLOTTED else f'. {_UNPLOTTED}'}")
    drifted = drift(before, report["suites"])
    for line in drifted:
        print(line)
    return 1 if drifted else 0


def drift(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Figures of both reports that no longer lie within their earlier interval, a line each."""
    found = []
    for suite, result in after.items():
        for name, new in result["figures"].items():
            old = before.get(suite, {}).get("figures", {}).get(name, {})
            interval, value = old.get("interval"), new.get("value")
            if interval and value is not None and not interval[0] <= value <= interval[1]:
                found.append(f"drifted: {suite}, {name}: {shown(old)} before, {shown(new)} now")
    return found


def _earlier(file: Path) -> dict[str, Any]:
    try:
        suites = json.loads(file.read_text(encoding="utf-8"))["suites"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{file} is no report of an evaluation.", hint="Give a report.json.") from error
    return dict(suites)


def _kept(where: str, name: str, result: dict[str, Any], out: Path) -> str:
    from evals import experiments

    return str(experiments.write(name, result, out)) if where == "jsonl" else experiments.send(name, result)


def shown(value: dict[str, Any]) -> str:
    """0.923 [0.875, 0.953] n=182"""
    if value.get("value") is None:
        return f"n={value.get('n', 0)}"
    interval = value.get("interval")
    span = f" [{interval[0]:.3f}, {interval[1]:.3f}]" if interval else ""
    n = f" n={value['n']}" if "n" in value else ""
    return f"{value['value']:.3f}{span}{n}"


def markdown(report: dict[str, Any]) -> str:
    lines = ["# Evaluation", "", f"{report['at']}, Python {report['python']}. Intervals are 95%.", ""]
    for name, result in report["suites"].items():
        command = f"`cordon eval {name}`, {result['seconds']} s"
        lines += [f"## {name}", "", command, "", "| figure | value | 95% interval | n |", "|---|---|---|---|"]
        for figure, v in result["figures"].items():
            value = "-" if v.get("value") is None else f"{v['value']:.3f}"
            interval = f"{v['interval'][0]:.3f} to {v['interval'][1]:.3f}" if v.get("interval") else "-"
            lines.append(f"| {figure} | {value} | {interval} | {v.get('n', '-')} |")
        lines += _classes(result.get("classes", {}))
        lines += ["", *(f"![{Path(plot).stem}]({Path(plot).name})" for plot in result.get("plots", [])), ""]
    return "\n".join(lines if _PLOTTED else [*lines, _UNPLOTTED, ""])


def _classes(classes: dict[str, dict[str, Any]]) -> list[str]:
    """A row for each class of a labelled set. Precision counts the false alarms of the whole set against each."""
    if not classes:
        return []
    names = ("right action", "recall", "precision")
    rows = [
        f"| {name} | " + " | ".join(shown(figures[key]) if key in figures else "-" for key in names) + " |"
        for name, figures in classes.items()
    ]
    return ["", f"| class | {' | '.join(names)} |", "|---|---|---|---|", *rows]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CordonError as error:
        print(f"evals: {error} {error.hint}".strip(), file=sys.stderr)
        sys.exit(error.exit_code)
