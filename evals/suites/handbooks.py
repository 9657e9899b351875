"""handbooks: questions of the staff of seven organisations over their own documents, which nobody here wrote.

`datasets/handbooks/NAME.jsonl` was written from the documents of a collection alone, by somebody who had seen nothing
of the system: facts, what to do, comparisons, definitions, follow-ups, questions as people type them, and questions
whose answer is not there. LEFT_OUT were read by nobody who works on the system: they judge, the others may be looked
at. Forty answers to the first questions over those two are shown in docs/answers-measured.md; SECOND asks the same
documents other questions, by another writer, of which none are shown. The documents are part of the evaluation data,
not of the project.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evals.material import DATASETS
from evals.stats import Rate
from evals.suites.retrieval import data_directory
from graph.agent import Agent
from graph.knowledge.manifest import sources
from graph.settings import load

LEFT_OUT = ("federal_security", "research_teams")
SECOND = ("federal_security_2", "research_teams_2")
OPEN = ("sourcegraph", "guides18f", "openchain", "openjs", "hcph")
QUESTIONS = DATASETS / "handbooks"


def run(out: Path) -> dict[str, Any]:
    rows = [row for name in (*LEFT_OUT, *SECOND, *OPEN) for row in asked(name, out)]
    figures: dict[str, Any] = {}
    for part, names in (("left out", LEFT_OUT), ("second questions", SECOND), ("open", OPEN)):
        figures |= {f"{part}: {k}": v for k, v in measured([r for r in rows if r["set"] in names]).items()}
    return {"figures": figures, "rows": rows}


def asked(name: str, out: Path, home: Path | None = None) -> list[dict[str, Any]]:
    """The replies to a collection's questions, also written to `out`. `home` keeps what was ingested for later."""
    folder = data_directory() / "collections" / name.removesuffix("_2")
    questions = [json.loads(line) for line in (QUESTIONS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as scratch:
        place = home or Path(scratch)
        made = place / "ingested"
        with Agent(load(environ={}, home=place, artifacts=False)) as agent:
            if not made.exists():
                agent.ingest_sources(sources(folder / "ingest.csv", folder / "tenant_acl.csv"))
                made.touch()
            rows = [{**answered(agent, question), "set": name} for question in questions]
    with (out / f"handbooks_{name}.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return rows


def answered(agent: Agent, q: dict[str, Any]) -> dict[str, Any]:
    """The question with what became of it, and whether that is what it wants."""
    who: dict[str, Any] = {"tenant_id": q["tenant"], "user_id": q["id"]}
    if q["history"]:
        who |= {"thread_id": "t", "memory": "buffer"}
    for turn in q["history"]:
        agent.ask(turn["question"], **who)
    reply = agent.ask(q["question"], **who)
    told = reply["decision"] == "answer"
    text = " ".join(s["text"] for s in reply["sentences"])
    return {
        **q,
        "told": told,
        "action": reply["verdict"]["action"],
        "confidence": reply["confidence"],
        "answer": reply["answer"],
        "words": len(text.split()) if told else 0,
        "held": told and all(any(normalised(w) in normalised(text) for w in group) for group in q["contains"]),
        "cited": [c["doc_id"] for c in reply["citations"]],
        "found": bool(set(q["docs"]) & {c["doc_id"] for c in reply["retrieval"]["candidates"]}),
    }


def normalised(text: str) -> str:
    """Text as the wanted words are looked for: no case, one kind of dash and blank, no commas."""
    for dash in "\u2010\u2011\u2013\u2014":
        text = text.replace(dash, "-")
    return " ".join(text.casefold().replace("’", "'").replace(",", "").split())


def measured(rows: list[dict[str, Any]]) -> dict[str, Any]:
    there = [r for r in rows if r["answerable"]]
    absent = [r for r in rows if not r["answerable"]]
    told = [r for r in rows if r["told"]]
    figures: dict[str, Any] = {
        "the wanted words stand in the answer": _rate(there, "held"),
        "a wanted document among those found": _rate(there, "found"),
        "a wanted document cited": Rate(sum(bool(set(r["docs"]) & set(r["cited"])) for r in there), len(there)),
    }
    for kind in sorted({r["kind"] for r in there}):
        figures[f"words, {kind}"] = _rate([r for r in there if r["kind"] == kind], "held")
    figures |= {
        "silent when the answer is not there": Rate(sum(not r["told"] for r in absent), len(absent)),
        "silent though the answer is there": Rate(sum(not r["told"] for r in there), len(there)),
        "guarded or blocked": Rate(sum(r["action"] != "ALLOW" for r in rows), len(rows)),
    }
    for level in ("high", "medium", "low"):
        figures[f"words, of answers called {level}"] = _rate([r for r in told if r["confidence"] == level], "held")
    shown = {name: rate.as_json() for name, rate in figures.items()}
    shown["words shown, median"] = {"value": statistics.median(r["words"] for r in told) if told else 0, "n": len(told)}
    return shown


def _rate(rows: Iterable[dict[str, Any]], key: str) -> Rate:
    rows = list(rows)
    return Rate(sum(bool(r[key]) for r in rows), len(rows))


def main() -> None:
    from evals.__main__ import shown

    parser = argparse.ArgumentParser(
        prog="python -m evals.suites.handbooks", description="Ask the questions of collections."
    )
    parser.add_argument(
        "names", nargs="*", metavar="COLLECTION", help=f"all by default: {', '.join((*LEFT_OUT, *SECOND, *OPEN))}"
    )
    parser.add_argument("--out", type=Path, default=Path("out/eval"), help="where the replies go")
    parser.add_argument("--homes", type=Path, help="keep what is ingested here, for another run")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in options.names or (*LEFT_OUT, *SECOND, *OPEN):
        rows += asked(name, options.out, options.homes and options.homes / name.removesuffix("_2"))
    for figure, value in measured(rows).items():
        print(f"  {figure:<46} {shown(value)}")


if __name__ == "__main__":
    main()
