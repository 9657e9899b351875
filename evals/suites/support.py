"""support: how well a claim is told from one that the evidence does not support, on other people's labels and ours.

`python -m evals.suites.support --train` learns the weights from the pool (BEGIN and WiCE dev, MIT and ODC-BY; folder by
--pool or CORDON_POOL) and from evals/datasets/hard_pairs.jsonl, and writes graph/policy/grounding/weights.py.
`--train-encoder` (with PyTorch and a GPU, six minutes) learns the encoder's steps from other people's claims and from
changed sentences. `python -m evals.suites.support` measures: the hard pairs and the pool by words, cross-validated over
articles; and as shipped five sources of other people, claims that were written about passages of three collections,
and sentences of these with one fact changed, of all of which nothing was learned. `--model` asks the chat model of the
environment, too.
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
from evals.figures import auc
from evals.material import own_set, pool_folder_near
from evals.task import Metric, Output, Rows, Sample, Scores, Solver, Task, run
from evals.training import changed_facts, entailment
from evals.training.support import CUT, Pair, cross_validated, hard_pairs, pool_pairs, train
from evals.training.support_texts import JUDGES, Row, claims, gather
from graph.answering.verified import Opinion
from graph.knowledge.embeddings import shared
from graph.models.chat import Generator
from graph.models.support_encoder import support_encoder
from graph.models.support_opinion import SupportOpinion
from graph.policy import filters, grounding
from graph.policy.grounding import SURE_FROM
from graph.settings import load

JUDGED = 700  # claims of a source left out

BEST = {
    "wice, best span holds a gold sentence": "whole",
    "wice, best of the sentences one by one is a gold one": "alone",
}


def tasks() -> Iterator[Task]:
    """The hard pairs with the weights of the module; the pool as well where there is one, cross-validated."""
    pairs = hard_pairs()
    yield Task("hard pairs", samples(pairs), shipped, at_border, partial(on_hard, how="shipped weights"))
    yield from left_out()
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


def left_out(each: int = JUDGED, opinion: Opinion | None = None) -> Iterator[Task]:
    """Claims of which nothing was learned. `each`: of a source at most, spread over it."""
    sets = {name: gather(name) for name in JUDGES}
    sets["claims"] = claims(changed_facts.JUDGED)
    sets["changed facts"] = changed_facts.rows(changed_facts.JUDGED, each, seed=7)
    sets["named"] = [
        Row(r["claim"], r["evidence"], "supported" if r["supported"] else "unsupported", "named", r["id"])
        for r in own_set("support_named")
    ]
    for name, rows in sets.items():
        drawn = [rows[at] for at in sorted(np.random.default_rng(3).permutation(len(rows))[:each])]
        questions = [
            Sample(f"{name} {at}", r.claim, r.label == "supported", {"kind": r.kind, "evidence": r.evidence})
            for at, r in enumerate(drawn)
        ]
        yield Task(name, questions, partial(believed, opinion), at_border, partial(on_left_out, name))


def believed(opinion: Opinion | None, sample: Sample) -> Output:
    """The embedded check's score; with an opinion, what both say together, as where an answer leaves."""
    found = grounding.support(sample.input, sample.metadata["evidence"], support_encoder(load()))
    if opinion is None:
        doubted = grounding.doubted(found, sample.input, sample.metadata["evidence"])
        return Output(raw=found.score, metadata={"doubted": doubted})
    odds = opinion(sample.input, sample.metadata["evidence"], found.spans)
    return Output(raw=found.score if odds is None else grounding.joined(found.score, odds), metadata={"odds": odds})


def on_left_out(name: str, rows: Rows) -> Iterator[Metric]:
    true, false = rows.wanting(True), rows.wanting(False)
    right, wrong = np.array(true.values("support")), np.array(false.values("support"))
    yield Metric(f"{name}: AUC", auc(right, wrong), len(rows))
    yield true.rate(f"{name}: supported, let through", "passed")
    yield false.rate(f"{name}: not supported, stopped", "stopped")
    yield true.rate(f"{name}: supported, stopped but shown with a mark where marks are on", "marked")
    yield false.rate(f"{name}: not supported, shown with a mark where marks are on", "marked")
    sure, slips = (int(((scores >= SURE_FROM) & (scores < 1)).sum()) for scores in (right, wrong))
    if sure + slips:
        yield Metric.rate(f"{name}: supported, of what scores {SURE_FROM:g} and more", sure, sure + slips)
    border = float(np.quantile(right, 0.05))
    yield Metric.rate(f"{name}: stopped where 5% of the supported are dropped", int((wrong < border).sum()), len(wrong))
    for kind, part in false.by("kind") if name in ("claims", "changed facts") else ():
        yield part.rate(f"{name}: stopped: {kind}", "stopped")


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
    passed = bool(out.raw >= CUT)
    return {"support": out.raw, "passed": passed, "stopped": not passed, "marked": out.metadata.get("doubted", False)}


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
    parser.add_argument(
        "--train-encoder", action="store_true", help="learn the encoder's steps; needs PyTorch and a GPU"
    )
    parser.add_argument("--left-out", action="store_true", help="only the sets of which nothing was learned")
    parser.add_argument("--each", type=int, default=JUDGED, help="claims of a source left out")
    parser.add_argument("--model", action="store_true", help="with the opinion of the environment's chat model")
    parser.add_argument("--pool", help="folder of grounding.jsonl.gz")
    arguments = parser.parse_args(argv)
    if arguments.pool:
        os.environ["CORDON_POOL"] = arguments.pool
    if arguments.train:
        return ended(lambda: train(pool_folder_near()))
    if arguments.train_encoder:
        return ended(entailment.train)
    if arguments.left_out or arguments.model:
        return ended(lambda: tell(run("support", with_opinion(arguments.model, arguments.each), Path()).metrics))
    return ended(lambda: tell(run("support", tasks(), Path()).metrics))


def with_opinion(wanted: bool, each: int) -> Iterator[Task]:
    if not wanted:
        yield from left_out(each)
        return
    settings = load()
    generator = Generator(settings, shared())
    try:
        yield from left_out(each, lambda *asked: SupportOpinion(generator, "support")(*asked))
    finally:
        generator.close()


if __name__ == "__main__":
    sys.exit(main())
