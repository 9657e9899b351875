"""Fine-tunes the guard's encoder: `python -m evals.finetune --pool FOLDER`. Needs PyTorch (a CPU build will do).

Writes graph/policy/threats/weights/encoder.npz: low-rank steps for the last four layers of MiniLM, their biases and
norms, and a line on the embedding for each head. Sources count as in train.py. Repeatable on one kind of processor with
one number of threads. `--leave-out` learns four encoders without groups of sources instead, which `evals guardrails`
judges those sources by, and says how toxicity carries over from TweetEval, of which no weights may ship.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals import figures, guardrails, lowrank, material, train
from evals.command import ended
from evals.material import HEADS, Sample
from graph.policy.threats import encoder, learned

TOXICITY = HEADS.index("toxicity")
ALL = tuple(range(len(HEADS)))
COUNTS = {"injection": 0.5}  # what a head counts in the loss; its sources are the most and the most different
OTHERS = 0.1
SHARE = 2.0  # standard deviations of the encoder's margin next to one of the n-grams
# As train.QUANTILES; chosen by what a border finds of own attacks left out, for each innocent text it flags there.
QUANTILES = {
    "injection": (0.992, 0.995),
    "leakage": (0.99, 0.997),
    "cross_tenant": (0.995, 0.999),
    "evasion": (0.994, 0.999),
    "toxicity": (0.995, 0.999),
    "harm": (0.997, 0.9985),
}


@dataclass(frozen=True)
class Task:
    """The texts of all heads, and the number of each in the encoder."""

    table: train.Table
    encoder: lowrank.Encoder
    texts: np.ndarray  # (n,)

    @classmethod
    def of(cls, samples: list[Sample]) -> "Task":
        table = train.tabulate(samples)
        first = [learned.shown(r.learned[0]) for r in table.readings]
        texts = list(dict.fromkeys(first))
        number = {text: at for at, text in enumerate(texts)}
        return cls(table, lowrank.Encoder(texts), np.array([number[text] for text in first]))

    def margins(self, steps: lowrank.Steps, rows: np.ndarray) -> np.ndarray:
        return self.encoder.judge(steps, self.texts[rows])[self.texts[rows]]


def fit(work: Task, chosen: np.ndarray, heads: Sequence[int] = ALL) -> lowrank.Steps:
    """Steps for the rows `chosen`; within a head, rows count as they do for the n-grams."""
    table = work.table
    weights = np.zeros((len(chosen), len(heads)))
    for at, head in enumerate(heads):
        known = table.known[chosen, head]
        counted = train._weights(table.source[chosen[known]], table.labels[chosen[known], head])
        weights[known, at] = counted / counted.sum() * COUNTS.get(HEADS[head], OTHERS)
    labels = table.labels[chosen][:, list(heads)]
    return work.encoder.fit(work.texts[chosen], labels, weights, train.SEED)


def learn(work: Task) -> tuple[lowrank.Steps, list[learned.Knots]]:
    """Steps, and knots of n-grams and encoder together for each head, by margins of what neither learned from."""
    table = work.table
    rest, group = train.aside(table)
    steps = fit(work, rest)
    plain = train.margins(table, [train.fit(table, head, rest) for head in ALL], group)
    both = plain + SHARE * work.margins(steps, group)
    kept = train.part_of(table, group)
    return steps, [train.calibrate(kept, head, both[:, head], QUANTILES[name]) for head, name in enumerate(HEADS)]


def write(file: Path, steps: lowrank.Steps, knots: Sequence[learned.Knots]) -> None:
    held = {name: value.numpy().astype(np.float16) for name, value in steps.items() if name not in ("line", "bias")}
    np.savez_compressed(
        file,
        **held,
        line=steps["line"].numpy(),
        bias=steps["bias"].numpy(),
        share=np.full(len(HEADS), SHARE, np.float32),
        knot_margins=np.array([margins for margins, _ in knots], np.float32),
        knot_scores=np.array([scores for _, scores in knots], np.float32),
    )
    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB")


# ---- sources left out ---------------------------------------------------------------------------------------------


def leave_out(folder: Path) -> None:
    """Writes an encoder for each group of sources that `guardrails.left_out` judges, with the shipped one's knots."""
    work = Task.of(train.gather(folder))
    guardrails.LEFT_OUT.mkdir(exist_ok=True)
    for group, file in guardrails.APART.items():
        steps = fit(work, np.flatnonzero(~np.isin(work.table.source, group)))
        write(guardrails.LEFT_OUT / file, steps, encoder.heads().knots)


def tweets_back(folder: Path) -> dict[str, float]:
    """Toxicity learned from TweetEval and the own set, judged on Davidson's tweets; writes no weights."""
    work = Task.of([*material.own_training(), *guardrails.tweets(folder)])
    table = work.table
    rest, judged = (np.flatnonzero((table.source == "davidson") == one) for one in (False, True))
    tuned = work.margins(fit(work, rest, (TOXICITY,)), judged)[:, 0]
    margin = train.margins(table, [train.fit(table, TOXICITY, rest)], judged)[:, 0] + SHARE * tuned
    toxic = table.labels[judged, TOXICITY] == 1
    right = (margin > np.median(margin)) == toxic  # half of them are toxic
    return {"accuracy": float(right.mean()), "AUC": figures.auc(margin[toxic], margin[~toxic]), "n": len(judged)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.finetune", description=__doc__.split("\n")[0])
    parser.add_argument("--pool", help="folder of the labelled texts; default: $CORDON_POOL")
    parser.add_argument("--leave-out", action="store_true", help="learn without groups of sources, for judging")
    options = parser.parse_args()

    def do() -> None:
        folder = material.pool_folder(options.pool)
        if options.leave_out:
            leave_out(folder)
            print("tweeteval to davidson", json.dumps(tweets_back(folder)))
        else:
            write(encoder.FILE, *learn(Task.of(train.gather(folder))))

    return ended(do)


if __name__ == "__main__":
    sys.exit(main())
