"""support: how well a claim is told from one that the evidence does not support, on other people's labels and ours.

`python -m evals.suites.support --train` learns the weights from the pool (BEGIN and WiCE dev, MIT and ODC-BY; folder by
--pool or CORDON_POOL) and from evals/datasets/hard_pairs.jsonl, and writes graph/policy/grounding/weights.py.
`python -m evals.suites.support` measures: with the weights of the module, and by cross-validation over articles.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from evals.__main__ import tell
from evals.command import ended
from evals.material import pool_folder_near
from evals.task import Metric, Output, Rows, Sample, Scores, Solver, Task, run
from evals.training.support import CUT, Pair, cross_validated, hard_pairs, pool_pairs, train
from graph.policy import filters, grounding

BEST = {
    "wice, best span holds a gold sentence": "whole",
    "wice, best of the sentences one by one is a gold one": "alone",
}


def tasks() -> Iterator[Task]:
    """The hard pairs with the weights of the module; the pool as well where there is one, cross-validated."""
    pairs = hard_pairs()
    yield Task("hard pairs", samples(pairs), shipped, at_border, partial(on_hard, how="shipped weights"))
    pool = pool_pairs(pool_folder_near())
    solve = read(cross_validated([*pool, *pairs]))
    yield Task("pool", samples(pool), solve, at_border, on_pool)
    yield Task("hard pairs, cross-validated", samples(pairs, len(pool)), solve, at_border, on_hard)
    named = [pair for pair in pool if pair.gold]
    yield Task(
        "gold sentences",
        samples(named),
        partial(best, named),
        lambda s, out: {"whole": out.raw[0], "alone": out.raw[1]},
        BEST,
    )


def samples(pairs: Sequence[Pair], begin: int = 0) -> list[Sample]:
    return [
        Sample(str(at), p.claim, p.supported, {"source": p.source, "kind": p.kind, "evidence": p.evidence})
        for at, p in enumerate(pairs, begin)
    ]


def shipped(sample: Sample) -> Output:
    return Output(raw=grounding.support(sample.input, sample.metadata["evidence"]).score)


def read(score: np.ndarray) -> Solver:
    """The score of the pair with this number."""
    return lambda sample: Output(raw=float(score[int(sample.id)]))


def at_border(sample: Sample, out: Output) -> Scores:
    return {"support": out.raw, "passed": bool(out.raw >= CUT), "stopped": bool(out.raw < CUT)}


def on_hard(rows: Rows, how: str = "cross-validated") -> Iterator[Metric]:
    true, swapped = rows.wanting(True), rows.wanting(False)
    yield swapped.rate(f"hard pairs, swaps caught, {how}", "stopped")
    yield true.rate(f"hard pairs, true ones lost, {how}", "stopped")
    yield rows.where(kind="paraphrase").rate(f"hard pairs, paraphrases lost, {how}", "stopped")
    for kind in sorted({row["kind"] for row in swapped}):
        yield rows.where(kind=kind).rate(f"hard pairs, caught: {kind}, {how}", "stopped")


def on_pool(rows: Rows) -> Iterator[Metric]:
    for source in ("wice", "begin", "wice_oracle"):
        part = rows.where(source=source)
        yes = part.wanting(True).rate(f"{source}, supported let through", "passed")
        no = part.wanting(False).rate(f"{source}, unsupported stopped", "stopped")
        balanced = ((yes.value or 0.0) + (no.value or 0.0)) / 2
        yield Metric(f"{source}, balanced accuracy, cross-validated", balanced, len(part))
        yield from (yes, no)


def best(pairs: Sequence[Pair], sample: Sample) -> Output:
    """What `cordon check` calls the best: with the article as one evidence, and with each of its sentences as an
    evidence of its own. `raw`: whether it is of the sentences that the annotators named."""
    pair = pairs[int(sample.id)]
    lines = [" ".join(sentence.split()) for sentence in pair.sentences]
    text = "\n".join(lines)
    whole = filters.check(pair.claim, [text])["best"]
    told = range(text.count("\n", 0, whole["start"]), text.count("\n", 0, max(whole["end"] - 1, 0)) + 1)
    alone = filters.check(pair.claim, lines)["best"]["index"]
    return Output(text[whole["start"] : whole["end"]], raw=(bool(pair.gold & set(told)), alone in pair.gold))


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.support", description=__doc__)
    parser.add_argument("--train", action="store_true", help="learn the weights and write the module")
    parser.add_argument("--pool", help="folder of grounding.jsonl.gz")
    arguments = parser.parse_args(argv)
    if arguments.pool:
        os.environ["CORDON_POOL"] = arguments.pool
    if arguments.train:
        return ended(lambda: train(pool_folder_near()))
    return ended(lambda: tell(run("support", tasks(), Path()).metrics))


if __name__ == "__main__":
    sys.exit(main())
