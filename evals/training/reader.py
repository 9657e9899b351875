"""The reader's weights: low-rank steps for all layers of MiniLM, their biases and norms, and the line that reads the
result, learned from questions over sources of which whole ones are left out. Needs PyTorch, and the evaluation data."""

import time
from collections.abc import Iterator, Sequence

import numpy as np

from evals.training.lowrank import Model, batches, write
from evals.training.reader_texts import Group, groups
from graph.models import reader

# Their texts may be learned from; those under CC BY-SA are named in NOTICE.
LEARNED = ("squadshifts_wiki", "selqa", "policyqa", "covidqa", "squad2")
RANK, RATE, TOGETHER, DROP, SEED = 64, 1e-3, 20, 0.05, 1
EACH = 0.3  # what each sentence alone counts beside the choice among all
STEPS, FURTHER = 1_400, 550  # batches from the beginning, and from the shipped weights on
EACH_FURTHER, SLOWER = 2_000, 0.5  # questions of a source then, and times RATE


def train(further: bool, steps: int | None) -> None:
    """Writes graph/models/weights/reader.npz; `further` goes on from the shipped weights."""
    model = Model(-1.0, RANK, reader.PIECES, SEED)
    if further:
        model.load(reader.FILE)
    made = groups(LEARNED, SEED + further, EACH_FURTHER if further else None)
    fit(model, made, steps or (FURTHER if further else STEPS), RATE * (SLOWER if further else 1))
    write(reader.FILE, model.arrays())


def fit(model: Model, made: Sequence[Group], steps: int, rate: float = RATE) -> None:
    """Learns in `steps` batches of TOGETHER questions: which passage answers, with "none" as one more to choose."""
    torch = model.torch
    encoded = [
        (model.pieces([reader.pair(q, path, text) for path, text, _ in shown]), [y for *_, y in shown])
        for q, shown in made
    ]
    optimiser, schedule = model.learner(rate, steps, 100)
    begun, lost = time.monotonic(), 0.0
    for done, batch in zip(range(1, steps + 1), _drawn(encoded), strict=False):
        margins = model.margins([pair for at in batch for pair in encoded[at][0]], DROP)
        loss, begin = torch.zeros(()), 0
        for at in batch:
            right = torch.tensor(encoded[at][1])
            own = margins[begin : begin + len(right)]
            begin += len(right)
            all_ = torch.cat([torch.zeros(1), own])
            good = torch.cat([~right.any(keepdim=True), right])
            loss = loss + torch.logsumexp(all_, 0) - torch.logsumexp(all_[good], 0)
            loss = loss + EACH * torch.nn.functional.binary_cross_entropy_with_logits(own, right.float())
        lost += model.step(loss / len(batch), optimiser, schedule) / 50
        if done % 50 == 0:
            print(f"  {done} of {steps} batches, loss {lost:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            lost = 0.0


def _drawn(encoded: Sequence[tuple[list[list[int]], list[bool]]]) -> Iterator[list[int]]:
    rng = np.random.default_rng(SEED)
    longest = [max(map(len, pairs)) for pairs, _ in encoded]
    while True:
        yield from batches(longest, rng.permutation(len(encoded)).tolist(), TOGETHER, rng)
