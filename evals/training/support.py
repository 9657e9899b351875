"""The weights by which a claim is told from one that the evidence does not support, and what they are learned from."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.material import own_set, rows
from evals.training import changed_facts
from evals.training.logistic import Dense, fit
from evals.training.support_texts import ASIDE, Row, claims, gather
from graph.policy import grounding
from graph.policy.grounding import entailment
from graph.policy.grounding.features import NAMES
from graph.policy.grounding.prepared import prepare
from graph.policy.grounding.signs import NAMES as SIGNS
from graph.policy.grounding.tokens import read

FOLDS, L2, STEPS = 5, 1e-4, 150
# What a set counts for in learning, whatever its size; chosen by the cross-validated figures below.
SHARE = {"begin": 1.4, "wice": 1.5, "wice_oracle": 0.3, "hard": 0.75}
CUT = 0.5  # the weights are learned with both labels of a set counting the same, so one half is the border
MODULE = Path(grounding.__file__).with_name("learned.py")


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


# What the two readings are weighed by: sets of which the encoder saw nothing, each with both labels counting the same.
WEIGHED = {
    "claims": 4.0,
    "hard": 2.0,
    "wice": 0.5,
    "dialfact_sample": 0.5,
    "pubhealthtab_small": 0.5,
}


def train(folder: Path) -> None:
    """Learns from everything and writes the module of weights: first of the words, then of both readings."""
    pairs = [*pool_pairs(folder), *hard_pairs()]
    rows_of = [(p, r) for p in pairs if (r := features(p)) is not None]
    judged = [p for p, _ in rows_of]
    labels = np.array([p.supported for p in judged], float)
    words = learn([r for _, r in rows_of], labels, importance(judged))
    rows = weighed(folder)
    read_rows = [(row, values) for row in rows if (values := sign_values(row, *words)) is not None]
    both = weigh([row for row, _ in read_rows], np.array([values for _, values in read_rows]))
    MODULE.write_text(
        f'''"""What counts how much. Learned: `python -m evals.suites.support --train` writes this file."""

SUPPORTED_FROM = {CUT}  # below it a sentence is not let out
INTERCEPT = {words[1]:.4f}
WEIGHTS = {{
{_written(NAMES, words[0])}
}}
SIGN_INTERCEPT = {both[1]:.4f}
SIGN_WEIGHTS = {{
{_written(SIGNS, both[0])}
}}
''',
        encoding="utf-8",
    )
    print(f"{MODULE.name}: {len(NAMES)} weights from {len(judged)} pairs, {len(SIGNS)} from {len(rows)}")


def _written(names: Sequence[str], values: np.ndarray) -> str:
    return "\n".join(f'    "{name}": {value:.4f},' for name, value in zip(names, values, strict=True))


def weighed(folder: Path) -> list[Row]:
    """The claims by which the two readings are weighed."""
    rows = [row for source in ASIDE for row in gather(source)] + claims(changed_facts.LEARNED, "t")
    for p in [p for p in pool_pairs(folder) if p.source == "wice"] + hard_pairs():
        rows.append(Row(p.claim, p.evidence, "supported" if p.supported else "unsupported", p.source, p.article))
    return [
        row for row in rows if row.claim.strip() not in row.evidence and read(row.claim).forms and row.evidence.strip()
    ]


def sign_values(row: Row, coefficients: np.ndarray, intercept: float) -> np.ndarray | None:
    """The signs of one row, with these weights of the words."""
    found = grounding.compared(row.claim, row.evidence, coefficients, intercept)
    return None if found is None else grounding.signs_of(found, *entailment.margins(grounding.read_by_encoder(found)))


def weigh(rows: Sequence[Row], values: np.ndarray) -> tuple[np.ndarray, float]:
    counts = Counter((row.source, row.label == "supported") for row in rows)
    weights = np.array([WEIGHED[row.source] / counts[row.source, row.label == "supported"] for row in rows])
    return fit(Dense(values), np.array([row.label == "supported" for row in rows], float), weights, 1e-3, 200)
