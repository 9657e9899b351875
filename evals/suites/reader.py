"""python -m evals.suites.reader: teach the reader which sentence answers a question, and judge it on sources left out.

Writes graph/models/weights/reader.npz: low-rank steps for all layers of MiniLM, their biases and norms, and the line
that reads the result (graph/models/reader.py), learned from questions over encyclopedia articles, papers, privacy
policies, a cloud's documentation and pages on health (evals/training/reader_texts.py).
Whole sources are left out to judge. Needs PyTorch, and the evaluation data.
"""

import argparse
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evals.command import ended
from evals.figures import auc
from evals.stats import Rate
from evals.training.lowrank import Model, batches, write
from evals.training.reader_texts import Group, Source, groups
from graph.models import extractive, reader

# Their texts may be learned from; those under CC BY-SA are named in NOTICE.
LEARNED = ("squadshifts_wiki", "selqa", "policyqa", "covidqa", "squad2")
LEFT_OUT = ("wikiqa_measure", "squadshifts_reddit", "squadshifts_amazon", "conditionalqa")
RANK, RATE, TOGETHER, DROP, SEED = 64, 1e-3, 20, 0.05, 1
EACH = 0.3  # what each sentence alone counts beside the choice among all
STEPS, FURTHER = 1_400, 550  # batches from the beginning, and from the shipped weights on
EACH_FURTHER, SLOWER = 2_000, 0.5  # questions of a source then, and times RATE
JUDGED = 500  # questions of a source left out


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


def run(out: Path) -> dict[str, Any]:
    """The suite: how the shipped reader does on sources that it learned nothing from."""
    found = {name: judge(name) for name in LEFT_OUT}
    return {"figures": {f"{name}: {what}": value for name, told in found.items() for what, value in told.items()}}


def judge(name: str, count: int = JUDGED) -> dict[str, Any]:
    """How often the sentence read as best is a right one, one of three, and by shared words alone; how often a right
    one is among those that the answerer shows, and in how many words; and how well the best one's log-odds tell
    questions that the passage answers from those that it does not (people's, and mined)."""
    source = Source.of(name)
    rows = list(source.rows)
    random.Random(SEED).shuffle(rows)
    first, three, words, shown, lengths = [], [], [], [], []
    best: dict[str, list[float]] = {"there": [], "original": [], "mined": []}
    for row in rows[:count]:
        texts, title = row["sentences"][:40], row["passage"]["title"]
        read = reader.shared().scores(row["question"], [(title, text) for text in texts])
        best["there" if row["answerable"] else row["kind"]].append(float(read.max()))
        if not row["answerable"]:
            continue
        order = np.argsort(-read, kind="stable")
        first.append(int(order[0]) in row["gold"])
        three.append(bool(set(order[:3].tolist()) & set(row["gold"])))
        words.append(int(np.argmax([source.texts.shared(row["question"], text) for text in texts])) in row["gold"])
        told = _answer(row)
        gold = [_bare(row["sentences"][at]) for at in row["gold"]]
        shown.append(any(one in told or (told and told in one) for one in gold))
        if told:
            lengths.append(len(told.split()))
    rates = {"a right sentence first": first, "of three": three, "first by words": words, "shown": shown}
    figures: dict[str, Any] = {what: Rate(sum(held), len(held)).as_json() for what, held in rates.items()}
    figures["words shown, median"] = {"value": float(np.median(lengths)), "n": len(lengths)}
    for kind in ("original", "mined"):
        if len(best[kind]) >= 20:
            value = auc(np.array(best["there"]), np.array(best[kind]))
            figures[f"AUC, answerable or not, {kind}"] = {"value": value, "n": len(best["there"]) + len(best[kind])}
    return figures


def _answer(row: dict[str, Any]) -> str:
    """What the answerer shows where the passage is all there is."""
    passage = {"n": 1, "text": row["passage"]["text"], "title": row["passage"]["title"], "section": "", "score": 0.6}
    task = {"question": row["question"], "about": "", "style": "concise", "listing": "", "evidence": [passage]}
    passage["start"] = 0
    return " ".join(_bare(said["text"]) for said in extractive.answer(task, reader.shared())["sentences"])


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def main() -> int:
    from evals.__main__ import shown

    parser = argparse.ArgumentParser(prog="python -m evals.suites.reader", description=__doc__.split("\n")[0])
    parser.add_argument("--judge", action="store_true", help="only judge the shipped reader on the sources left out")
    parser.add_argument("--further", action="store_true", help="go on from the shipped weights")
    parser.add_argument("--steps", type=int, help=f"batches to learn from (default {STEPS}; {FURTHER} with --further)")
    options = parser.parse_args()

    def do() -> None:
        if not options.judge:
            further = options.further
            model = Model(-1.0, RANK, reader.PIECES, SEED)
            if further:
                model.load(reader.FILE)
            made = groups(LEARNED, SEED + further, EACH_FURTHER if further else None)
            fit(model, made, options.steps or (FURTHER if further else STEPS), RATE * (SLOWER if further else 1))
            write(reader.FILE, model.arrays())
        for name, value in run(Path())["figures"].items():
            print(f"  {name:<58} {shown(value)}", flush=True)

    return ended(do)


if __name__ == "__main__":
    sys.exit(main())
