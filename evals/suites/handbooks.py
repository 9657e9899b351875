"""handbooks: questions of the staff of seven organisations over their own documents, which nobody here wrote.

`datasets/handbooks/NAME.jsonl` was written from the documents of a collection alone, by somebody who had seen nothing
of the system: facts, what to do, comparisons, definitions, follow-ups, questions as people type them, and questions
whose answer is not there. LEFT_OUT were read by nobody who works on the system: they judge, the others may be looked
at. Four answers to the first questions over those two are shown in docs/answers-measured.md; SECOND asks the same
documents other questions, by another writer, of which none are shown. The documents are part of the evaluation data,
not of the project.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from evals.__main__ import tell
from evals.experiments import write
from evals.material import data_directory, own_set
from evals.solvers import absent, asked, candidates, replied, said
from evals.suites.reading import twins
from evals.task import Metric, Output, Rows, Sample, Score, Scores, Task, run
from graph.agent import Agent
from graph.knowledge.manifest import sources
from graph.settings import load

LEFT_OUT = ("federal_security", "research_teams")
SECOND = ("federal_security_2", "research_teams_2")
OPEN = ("sourcegraph", "guides18f", "openchain", "openjs", "hcph")


def tasks() -> Iterator[Task]:
    for part, names in (("left out", LEFT_OUT), ("second questions", SECOND), ("open", OPEN)):
        yield from collections(names, f"{part}: ")


def collections(names: Sequence[str], prefix: str = "", homes: Path | None = None, twin: str = "") -> Iterator[Task]:
    """The questions to some collections. `homes` keeps what was ingested for later; `twin` is the kind of file that
    their Markdown is made into before that (evals/suites/reading.py)."""
    with ExitStack() as opened:
        folders = dict.fromkeys(map(collection_of, names))
        agents = {folder: opened.enter_context(ingested(folder, homes, twin)) for folder in folders}
        questions = [sample(row | {"set": name}) for name in names for row in own_set(f"handbooks/{name}")]

        def solve(sample: Sample) -> Output:
            return answered(agents[collection_of(sample.metadata["set"])], sample)

        def replies(rows: Rows, out: Path) -> dict[str, Any]:
            for name, part in rows.by("set"):
                write("handbooks", part, out / f"handbooks_{name}.jsonl")
            return {}

        yield Task(f"{prefix}questions", questions, solve, scored, partial(measured, prefix=prefix), replies)


def collection_of(name: str) -> str:
    """The folder whose documents a set of questions asks."""
    return name.removesuffix("_2")


@contextmanager
def ingested(name: str, homes: Path | None, twin: str = "") -> Iterator[Agent]:
    """An agent over a collection's documents."""
    collection = collection_of(name)
    folder = data_directory() / "collections" / collection
    with tempfile.TemporaryDirectory() as scratch:
        place = homes / f"{collection} {twin}".strip() if homes else Path(scratch) / "home"
        with Agent(load(environ={}, home=place, artifacts=False)) as agent:
            if not (place / "ingested").exists():
                given = sources(folder / "ingest.csv", folder / "tenant_acl.csv")
                agent.ingest_sources(twins(given, twin, Path(scratch) / "twins") if twin else given)
                (place / "ingested").touch()
            yield agent


def sample(row: Mapping[str, Any]) -> Sample:
    return Sample.from_row(row, "question", "docs", "contains", "right")


def answered(agent: Agent, sample: Sample) -> Output:
    """The reply, after the turns before it."""
    who: dict[str, Any] = {"user_id": sample.id}
    if sample.metadata["history"]:
        who |= {"thread_id": "t", "memory": "buffer"}
    for turn in sample.metadata["history"]:
        agent.ask(turn["question"], tenant_id=sample.metadata["tenant"], **who)
    return asked(agent, sample, **who)


def scored(sample: Sample, out: Output) -> Scores:
    wanted, told, there = {*sample.target["docs"]}, replied(sample, out), bool(sample.metadata["answerable"])
    missing = [group for group in sample.target["contains"] if len(absent(group, said(out))) == len(group)]
    return {
        **told,
        "held": Score(told["told"] and there and not missing, f"not there: {missing}" if missing else ""),
        "found": bool(wanted & candidates(out)),
        "cited": bool(wanted & {*out.sources}),
        "words": len(said(out).split()) if told["told"] else 0,
    }


def measured(rows: Rows, prefix: str = "") -> Iterator[Metric]:
    there, nothing = rows.where(answerable=True), rows.where(answerable=False)
    answers = rows.where(told=True)
    yield there.rate(f"{prefix}the wanted words stand in the answer", "held")
    yield there.rate(f"{prefix}a wanted document among those found", "found")
    yield there.rate(f"{prefix}a wanted document cited", "cited")
    for kind, part in there.by("kind"):
        yield part.rate(f"{prefix}words, {kind}", "held")
    yield nothing.rate(f"{prefix}silent when the answer is not there", "silent")
    yield there.rate(f"{prefix}silent though the answer is there", "silent")
    yield rows.rate(f"{prefix}guarded or blocked", "stopped")
    for level in ("high", "medium", "low"):
        yield answers.where(confidence=level).rate(f"{prefix}words, of answers called {level}", "held")
    yield answers.figure(f"{prefix}words shown, median", "words", statistics.median)


def main() -> None:
    everything = (*LEFT_OUT, *SECOND, *OPEN)
    parser = argparse.ArgumentParser(
        prog="python -m evals.suites.handbooks", description="Ask the questions of collections."
    )
    parser.add_argument("names", nargs="*", metavar="COLLECTION", help=f"all by default: {', '.join(everything)}")
    parser.add_argument("--out", type=Path, default=Path("out/eval"), help="where the replies go")
    parser.add_argument("--twin", default="", metavar="KIND", help="ask their twins: 'docx, pandoc', 'pdf, Chromium' …")
    parser.add_argument("--homes", type=Path, help="keep what is ingested here, for another run")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    tell(
        run(
            "handbooks", collections(options.names or everything, homes=options.homes, twin=options.twin), options.out
        ).metrics
    )


if __name__ == "__main__":
    main()
