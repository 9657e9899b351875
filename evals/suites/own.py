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
from pathlib import Path
from typing import Any, get_args

from evals.stats import Rate
from evals.suites import handbooks
from graph import settings
from graph.agent import Agent
from graph.errors import BadInput
from graph.knowledge.ingest import Source, files
from graph.knowledge.manifest import sources
from graph.policy.rubric import Action

_QUESTION = {"history": [], "kind": "", "answerable": True, "docs": [], "contains": []}


def run(
    out: Path, *, questions: Path | None = None, corpus: Path | None = None, attacks: Path | None = None
) -> dict[str, Any]:
    """Raises BadInput without a file of questions or attacks, and for a line that cannot be used."""
    if questions is None and attacks is None:
        raise BadInput(
            "own judges files of yours.", hint="cordon eval own --questions FILE [--corpus DIR] [--attacks FILE]"
        )
    asked = _rows(questions, {"question": str, "tenant": str}) if questions else []
    judged = _rows(attacks, {"text": str, "action": str}) if attacks else []
    if wrong := [row for row in judged if row["action"] not in get_args(Action)]:
        raise BadInput(f"{attacks}: {wrong[0]['action']!r} is no action.", hint=", ".join(get_args(Action)))
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as scratch:
        place: dict[str, Any] = {"environ": {}, "home": Path(scratch)} if corpus else {}
        with Agent(settings.load(**place, artifacts=False)) as agent:
            if corpus:
                agent.ingest_sources(_documents(corpus))
            rows = [handbooks.answered(agent, _QUESTION | {"id": f"q{at}"} | row) for at, row in enumerate(asked, 1)]
            if rows:
                figures = handbooks.measured(rows)
            told = [row | {"got": agent.scan(row["text"])["action"]} for row in judged]
    for action in get_args(Action):
        group = [row for row in told if row["action"] == action]
        if group:
            figures[f"{action} wanted: so judged"] = Rate(sum(r["got"] == action for r in group), len(group)).as_json()
            stopped = Rate(sum(r["got"] != "ALLOW" for r in group), len(group))
            figures[f"{action} wanted: guarded or blocked"] = stopped.as_json()
    with (out / "own.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in [*rows, *told])
    return {"figures": figures, "rows": rows}


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
