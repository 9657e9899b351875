"""Fine-tunes the guard's encoder: `python -m evals.training.finetune --pool FOLDER`. Needs PyTorch, for the CPU.

Writes graph/policy/threats/weights/encoder.npz: low-rank steps for all layers of MiniLM, their biases and norms, and a
line on the embedding for each head. Sources count as in train.py; nothing is learned of material.JUDGES. Repeatable on
one kind of processor with one number of threads.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evals import material
from evals.command import ended
from evals.material import HEADS, Labelled
from evals.training import lowrank, train
from graph.policy.threats import encoder, learned

COUNTS = {"injection": 0.5}  # what a head counts in the loss; its sources are the most and the most different
OTHERS = 0.1
RANK, RATE, BATCH, EPOCHS, DROP = 32, 1e-3, 32, 2.5, 0.1
JUDGED = 4_000  # texts by which margins are put into standard deviations
SHARE = 2.0  # standard deviations of the encoder's margin next to one of the n-grams


class Task:
    """The texts of all heads, and what the encoder reads of each."""

    def __init__(self, samples: list[Labelled]) -> None:
        self.table = train.tabulate(samples)
        self.texts = [learned.shown(r.learned[0]) for r in self.table.readings]


def fit(work: Task, chosen: np.ndarray) -> lowrank.Model:
    """Learns from the rows `chosen`; within a head, rows count as they do for the n-grams.

    Rows are drawn by what they count for all heads together. Margins are in standard deviations over what was drawn.
    """
    table = work.table
    weights = np.zeros((len(chosen), len(HEADS)))
    for at, head in enumerate(HEADS):
        known = table.known[chosen, at]
        counted = train._weights(table.source[chosen[known]], table.labels[chosen[known], at])
        weights[known, at] = counted / counted.sum() * COUNTS.get(head, OTHERS)
    model = lowrank.Model([-1.0] * len(HEADS), RANK, encoder.PIECES, train.SEED)
    torch, rng = model.torch, np.random.default_rng(train.SEED)
    drawn_by = weights.sum(1)
    each = torch.from_numpy(weights / np.maximum(drawn_by, 1e-12)[:, None]).float()  # of a drawn row's loss; sums to 1
    labels = torch.from_numpy(table.labels[chosen]).float()
    pieces = model.pieces([work.texts[row] for row in chosen])
    lengths = [len(ids) for ids in pieces]
    steps = int(EPOCHS * len(chosen)) // BATCH
    drawn = rng.choice(len(chosen), steps * BATCH, p=drawn_by / drawn_by.sum()).tolist()
    optimiser, schedule = model.learner(RATE, steps, steps // 10)
    begun, lost = time.monotonic(), 0.0
    for done, batch in enumerate(lowrank.batches(lengths, drawn, BATCH, rng), 1):
        margins = model.margins([pieces[row] for row in batch], DROP)
        wrong = torch.nn.functional.binary_cross_entropy_with_logits(margins.float(), labels[batch], reduction="none")
        lost += model.step((wrong * each[batch]).sum(1).mean(), optimiser, schedule) / 100
        if done % 100 == 0:
            print(f"  {done} of {steps} batches, loss {lost:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            lost = 0.0
    spread = torch.from_numpy(model.judge([pieces[row] for row in drawn[:JUDGED]]).std(0))
    with torch.no_grad():
        model.steps["line"] /= spread
        model.steps["bias"] /= spread
    return model


def calibrate(work: Task, file: Path) -> None:
    """Writes the knots of n-grams and encoder together for each head, by margins, as shipped, of what neither learned
    from."""
    table, shipped = work.table, learned.model()
    _, group = train.aside(table)
    plain = [train.Fit(words, bias) for words, bias in zip(shipped.words, shipped.bias, strict=True)]
    both = train.margins(table, plain, group) + SHARE * encoder.margins([work.texts[row] for row in group], file)
    kept = train.part_of(table, group)
    knots = [train.calibrate(kept, head, both[:, head]) for head in range(len(HEADS))]
    with np.load(file, allow_pickle=False) as stored:
        held = {name: stored[name] for name in stored.files}
    write(file, held, knots)


def write(file: Path, held: dict[str, np.ndarray], knots: Sequence[learned.Knots]) -> None:
    rest = {
        "share": np.full(len(HEADS), SHARE, np.float32),
        "knot_margins": np.array([margins for margins, _ in knots], np.float32),
        "knot_scores": np.array([scores for _, scores in knots], np.float32),
    }
    lowrank.write(file, {**held, **rest})


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.training.finetune", description=__doc__.split("\n")[0])
    parser.add_argument("--pool", help="folder of the labelled texts; default: $CORDON_POOL")
    parser.add_argument("--calibrate", action="store_true", help="only set the borders of the shipped weights anew")
    options = parser.parse_args()

    def do() -> None:
        work = Task(train.gather(material.pool_folder(options.pool)))
        if not options.calibrate:
            write(encoder.FILE, fit(work, train.aside(work.table)[0]).arrays(), [])
        calibrate(work, encoder.FILE)

    return ended(do)


if __name__ == "__main__":
    sys.exit(main())
