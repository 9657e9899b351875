"""The reader's weights: low-rank steps for all layers of MiniLM, their biases and norms, and the line that reads the
result, learned from questions over public sources of which whole ones are left out, and from questions of staff over
five collections of documents. Needs PyTorch, the evaluation data, and a GPU (six minutes on one).

A model whose matrices move freely learns first, from the weights that ship; the one of low-rank steps begins at it, and
learns from what it says as well as from the labels. Twice as long read the questions learned from better, and those
over collections left out worse.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evals.training.lowrank import Model, Steps, batches, device, write
from evals.training.reader_questions import asked
from evals.training.reader_texts import groups
from graph.extractive import reader

# Their texts may be learned from; those under CC BY-SA are named in NOTICE.
LEARNED = ("squadshifts_wiki", "selqa", "policyqa", "covidqa", "squad2")
RANK, TOGETHER, DROP, SEED = 64, 64, 0.1, 1
EACH = 0.3  # what each sentence alone counts beside the choice among all
OWN = 2  # times a question of staff comes beside each of the others
FREE, THIN = (1e-4, 700), (2e-4, 400)  # rate and batches of the model that teaches, and of the one that ships
SOFT = 0.5  # what the teacher counts beside the labels
MOST = 16  # units of a question that are read at once, half of them right at most
SURE = -1.0  # log-odds of the weights before, from which a unit that nobody judged is left out


@dataclass
class Question:
    """Word pieces of each unit with the question; whether it answers, (units,); how often the question comes."""

    pieces: list[list[int]]
    right: np.ndarray
    often: int = 1


def train(homes: Path | None) -> None:
    """Writes graph/extractive/weights/reader.npz."""
    free = Model(-1.0, None, reader.PIECES, SEED, device())
    free.begin_at(_begun(), None)
    given = _given(free, homes)
    fit(free, given, *FREE)
    thin = Model(-1.0, RANK, reader.PIECES, SEED, device())
    thin.begin_at(free.moved(), RANK)
    fit(thin, given, *THIN, taught=_judged(free, [one.pieces for one in given]))
    write(reader.FILE, thin.arrays())


def _begun() -> Steps:
    """The weights that ship, with their line."""
    thin = Model(-1.0, RANK, reader.PIECES, SEED, device())
    thin.load(reader.FILE)
    return thin.moved()


def _given(model: Model, homes: Path | None) -> list[Question]:
    others = [
        Question(
            model.pieces([reader.pair(q, path, text) for path, text, _ in shown]), np.array([y for *_, y in shown])
        )
        for seed in (SEED, SEED + 1)
        for q, shown in groups(LEARNED, seed)
    ]
    staff = list(asked(homes))
    every = [model.pieces([reader.pair(q, one.path, one.text) for one in shown]) for q, shown in staff]
    own = []
    for (_, shown), pieces, doubted in zip(staff, every, _judged(model, every), strict=True):
        used = [at for at, one in enumerate(shown) if one.answers is not None or doubted[at] < SURE]
        if used:
            right = np.array([bool(shown[at].answers) for at in used])
            own.append(Question([pieces[at] for at in used], right, 2 * OWN))
    return [*others, *own]


def _judged(model: Model, given: Sequence[list[list[int]]]) -> list[np.ndarray]:
    """The model's log-odds of the units of each question."""
    judged = model.judge_all([ids for pieces in given for ids in pieces], MOST * TOGETHER)
    return np.split(judged, np.cumsum([len(pieces) for pieces in given])[:-1])


def fit(
    model: Model, given: Sequence[Question], rate: float, steps: int, taught: Sequence[np.ndarray] | None = None
) -> None:
    """Learns which units answer, with "none" as one more to choose, at log-odds 0. `taught` are a teacher's log-odds of
    the units of each question."""
    torch, rng = model.torch, np.random.default_rng(SEED)
    functional = torch.nn.functional
    optimiser, schedule = model.learner(rate, steps, max(1, steps // 20))
    begun, lost = time.monotonic(), 0.0
    for done, batch in zip(range(1, steps + 1), _drawn(given, rng), strict=False):
        chosen = [_units(given[at].right, rng) for at in batch]
        pieces = [given[at].pieces[unit] for at, units in zip(batch, chosen, strict=True) for unit in units]
        margins, loss, begin = model.margins(pieces, DROP).float(), 0.0, 0
        for at, units in zip(batch, chosen, strict=True):
            own = margins[begin : begin + len(units)]
            begin += len(units)
            right = torch.from_numpy(given[at].right[units]).to(own.device)
            every = torch.cat([own, own.new_zeros(1)])
            good = torch.cat([right, ~right.any(keepdim=True)])
            hard = torch.logsumexp(every, 0) - torch.logsumexp(every[good], 0)
            hard = hard + EACH * functional.binary_cross_entropy_with_logits(own, right.float(), reduction="sum")
            if taught is not None:
                told = torch.from_numpy(taught[at][units]).to(own.device)
                soft = EACH * functional.binary_cross_entropy_with_logits(own, told.sigmoid(), reduction="sum")
                shares = torch.softmax(torch.cat([told, told.new_zeros(1)]), 0)
                hard = (1 - SOFT) * hard + SOFT * (soft - (shares * torch.log_softmax(every, 0)).sum())
            loss = loss + hard
        lost += model.step(loss / len(batch), optimiser, schedule) / 50
        if done % 50 == 0:
            print(f"  {done} of {steps} batches, loss {lost:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            lost = 0.0


def _units(right: np.ndarray, rng: np.random.Generator) -> list[int]:
    """The units that are read this time."""
    good, others = np.flatnonzero(right), np.flatnonzero(~right)
    if len(right) > MOST:
        good = rng.permutation(good)[: MOST // 2]
        others = rng.permutation(others)[: MOST - len(good)]
    return [*good.tolist(), *others.tolist()]


def _drawn(given: Sequence[Question], rng: np.random.Generator) -> Iterator[list[int]]:
    longest = [max(map(len, one.pieces)) for one in given]
    rows = np.repeat(np.arange(len(given)), [one.often for one in given])
    while True:
        yield from batches(longest, rng.permutation(rows).tolist(), TOGETHER, rng)
