"""support: how well a claim is told from one that the evidence does not support, on other people's labels and ours.

`python -m evals.suites.support --train` learns the weights from the pool (BEGIN and WiCE dev, MIT and ODC-BY; folder by
--pool or CORDON_POOL) and from evals/datasets/hard_pairs.jsonl, and writes graph/policy/grounding/weights.py.
`python -m evals.suites.support` measures: with the weights of the module, and by cross-validation over articles.
"""

import argparse
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evals.material import own_set, pool_folder_near, rows
from evals.stats import Rate
from evals.training.logistic import Dense, fit
from graph.errors import BadInput
from graph.policy import filters, grounding
from graph.policy.grounding.features import NAMES
from graph.policy.grounding.prepared import prepare
from graph.policy.grounding.tokens import read

FOLDS, L2, STEPS = 5, 1e-4, 150
# What a set counts for in learning, whatever its size; chosen by the cross-validated figures below.
SHARE = {"begin": 1.4, "wice": 1.5, "wice_oracle": 0.3, "hard": 0.75}
CUT = 0.5  # the weights are learned with both labels of a set counting the same, so one half is the border
MODULE = Path(grounding.__file__).with_name("weights.py")


@dataclass(frozen=True)
class Pair:
    claim: str
    evidence: str
    supported: bool
    source: str  # begin, wice, wice_oracle or hard
    article: str  # what is kept together in one fold
    kind: str = ""
    gold: frozenset[int] = frozenset()
    sentences: tuple[str, ...] = ()


def pool_pairs(folder: Path) -> list[Pair]:
    found = []
    for row in rows(folder / "grounding.jsonl.gz"):
        meta = row["meta"]
        source = "begin" if row["source"].startswith("begin") else row["source"]
        # The oracle chunks of WiCE are cut from the article of their claim.
        article = row["text"] if source != "begin" else meta["context"]
        gold = frozenset(n for group in meta.get("gold", []) for n in group)
        sentences = tuple(meta.get("sentences", ()))
        found.append(Pair(row["text"], meta["context"], bool(row["label"]), source, article, "", gold, sentences))
    shared: dict[str, str] = {}  # claims about one article stay together
    for pair in found:
        if pair.source == "wice":
            shared[pair.claim] = pair.evidence[:300]
    return [
        Pair(p.claim, p.evidence, p.supported, p.source, shared.get(p.claim, p.article), p.kind, p.gold, p.sentences)
        for p in found
    ]


def hard_pairs() -> list[Pair]:
    return [
        Pair(r["claim"], r["evidence"], r["supported"], "hard", r["document"], r["kind"]) for r in own_set("hard_pairs")
    ]


def features(pair: Pair) -> np.ndarray | None:
    """One row per span that is looked at; None for a verbatim claim, which is not judged by weights."""
    if pair.claim.strip() in pair.evidence:
        return None
    found = grounding.candidates(read(pair.claim.strip()), prepare(pair.evidence))
    return np.array([row for _, row in found]) if found else np.zeros((1, len(NAMES)))


def learn(spans: list[np.ndarray], labels: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights under which the best span of a supported claim scores high, and of no other.

    Which span is the best depends on the weights: first the one with most shared words, then twice by the score.
    """
    chosen = np.array([s[0] for s in spans])
    for _ in range(3):
        coefficients, intercept = fit(Dense(chosen), labels, weights, L2, STEPS)
        chosen = np.array([s[int(np.argmax(s @ coefficients))] for s in spans])
    return coefficients, intercept


def importance(pairs: list[Pair]) -> np.ndarray:
    """Equal parts for both labels of a set, and SHARE for each set."""
    counts: dict[tuple[str, bool], int] = {}
    for p in pairs:
        counts[p.source, p.supported] = counts.get((p.source, p.supported), 0) + 1
    return np.array([SHARE[p.source] / counts[p.source, p.supported] for p in pairs])


def fold(article: str) -> int:
    return hashlib.sha256(article.encode()).digest()[0] % FOLDS


def scores(spans: list[np.ndarray], coefficients: np.ndarray, intercept: float) -> np.ndarray:
    return np.array([1 / (1 + np.exp(-(float(np.max(s @ coefficients)) + intercept))) for s in spans])


def cross_validated(pairs: list[Pair], spans: list[np.ndarray]) -> np.ndarray:
    """A score for every pair, from weights that saw no pair of its article."""
    labels = np.array([p.supported for p in pairs], float)
    folds = np.array([fold(p.article) for p in pairs])
    weights, out = importance(pairs), np.zeros(len(pairs))
    for number in range(FOLDS):
        seen, held = np.flatnonzero(folds != number), np.flatnonzero(folds == number)
        coefficients, intercept = learn([spans[i] for i in seen], labels[seen], weights[seen])
        out[held] = scores([spans[i] for i in held], coefficients, intercept)
    return out


def rate(pairs: list[Pair], hit: np.ndarray, of: Any) -> Rate:
    chosen = [bool(h) for p, h in zip(pairs, hit, strict=True) if of(p)]
    return Rate(sum(chosen), len(chosen))


def balanced(pairs: list[Pair], score: np.ndarray, cut: float, source: str) -> float:
    yes = rate(pairs, score >= cut, lambda p: p.source == source and p.supported).value
    no = rate(pairs, score < cut, lambda p: p.source == source and not p.supported).value
    return ((yes or 0.0) + (no or 0.0)) / 2


def run(out: Path) -> dict[str, Any]:
    """The hard pairs with the weights of the module; the pool as well where there is one, cross-validated."""
    pairs = hard_pairs()
    held = np.array([grounding.support(p.claim, p.evidence).score for p in pairs])
    figures = {f"{name}, shipped weights": r.as_json() for name, r in on_hard(pairs, held).items()}
    try:
        pool = pool_pairs(pool_folder_near())
    except BadInput:
        return {"figures": figures, "plots": []}
    everything = [*pool, *pairs]
    rows_of = [features(p) for p in everything]
    judged = [i for i, r in enumerate(rows_of) if r is not None]
    score = np.ones(len(everything))
    spans = [r for r in rows_of if r is not None]
    score[judged] = cross_validated([everything[i] for i in judged], spans)
    for source in ("wice", "begin", "wice_oracle"):
        yes = rate(everything, score >= CUT, lambda p, s=source: p.source == s and p.supported)
        no = rate(everything, score < CUT, lambda p, s=source: p.source == s and not p.supported)
        value = balanced(everything, score, CUT, source)
        figures[f"{source}, balanced accuracy, cross-validated"] = {"value": value, "n": yes.n + no.n}
        figures[f"{source}, supported let through"] = yes.as_json()
        figures[f"{source}, unsupported stopped"] = no.as_json()
    hard_score = score[len(pool) :]
    figures |= {f"{name}, cross-validated": r.as_json() for name, r in on_hard(pairs, hard_score).items()}
    figures |= {name: r.as_json() for name, r in best_is_gold(pool).items()}
    return {"figures": figures, "plots": []}


def on_hard(pairs: list[Pair], score: np.ndarray) -> dict[str, Rate]:
    found = {
        "hard pairs, swaps caught": rate(pairs, score < CUT, lambda p: not p.supported),
        "hard pairs, true ones lost": rate(pairs, score < CUT, lambda p: p.supported),
        "hard pairs, paraphrases lost": rate(pairs, score < CUT, lambda p: p.kind == "paraphrase"),
    }
    for kind in sorted({p.kind for p in pairs if not p.supported}):
        found[f"hard pairs, caught: {kind}"] = rate(pairs, score < CUT, lambda p, k=kind: p.kind == k)
    return found


def best_is_gold(pairs: list[Pair]) -> dict[str, Rate]:
    """Whether what `cordon check` calls the best is of the sentences that the annotators named, where they named any:
    with the article as one evidence, and with each of its sentences as an evidence of its own."""
    named = [pair for pair in pairs if pair.gold]
    whole = alone = 0
    for pair in named:
        lines = [" ".join(sentence.split()) for sentence in pair.sentences]
        text = "\n".join(lines)
        best = filters.check(pair.claim, [text])["best"]
        told = range(text.count("\n", 0, best["start"]), text.count("\n", 0, max(best["end"] - 1, 0)) + 1)
        whole += bool(pair.gold & set(told))
        alone += filters.check(pair.claim, lines)["best"]["index"] in pair.gold
    return {
        "wice, best span holds a gold sentence": Rate(whole, len(named)),
        "wice, best of the sentences one by one is a gold one": Rate(alone, len(named)),
    }


def train(folder: Path) -> None:
    """Learns from everything and writes the module of weights."""
    pairs = [*pool_pairs(folder), *hard_pairs()]
    rows_of = [(p, r) for p in pairs if (r := features(p)) is not None]
    judged = [p for p, _ in rows_of]
    labels = np.array([p.supported for p in judged], float)
    coefficients, intercept = learn([r for _, r in rows_of], labels, importance(judged))
    lines = [f"    {name!r}: {value:.4f},".replace("'", '"') for name, value in zip(NAMES, coefficients, strict=True)]
    MODULE.write_text(
        f'''"""What each feature counts for. Learned: `python -m evals.suites.support --train` writes this file."""

SUPPORTED_FROM = {CUT}  # below it a sentence is not let out
INTERCEPT = {intercept:.4f}
WEIGHTS = {{
'''
        + "\n".join(lines)
        + "\n}\n",
        encoding="utf-8",
    )
    print(f"{MODULE.name}: {len(NAMES)} weights from {len(judged)} pairs")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.support", description=__doc__)
    parser.add_argument("--train", action="store_true", help="learn the weights and write the module")
    parser.add_argument("--pool", help="folder of grounding.jsonl.gz")
    arguments = parser.parse_args(argv)
    if arguments.pool:
        os.environ["CORDON_POOL"] = arguments.pool
    if arguments.train:
        train(pool_folder_near())
        return 0
    from evals.__main__ import shown

    for name, value in run(Path())["figures"].items():
        print(f"{name:<55} {shown(value)}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadInput as error:
        print(f"evals.suites.support: {error} {error.hint}", file=sys.stderr)
        sys.exit(error.exit_code)
