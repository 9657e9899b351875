"""The weights by which a claim is told from one that the evidence does not support, and what they are learned from."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.material import own_set, rows
from evals.training.logistic import Dense, fit
from graph.policy import grounding
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


def cross_validated(everything: Sequence[Pair]) -> np.ndarray:
    """A score for every pair, from weights that saw no pair of its article; 1 for a verbatim claim."""
    found = [features(pair) for pair in everything]
    judged = [at for at, row in enumerate(found) if row is not None]
    pairs, spans = [everything[at] for at in judged], [row for row in found if row is not None]
    labels = np.array([p.supported for p in pairs], float)
    folds = np.array([fold(p.article) for p in pairs])
    weights, out = importance(pairs), np.zeros(len(pairs))
    for number in range(FOLDS):
        seen, held = np.flatnonzero(folds != number), np.flatnonzero(folds == number)
        coefficients, intercept = learn([spans[i] for i in seen], labels[seen], weights[seen])
        out[held] = scores([spans[i] for i in held], coefficients, intercept)
    score = np.ones(len(everything))
    score[judged] = out
    return score


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
