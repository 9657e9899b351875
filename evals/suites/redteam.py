"""redteam: attacks in disguise, instructions planted in documents, and other people's red-team prompts."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evals import material
from evals.disguises import HELD_OUT, TUNED
from evals.stats import Rate
from evals.suites.retrieval import data_directory
from graph.errors import BadInput
from graph.policy.evidence import withholding as withhold
from graph.policy.text.sentences import split
from graph.policy.threats import assess

EACH = 300  # ordinary passages of one collection


def run(out: Path) -> dict[str, Any]:
    found = disguised() | disguised(encode=True)  # by rules and n-grams alone, and as triage judges a question
    by_disguise = found.pop("by disguise")
    try:
        data = data_directory()
    except BadInput as error:
        return {"figures": found, "by disguise": by_disguise, "skipped": str(error)}
    passages = ordinary_passages(data)
    found |= planted(passages)
    found |= laboratory(data / "lab_corpus")
    return {"figures": found, "by disguise": by_disguise}


def disguised(*, encode: bool = False) -> dict[str, Any]:
    """Found (guarded or blocked) among 40 attacks in every disguise."""
    attacks = [row["text"] for row in material.own_set("obfuscation")]
    mode = ", with encoder" if encode else ""

    def caught(texts: Iterable[str]) -> Rate:
        stopped = [assess(text, encode=encode).action != "ALLOW" for text in texts]
        return Rate(sum(stopped), len(stopped))

    found: dict[str, Any] = {f"40 attacks, plain: found{mode}": caught(attacks).as_json()}
    by_disguise: dict[str, Any] = {}
    for name, disguises in (("used in tuning", TUNED), ("held out", HELD_OUT)):
        rates = {disguise: caught(map(apply, attacks)) for disguise, apply in disguises.items()}
        by_disguise |= {disguise: rate.as_json() for disguise, rate in rates.items()}
        all_of = Rate(sum(rate.hits for rate in rates.values()), sum(rate.n for rate in rates.values()))
        found[f"disguised, {len(disguises)} transforms {name}: found{mode}"] = all_of.as_json()
    innocent = [row["question"] for row in material.own_set("answers")][::5]
    wrong = caught(apply(text) for apply in (TUNED | HELD_OUT).values() for text in innocent)
    found[f"innocent questions in the same disguises: flagged{mode}"] = wrong.as_json()
    found["by disguise"] = by_disguise
    return found


def ordinary_passages(data: Path) -> dict[str, list[str]]:
    """Passages that nobody planted anything in and that no weights were trained on."""
    collections = {
        name: [r["text"] for r in _rows(data / "retrieval" / f"{name}_docs.jsonl.gz")] for name in ("cranfield", "cisi")
    }
    units = json.loads((data / "regulation" / "gdpr_units.json").read_text(encoding="utf-8"))
    collections["gdpr"] = [unit["text"] for unit in units]
    squad = (
        r["meta"].get("context") or r["meta"].get("passage") or "" for r in _rows(data / "pool" / "abstention.jsonl.gz")
    )
    collections["squad"] = list(dict.fromkeys(squad))
    folder = Path(__file__).parents[2] / "corpus" / "public"
    collections["policy"] = [
        part
        for file in sorted(folder.glob("*.md"))
        for part in file.read_text(encoding="utf-8").split("\n\n")
        if len(part) > 80
    ]
    return {name: [t for t in texts if t.strip()][:: max(1, len(texts) // EACH)] for name, texts in collections.items()}


def planted(passages: dict[str, list[str]]) -> dict[str, Any]:
    """By the shipped weights: ordinary passages flagged, and the project's test sentences put into GDPR passages."""
    found = {}
    flagged = {name: sum(bool(withhold.ranges(text)) for text in texts) for name, texts in passages.items()}
    for name, texts in passages.items():
        found[f"ordinary passages of {name}: flagged"] = Rate(flagged[name], len(texts)).as_json()
    found["ordinary passages: flagged"] = Rate(sum(flagged.values()), sum(map(len, passages.values()))).as_json()
    for name in ("planted_test", "blind_planted"):
        rows = material.own_set(name)
        caught = 0
        for row, passage in zip(rows, passages["gdpr"], strict=False):
            text, start, end = _insert(passage, row["text"])
            caught += any(a < end and b > start for a, b in withhold.ranges(text))
        found[f"{name.replace('_', ' ')} sentences in a passage: withheld"] = Rate(caught, len(rows)).as_json()
    return found


def _insert(passage: str, sentence: str) -> tuple[str, int, int]:
    sentences = split(passage)
    at = sentences[len(sentences) // 2][0] if len(sentences) > 1 else len(passage)
    text = f"{passage[:at]} {sentence}\n{passage[at:]}"
    return text, at + 1, at + 1 + len(sentence)


def laboratory(folder: Path) -> dict[str, Any]:
    """Ten red-team prompts and eight questions that somebody else wrote for four laboratories; never tuned on."""
    prompts = json.loads((folder / "tests" / "redteam_prompts.json").read_text(encoding="utf-8"))
    blocked = sum(assess(p["prompt"], tenant=p["tenant"]).action == "BLOCK" for p in prompts)
    found = {"laboratory red-team prompts: blocked": Rate(blocked, len(prompts)).as_json()}
    questions = [
        (file.stem, q) for file in sorted((folder / "eval").glob("*.json")) for q in json.loads(file.read_text())
    ]
    right = sum((assess(q["q"], tenant=tenant).action == "ALLOW") == q["allowed"] for tenant, q in questions)
    found["laboratory questions: allowed or refused as they should"] = Rate(right, len(questions)).as_json()
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
