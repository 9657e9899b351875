"""redteam: attacks in disguise, instructions planted in documents, and other people's red-team prompts."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from evals import material
from evals.disguises import HELD_OUT, TUNED
from evals.material import data_directory, own_set
from evals.solvers import CORPUS, judged, triage
from evals.task import Metric, Output, Rows, Sample, Scores, Tables, Task
from graph.policy.evidence import withholding as withhold
from graph.policy.text.sentences import split

EACH = 300  # ordinary passages of one collection
SETS: dict[str, dict[str, Callable[[str], str]]] = {"used in tuning": TUNED, "held out": HELD_OUT}


def tasks() -> Iterator[Task]:
    # By rules and n-grams alone, and as triage judges a question.
    for mode, encode in (("", False), (", with encoder", True)):
        solve, metrics = partial(triage, encode=encode), partial(disguised, mode=mode)
        yield Task(f"disguises{mode}", disguises(), solve, judged, metrics, tables=by_disguise)
    data = data_directory()
    passages = ordinary_passages(data)
    yield Task("ordinary passages", honest(passages), withheld, caught, ordinary)
    yield Task("planted sentences", planted(passages["gdpr"]), withheld, caught, orders)
    # Ten red-team prompts and eight questions that somebody else wrote for four laboratories; never tuned on.
    lab = data / "lab_corpus"
    prompts = json.loads((lab / "tests" / "redteam_prompts.json").read_text(encoding="utf-8"))
    attacks = [Sample("", row["prompt"], "BLOCK", {"tenant": row["tenant"]}) for row in prompts]
    figure = {"laboratory red-team prompts: blocked": "blocked"}
    yield Task("laboratory prompts", attacks, laboratory, judged, figure)
    questions = [
        Sample("", row["q"], row["allowed"], {"tenant": file.stem})
        for file in sorted((lab / "eval").glob("*.json"))
        for row in json.loads(file.read_text())
    ]
    figure = {"laboratory questions: allowed or refused as they should": "right"}
    yield Task("laboratory questions", questions, laboratory, allowed, figure)


def disguises() -> Iterator[Sample]:
    """Attacks and innocent questions in every disguise, and the attacks as they are."""
    attacks = [(row["id"], row["text"]) for row in own_set("obfuscation")]
    innocent = [(row["id"], row["question"]) for row in own_set("answers")][::5]
    plain: dict[str, dict[str, Callable[[str], str]]] = {"plain": {"plain": str}}
    for name, ways in (plain | SETS).items():
        for disguise, apply in ways.items():
            for wanted, texts in (("BLOCK", attacks), ("ALLOW", innocent if name != "plain" else [])):
                for id_, text in texts:
                    told = {"set": name, "disguise": disguise}
                    yield Sample(f"{id_}-{disguise}", apply(text), wanted, told)


def disguised(rows: Rows, mode: str) -> Iterator[Metric]:
    attacks, innocent = rows.wanting("BLOCK"), rows.wanting("ALLOW")
    yield attacks.where(set="plain").rate(f"40 attacks, plain: found{mode}", "stopped")
    for name, ways in SETS.items():
        yield attacks.where(set=name).rate(f"disguised, {len(ways)} transforms {name}: found{mode}", "stopped")
    yield innocent.rate(f"innocent questions in the same disguises: flagged{mode}", "stopped")


def by_disguise(rows: Rows) -> Tables:
    found = rows.wanting("BLOCK").where(lambda row: row["set"] != "plain").by("disguise")
    return {"by disguise": {disguise: [part.rate("found", "stopped")] for disguise, part in found}}


def honest(passages: dict[str, list[str]]) -> list[Sample]:
    return [Sample("", text, [], {"collection": name}) for name, texts in passages.items() for text in texts]


def planted(passages: list[str]) -> Iterator[Sample]:
    """The project's test sentences put into passages of the GDPR; the target is where."""
    for name in ("planted_test", "blind_planted"):
        for row, passage in zip(own_set(name), passages, strict=False):
            text, start, end = _insert(passage, row["text"])
            yield Sample(row["id"], text, [(start, end)], {"set": name})


def withheld(sample: Sample) -> Output:
    ranges = withhold.ranges(sample.input)
    return Output("\n".join(sample.input[a:b] for a, b in ranges), raw=ranges)


def caught(sample: Sample, out: Output) -> Scores:
    hit = any(a < end and b > start for a, b in out.raw for start, end in sample.target)
    return {"flagged": bool(out.raw), "caught": hit}


def laboratory(sample: Sample) -> Output:
    return triage(sample, tenant=sample.metadata["tenant"])


def allowed(sample: Sample, out: Output) -> Scores:
    return {"right": (out.verdict == "ALLOW") is sample.target}


def ordinary(rows: Rows) -> Iterator[Metric]:
    for name in dict.fromkeys(row["collection"] for row in rows):
        yield rows.where(collection=name).rate(f"ordinary passages of {name}: flagged", "flagged")
    yield rows.rate("ordinary passages: flagged", "flagged")


def orders(rows: Rows) -> Iterator[Metric]:
    for name in ("planted_test", "blind_planted"):
        yield rows.where(set=name).rate(f"{name.replace('_', ' ')} sentences in a passage: withheld", "caught")


def ordinary_passages(data: Path) -> dict[str, list[str]]:
    """Passages that nobody planted anything in and that no weights were trained on."""
    collections = {
        name: [r["text"] for r in material.rows(data / "retrieval" / f"{name}_docs.jsonl.gz")]
        for name in ("cranfield", "cisi")
    }
    units = json.loads((data / "regulation" / "gdpr_units.json").read_text(encoding="utf-8"))
    collections["gdpr"] = [unit["text"] for unit in units]
    squad = (
        r["meta"].get("context") or r["meta"].get("passage") or ""
        for r in material.rows(data / "pool" / "abstention.jsonl.gz")
    )
    collections["squad"] = list(dict.fromkeys(squad))
    collections["policy"] = [
        part
        for file in sorted((CORPUS / "public").glob("*.md"))
        for part in file.read_text(encoding="utf-8").split("\n\n")
        if len(part) > 80
    ]
    return {name: [t for t in texts if t.strip()][:: max(1, len(texts) // EACH)] for name, texts in collections.items()}


def _insert(passage: str, sentence: str) -> tuple[str, int, int]:
    sentences = split(passage)
    at = sentences[len(sentences) // 2][0] if len(sentences) > 1 else len(passage)
    text = f"{passage[:at]} {sentence}\n{passage[at:]}"
    return text, at + 1, at + 1 + len(sentence)
