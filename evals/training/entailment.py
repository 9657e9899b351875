"""The weights of the support check's encoder: low-rank steps for all layers of MiniLM, from other people's claims and
from changed sentences of real documents. Needs PyTorch, and the evaluation data."""

import time
from collections.abc import Sequence

import numpy as np

from evals.material import pool_folder_near
from evals.training import changed_facts
from evals.training.lowrank import Model, batches, write
from evals.training.support import pool_pairs
from evals.training.support_texts import ANSWERS, ENTAILMENT, LABELS, Row, claims, gather
from graph.models import reader
from graph.policy.grounding import entailment

RANK, RATE, BATCH, DROP, SEED = 56, 1e-3, 32, 0.05, 1
CHANGED = 3_500  # rows of a collection
TWICE = 2  # times that sentences of answers, and changed ones, come in the second pass
NOT_LEARNED = ("neg_nli", "unsupported")  # a third of that set, built on RTE, whose licence nobody states
ENOUGH = 2_000  # batches; the time for the others went to the pairs
PAIRS = 4  # times that pairs of claims come at the end
BESIDE = (5_000, 16_000)  # rows of what was learned first and second that then come with them


def learned() -> tuple[list[Row], list[Row]]:
    """What is learned first, and what then comes with it."""
    rng = np.random.default_rng(SEED)

    def drawn(sources: dict[str, int]) -> list[Row]:
        out: list[Row] = []
        for source, most in sources.items():
            rows = [row for row in gather(source) if (source, row.label) != NOT_LEARNED]
            out += [rows[at] for at in sorted(rng.permutation(len(rows))[:most])]
        return out

    pool = [
        Row(p.claim, p.evidence, "supported" if p.supported else "unsupported", p.source, p.article)
        for p in pool_pairs(pool_folder_near())
        if p.source != "wice"
    ]
    few = [pool[at] for at in sorted(rng.permutation(len(pool))[:2_500])]
    return drawn(ENTAILMENT), [*drawn(ANSWERS), *few, *changed_facts.rows(changed_facts.LEARNED, CHANGED)]


def train() -> None:
    """Writes graph/policy/grounding/weights/entailment.npz."""
    first, second = learned()
    model = Model([0.0, 0.0, 0.0], RANK, entailment.PIECES, SEED)
    _begin_at_reader(model)
    rows = [*first, *second]
    rng = np.random.default_rng(SEED)
    order = rng.permutation(len(first)).tolist()
    both = [*range(len(first)), *(list(range(len(first), len(rows))) * TWICE)]
    order += [both[at] for at in rng.permutation(len(both))]
    fit(model, rows, order, RATE, ENOUGH)
    further(model, first, second)
    entailment.FILE.parent.mkdir(exist_ok=True)
    write(entailment.FILE, model.arrays())


def further(model: Model, first: Sequence[Row], second: Sequence[Row]) -> None:
    """Goes on with what is nearest to its task: pairs of claims that differ in one fact, among some of the rest."""
    pairs = claims(changed_facts.LEARNED, "p")
    rng = np.random.default_rng(SEED + 1)
    rows = [*pairs, *first, *second]
    order = [*range(len(pairs))] * PAIRS
    order += [len(pairs) + at for at in rng.permutation(len(first))[: BESIDE[0]]]
    order += [len(pairs) + len(first) + at for at in rng.permutation(len(second))[: BESIDE[1]]]
    fit(model, rows, [order[at] for at in rng.permutation(len(order))], RATE / 2)


def fit(model: Model, given: Sequence[Row], order: Sequence[int], rate: float, most: int = 10**9) -> None:
    """Learns from the rows in this order, `most` batches at most of a rate that falls to 0 over all of them."""
    torch, labels = model.torch, [row.label for row in given]
    pieces = model.pieces([entailment.pair(row.claim, row.evidence, row.heading) for row in given])
    print(f"{len(order)} rows, {np.mean([len(p) for p in pieces]):.0f} pieces each", flush=True)
    rng = np.random.default_rng(SEED)
    right = torch.tensor([[label == one or (label == "unsupported" and one != "supported") for one in LABELS[:3]]
                          for label in labels])  # fmt: skip
    steps = len(order) // BATCH
    optimiser, schedule = model.learner(rate, steps, steps // 20)
    begun, lost = time.monotonic(), 0.0
    for done, batch in zip(
        range(1, min(steps, most) + 1), batches([len(p) for p in pieces], order, BATCH, rng), strict=False
    ):
        scores = model.margins([pieces[row] for row in batch], DROP)
        good = scores.masked_fill(~right[batch], -1e9)
        loss = (torch.logsumexp(scores, 1) - torch.logsumexp(good, 1)).mean()
        lost += model.step(loss, optimiser, schedule) / 100
        if done % 100 == 0:
            print(f"  {done} of {steps} batches, loss {lost:.3f}, {time.monotonic() - begun:.0f} s", flush=True)
            lost = 0.0


def _begin_at_reader(model: Model) -> None:
    """Begins with what the reader of answers learned of reading two texts together, at a smaller rank."""
    torch = model.torch
    with np.load(reader.FILE, allow_pickle=False) as stored:
        values = {name: torch.from_numpy(stored[name].astype(np.float32)) for name in stored.files}
    for name in list(model.steps):
        if name.endswith(":a"):
            u, s, v = torch.linalg.svd(values[f"{name[:-2]}:b"] @ values[name], full_matrices=False)
            root = s[:RANK].sqrt()
            model.steps[name] = (root[:, None] * v[:RANK]).contiguous()
            model.steps[f"{name[:-2]}:b"] = (u[:, :RANK] * root).contiguous()
        elif name.startswith("encoder.") and not name.endswith(":b"):
            model.steps[name] = values[name]
    model.steps = {name: value.detach().clone().requires_grad_() for name, value in model.steps.items()}
