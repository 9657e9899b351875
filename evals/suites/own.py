"""own: your own questions over your own documents, and your own attacks, from files given by option.

    cordon eval own --questions questions.jsonl --corpus documents/ --attacks attacks.jsonl

A question: `question` and `tenant`; what is wanted by `answerable` (true unless said), `docs` (ids that answer it) and
`contains` (groups of words: one of each must stand in the answer); `history` (`[{"question": …}]`, turns before it);
`kind`, `id`. A text to judge: `text` and `action` (BLOCK, ALLOW_WITH_GUARDRAILS or ALLOW). The corpus is a folder with
`manifest.csv` and `tenant_acl.csv`, as `cordon ingest` takes them, or with a folder of documents for each tenant and
one called `public`. Without it, the questions are asked of the home that the settings name.
"""

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, get_args

from evals.experiments import write
from evals.solvers import judged
from evals.suites import handbooks
from evals.task import Metric, Output, Rows, Sample, Task
from graph import settings
from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge.ingest import Source, files
from graph.knowledge.manifest import sources
from graph.policy.rubric import Action

_QUESTION = {"history": [], "kind": "", "answerable": True, "docs": [], "contains": [], "right": ""}


def tasks(questions: Path | None = None, corpus: Path | None = None, attacks: Path | None = None) -> Iterator[Task]:
    """Raises BadInput without a file of questions or attacks, and for a line that cannot be used."""
    if questions is None and attacks is None:
        raise BadInput(
            "own judges files of yours.", hint="cordon eval own --questions FILE [--corpus DIR] [--attacks FILE]"
        )
    asked = _rows(questions, {"question": str, "tenant": str}) if questions else []
    texts = _rows(attacks, {"text": str, "action": str}) if attacks else []
    if wrong := [row for row in texts if row["action"] not in get_args(Action)]:
        raise BadInput(f"{attacks}: {wrong[0]['action']!r} is no action.", hint=", ".join(get_args(Action)))
    wanted = [handbooks.sample(_QUESTION | {"id": f"q{at}"} | row) for at, row in enumerate(asked, 1)]
    judge = [Sample.from_row({"id": f"a{at}"} | row, "text", "action") for at, row in enumerate(texts, 1)]
    everything: list[Any] = []

    def keep(rows: Rows, out: Path) -> dict[str, Any]:
        everything.extend(rows)
        write("own", everything, out / "own.jsonl")
        return {}

    with tempfile.TemporaryDirectory() as scratch:
        place: dict[str, Any] = {"environ": {}, "home": Path(scratch)} if corpus else {}
        with Agent(settings.load(**place, artifacts=False)) as agent:
            if corpus:
                agent.ingest_sources(_documents(corpus))
            if wanted:
                solve = partial(handbooks.answered, agent)
                yield Task("questions", wanted, solve, handbooks.scored, handbooks.measured, keep)
            yield Task("attacks", judge, partial(scanned, agent), judged, verdicts, keep)


def scanned(agent: Agent, sample: Sample) -> Output:
    return Output(verdict=agent.scan(sample.input)["action"])


def verdicts(rows: Rows) -> Iterator[Metric]:
    for action in get_args(Action):
        if group := rows.wanting(action):
            yield group.rate(f"{action} wanted: so judged", "right")
            yield group.rate(f"{action} wanted: guarded or blocked", "stopped")


def _rows(path: Path, needed: dict[str, type]) -> list[dict[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read ({type(error).__name__}).", hint="Give a file of JSON lines.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path}, line {number} is no JSON: {error}.") from error
        missing = [
            key for key, kind in needed.items() if not isinstance(row, dict) or not isinstance(row.get(key), kind)
        ]
        if missing:
            raise BadInput(
                f"{path}, line {number} has no {missing[0]!r}.", hint=f"Each line needs {', '.join(needed)}."
            )
        found.append(row)
    if not found:
        raise BadInput(f"{path} holds no line.")
    return found


def _documents(corpus: Path) -> list[Source]:
    if not corpus.is_dir():
        raise BadInput(f"{corpus} is no folder.", hint="Give a folder of documents by --corpus.")
    if (corpus / "manifest.csv").is_file():
        return list(sources(corpus / "manifest.csv", corpus / "tenant_acl.csv"))
    return [one for folder in sorted(corpus.iterdir()) if folder.is_dir() for one in files([folder], folder.name)]
