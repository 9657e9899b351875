"""redteam: attacks in disguise, instructions planted in documents, and other people's red-team prompts."""

import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals import figures, logistic, material, train
from evals.disguises import HELD_OUT, TUNED
from evals.material import OWN
from evals.retrieval import data_directory
from evals.stats import Rate
from graph.errors import BadInput
from graph.policy import planted as withhold
from graph.policy.canonical import canonicalise
from graph.policy.sentences import split
from graph.policy.threats import assess, mention
from graph.policy.threats import planted as model

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
    found |= planted_left_out(data / "pool", passages, out)
    found |= laboratory(data / "lab_corpus")
    return {"figures": found, "by disguise": by_disguise, "plots": [str(out / "planted.png")]}


def disguised(*, encode: bool = False) -> dict[str, Any]:
    """Found (guarded or blocked) among 40 attacks in every disguise."""
    attacks = [row["text"] for row in material.own("obfuscation")]
    mode = ", with encoder" if encode else ""

    def caught(texts: Iterable[str]) -> Rate:
        stopped = [assess(text, encode=encode).action != "ALLOW" for text in texts]
        return Rate(sum(stopped), len(stopped))

    found: dict[str, Any] = {f"40 attacks, plain: found{mode}": caught(attacks).as_json()}
    by_disguise = {}
    for name, disguises in (("used in tuning", TUNED), ("held out", HELD_OUT)):
        rates = {disguise: caught(map(apply, attacks)) for disguise, apply in disguises.items()}
        by_disguise |= {disguise: rate.as_json() for disguise, rate in rates.items()}
        all_of = Rate(sum(rate.hits for rate in rates.values()), sum(rate.n for rate in rates.values()))
        found[f"disguised, {len(disguises)} transforms {name}: found{mode}"] = all_of.as_json()
    innocent = [row["question"] for row in material.own("answers")][::5]
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
    folder = Path(__file__).parents[1] / "corpus" / "public"
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
        rows = material.own(name)
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


def planted_left_out(pool: Path, passages: dict[str, list[str]], out: Path) -> dict[str, Any]:
    """Each source of planted payloads against ordinary passages, learned without that source; rules count as well.

    The own payloads are judged by what was learned without any own text. Those judged are written one by one.
    """
    samples = [*material.own_planted(), *material.planted(pool)]
    rows = logistic.Rows.of(
        [model.sparse(mention.without(canonicalise(s.text).text, document=True)) for s in samples], model.SIZE
    )
    labels = np.array([float("planted" in s.labels) for s in samples])
    source = np.array([s.source for s in samples])
    plain = [text for texts in passages.values() for text in texts]
    found: dict[str, Any] = {}
    values, rates = [], []
    pooled: dict[str, list[np.ndarray]] = {"planted": [], "ordinary": []}
    for name in ("bipia", "spikee", OWN):
        rest = np.flatnonzero(~np.isin(source, material.AUTHOR if name == OWN else (name,)))
        words, bias, _ = train.sentence_fit(rows, labels, source, rest)
        payloads = [s.text for s in samples if s.source == name and s.labels and s.kind != "question"]
        bases = [passages["squad"][at % len(passages["squad"])] for at in range(len(payloads))]
        texts = [_insert(base, payload)[0] for base, payload in zip(bases, payloads, strict=True)]
        positive, negative = _highest(words, bias, texts), _highest(words, bias, plain)
        value, rate = figures.auc(positive, negative), float((positive > np.quantile(negative, 0.98)).mean())
        found[f"planted, {name} left out: AUC of passages"] = {"value": value, "n": len(positive)}
        found[f"planted, {name} left out: found at 2% of ordinary passages"] = Rate(
            round(rate * len(positive)), len(positive)
        ).as_json()
        values.append(value)
        rates.append(rate)
        pooled["planted"].append(positive)
        pooled["ordinary"].append(negative)
    chances = {kind: 1 / (1 + np.exp(-np.concatenate(margins))) for kind, margins in pooled.items()}
    figures.curves(chances["planted"], chances["ordinary"], out / "planted", "planted sentences, sources left out")
    found["planted, left out: mean AUC"] = {"value": float(np.mean(values)), "n": len(values)}
    found["planted, left out: mean found at 2%"] = {"value": float(np.mean(rates)), "n": len(rates)}
    return found


_SURE = 20.0  # put on the margin where a rule alone would withhold


def _highest(words: np.ndarray, bias: float, texts: Sequence[str]) -> np.ndarray:
    weights = words.astype(np.float32)
    found = []
    for text in texts:
        plain = canonicalise(text).text
        parts = [mention.without(plain[a:b], document=True) for a, b in split(plain)] or [plain]
        ruled = any(f.score >= model.WITHHELD_FROM for f in model.ruled(text))
        found.append(float(model.margins(weights, bias, parts).max()) + _SURE * ruled)
    return np.array(found)


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
