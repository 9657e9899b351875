"""Trains the threat guards: `python -m evals.training.train --pool FOLDER`. Deterministic; only numpy is needed.

Writes graph/policy/threats/weights/{lexicon,threats}.npz. Only sources whose licence allows it enter (material.py).
Calibration uses margins of texts whose source was left out of the fit, so that 0.3 and 0.8 keep their meaning on
text of an unknown kind. Of the sources in material.JUDGES nothing is learned.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evals import material
from evals.command import ended
from evals.material import HEADS, OWN, Labelled
from evals.training import lexicon as word_list
from evals.training import logistic
from graph.policy.threats import learned, lexicon
from graph.policy.threats.readings import Readings, read

SEED = 20260101
MOST = {
    "banking77": 1_500, "clapnq_train_question": 1_500, "alpaca_harmless": 2_500, "davidson": 3_000,
    "wildjailbreak": 1_200, "lobehub": 1_200, "gpteacher_roleplay": 1_000, "aart": 900, "catqa": 900,
    "nl2bash": 400, "gpteacher_code": 600, "ifeval": 400, "copilot_md": 300,
}  # fmt: skip
LONGEST = 1_500  # characters that are learned from of a text of the second pool
L2_WORDS = 1e-5
OWN_WEIGHT = 2.0
# What borders rest on, learned without it: other people's ordinary questions, requests, personas and shell commands; an
# eighth of the own texts and of the tweets.
ASIDE, SHARED, PARTS = (
    ("banking77", "clapnq_train_question", "self_instruct", "agents_md", "fabric", "nl2bash"),
    (OWN, "davidson"),
    8,
)  # fmt: skip
# Shares of the innocent texts aside, each source counting the same, that a head guards (0.3) and blocks (0.8) alone:
# divided by what each finds of own attacks aside; together about 3 in 100 are guarded and 1 in 130 blocked.
SHARES = {
    "injection": (0.012, 0.004),
    "leakage": (0.006, 0.0015),
    "cross_tenant": (0.002, 0.0005),
    "evasion": (0.004, 0.0005),
    "toxicity": (0.003, 0.001),
    "harm": (0.004, 0.0007),
}


@dataclass(frozen=True)
class Table:
    """Samples with what the guards see of them. Row i of every array belongs to samples[i]."""

    samples: list[Labelled]
    readings: list[Readings]
    rows: logistic.Rows
    labels: np.ndarray  # (n, heads) 0 or 1
    known: np.ndarray  # (n, heads) bool
    source: np.ndarray


@dataclass(frozen=True)
class Fit:
    words: np.ndarray
    bias: float


def capped(samples: Sequence[Labelled]) -> list[Labelled]:
    """At most MOST of each source, chosen by a fixed shuffle; order kept."""
    order = np.random.default_rng(SEED).permutation(len(samples))
    counts: dict[str, int] = {}
    kept = []
    for at in order:
        source = samples[at].source
        counts[source] = counts.get(source, 0) + 1
        if counts[source] <= MOST.get(source, len(samples)):
            kept.append(int(at))
    return [samples[at] for at in sorted(kept)]


def gather(folder: Path) -> list[Labelled]:
    """All samples that may be learned from, capped."""
    found = [
        *material.questions(folder),
        *material.harmful(folder),
        *material.toxic(folder),
        *(replace(s, text=s.text[:LONGEST]) for s in material.varied(folder)),
    ]
    return [*material.own_training(), *capped([s for s in found if s.ship])]


def tabulate(samples: list[Labelled], *, judged: bool = False) -> Table:
    """Reads every sample once. For training the give-away tails are cut; `judged` leaves texts as they are."""
    readings = [read(s.text if judged else material.untailed(s)) for s in samples]
    first = [r.learned[0] for r in readings]
    rows = logistic.Rows.from_parts([learned.sparse(text) for text in first], learned.SIZE)
    return Table(
        samples,
        readings,
        rows,
        np.array([[float(head in s.labels) for head in HEADS] for s in samples]),
        np.array([[head in s.known for head in HEADS] for s in samples]),
        np.array([s.source for s in samples]),
    )


def fit(table: Table, head: int, chosen: np.ndarray) -> Fit:
    """One head on the chosen rows; sources count by the square root of their size, both classes the same."""
    chosen = chosen[table.known[chosen, head]]
    labels = table.labels[chosen, head]
    weights = _weights(table.source[chosen], labels)
    rows = table.rows.take(chosen)
    words, bias = logistic.fit(rows, labels, weights, L2_WORDS, 40)
    spread = rows.dot(words).std() or 1.0
    return Fit(words / spread, bias / spread)


def _weights(source: np.ndarray, labels: np.ndarray) -> np.ndarray:
    weights = np.zeros(len(labels))
    for name in np.unique(source):
        for label in (0, 1):
            group = (source == name) & (labels == label)
            if group.any():
                weights[group] = group.sum() ** -0.5 * (OWN_WEIGHT if name == OWN else 1.0)
    for label in (0, 1):
        weights[labels == label] /= weights[labels == label].sum()
    return weights


def margins(table: Table, fits: Sequence[Fit], chosen: np.ndarray) -> np.ndarray:
    """Worst margin over windows and readings; shape (len(chosen), len(fits))."""
    weights = np.stack([f.words for f in fits])
    bias = np.array([f.bias for f in fits])
    found = []
    for at in chosen:
        texts = [reading[a:b] for reading in table.readings[at].learned for a, b in learned.windows(reading)]
        rows = [learned.sparse(text) for text in texts]
        found.append(np.max([weights[:, columns] @ values + bias for columns, values in rows], axis=0))
    return np.array(found)


def aside(table: Table) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from, and those that borders rest on: of sources that the others know nothing of, and a share of
    the own set and of the tweets.

    A second fit on everything would gain a fifth more texts, and borders that belong to another fit.
    """
    part = np.random.default_rng(SEED).integers(0, PARTS, len(table.samples))
    out = np.isin(table.source, ASIDE) | (np.isin(table.source, SHARED) & (part == 0))
    return np.flatnonzero(~out), np.flatnonzero(out)


def part_of(table: Table, rows: np.ndarray) -> Table:
    """The same for some rows, as far as calibration needs it."""
    return replace(
        table,
        samples=[table.samples[at] for at in rows],
        labels=table.labels[rows],
        known=table.known[rows],
        source=table.source[rows],
    )


def spread_quantile(margin: np.ndarray, source: np.ndarray, share: float) -> float:
    """The quantile of all sources together, each counting the same."""
    names, at, sizes = np.unique(source, return_inverse=True, return_counts=True)
    order = np.argsort(margin)
    reached = np.cumsum((1 / sizes[at] / len(names))[order])
    return float(margin[order][min(int(np.searchsorted(reached, share)), len(order) - 1)])


def calibrate(table: Table, head: int, margin: np.ndarray) -> learned.Knots:
    """Knots (margins, scores) of one head, from margins of texts that the fit did not see; SHARES sets the borders."""
    innocent = (table.labels.sum(1) == 0) & table.known[:, head]
    tweets = innocent & (table.source == "davidson")  # people's rough talk that annotators found harmless
    setting = innocent & ~tweets & np.array([s.calibrates for s in table.samples])
    attacks = (table.labels[:, head] == 1) & table.known[:, head]
    guard, block = (spread_quantile(margin[setting], table.source[setting], 1 - share) for share in SHARES[HEADS[head]])
    if HEADS[head] == "toxicity":
        block = max(block, float(np.quantile(margin[tweets], 0.98)))
    middle = float(np.quantile(margin[innocent], 0.5))
    bottom = min(float(margin[innocent].min()), middle - 0.5)
    guard = max(guard, middle + 0.1)
    block = max(block, guard + 0.2)
    top = max(float(np.quantile(margin[attacks], 0.95)), block + 0.5)
    return np.array([bottom, middle, guard, block, top]), np.array([0.0, 0.05, 0.3, 0.8, 0.99])


def write_lexicon(folder: Path) -> int:
    """Words of the sources that may ship, without disguised ones."""
    texts = [
        material.untailed(s)
        for s in [*material.questions(folder), *material.harmful(folder)]
        if s.ship and s.source not in ("agt_smoke", "spikee_direct")
    ]
    texts += [s.text for s in material.own_training() if "multilingual" not in s.kind]
    corpus = Path(__file__).parents[2] / "corpus"
    texts += [line for file in sorted(corpus.rglob("*.md")) for line in file.read_text(encoding="utf-8").split("\n")]
    count = word_list.write(texts, lexicon.FILE)
    for cached in (lexicon.words, lexicon._folded, lexicon._shapes):
        cached.cache_clear()
    return count


def train(folder: Path, file: Path = learned.FILE) -> None:
    print(f"lexicon: {write_lexicon(folder)} words")
    table = tabulate(gather(folder))
    print(f"{len(table.samples)} texts of {len(np.unique(table.source))} sources")
    rest, group = aside(table)
    fits = [fit(table, head, rest) for head in range(len(HEADS))]
    outside, kept = margins(table, fits, group), part_of(table, group)
    knots = [calibrate(kept, head, outside[:, head]) for head in range(len(HEADS))]
    write(file, fits, knots)
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")


def sentence_fit(
    rows: logistic.Rows, labels: np.ndarray, source: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, float, float]:
    weights = _weights(source[chosen], labels[chosen])
    words, bias = logistic.fit(rows.take(chosen), labels[chosen], weights, L2_WORDS, 40)
    spread = rows.take(chosen).dot(words).std() or 1.0
    return words / spread, bias / spread, spread


def write(file: Path, fits: Sequence[Fit], knots: Sequence[learned.Knots]) -> None:
    words = np.stack([f.words for f in fits])
    scale = np.abs(words).max(1) / 32_000
    np.savez(
        file,
        words=np.round(words / scale[:, None]).astype(np.int16),
        scale=scale.astype(np.float32),
        bias=np.array([f.bias for f in fits], np.float32),
        knot_margins=np.array([margins for margins, _ in knots], np.float32),
        knot_scores=np.array([scores for _, scores in knots], np.float32),
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.training.train", description=__doc__.split("\n")[0])
    parser.add_argument("--pool", help="folder of the labelled texts; default: $CORDON_POOL")
    options = parser.parse_args()
    return ended(lambda: train(material.pool_folder(options.pool)))


if __name__ == "__main__":
    sys.exit(main())
