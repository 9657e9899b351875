"""reader: how the shipped reader finds the sentence that answers a question, on sources that it learned nothing from.

`python -m evals.suites.reader` teaches it (graph/extractive/weights/reader.npz) from questions over encyclopedia
articles, papers, privacy policies, a cloud's documentation and pages on health (evals/training/reader_texts.py) and
questions of staff over five collections (evals/training/reader_questions.py), and judges it; whole sources
are left out to judge. Teaching needs PyTorch and a GPU, and both the evaluation data. `--judge` only judges.
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from evals.__main__ import tell
from evals.command import ended
from evals.figures import auc
from evals.task import Metric, Output, Rows, Sample, Scores, Task, run
from evals.training.reader import SEED, train
from evals.training.reader_texts import Source
from graph.extractive import answerer, reader

LEFT_OUT = ("wikiqa_measure", "squadshifts_reddit", "squadshifts_amazon", "conditionalqa")
JUDGED = 500  # questions of a source left out


def tasks() -> Iterator[Task]:
    """How often the sentence read as best is a right one, one of three, and by shared words alone; how often a right
    one is among those that the answerer shows, and in how many words; and how well the best one's log-odds tell
    questions that the passage answers from those that it does not (people's, and mined)."""
    for name in LEFT_OUT:
        yield judged(name)


def judged(name: str, count: int = JUDGED) -> Task:
    source = Source.from_name(name)
    rows = list(source.rows)
    random.Random(SEED).shuffle(rows)
    chosen = dict(enumerate(rows[:count]))
    samples = [
        Sample(str(at), row["question"], row["gold"], {"answerable": row["answerable"], "kind": row.get("kind", "")})
        for at, row in chosen.items()
    ]

    def solve(sample: Sample) -> Output:
        row = chosen[int(sample.id)]
        texts, title = row["sentences"][:40], row["passage"]["title"]
        read = reader.shared().scores(row["question"], [(title, text) for text in texts])
        if not row["answerable"]:
            return Output(raw={"best": float(read.max())})
        order = np.argsort(-read, kind="stable").tolist()
        words = int(np.argmax([source.texts.shared(row["question"], text) for text in texts]))
        gold = [_bare(row["sentences"][at]) for at in row["gold"]]
        found = {"best": float(read.max()), "order": order, "words": words, "gold": gold}
        return Output(_answer(row), raw=found)

    return Task(name, samples, solve, scored, partial(metrics, name))


def scored(sample: Sample, out: Output) -> Scores:
    found: dict[str, Any] = {"best": out.raw["best"]}
    if not sample.metadata["answerable"]:
        return found
    order, gold = out.raw["order"], {*sample.target}
    return found | {
        "first": order[0] in gold,
        "three": bool({*order[:3]} & gold),
        "by words": out.raw["words"] in gold,
        "shown": any(one in out.text or (out.text and out.text in one) for one in out.raw["gold"]),
        "length": len(out.text.split()) or None,
    }


def metrics(name: str, rows: Rows) -> Iterator[Metric]:
    yield rows.rate(f"{name}: a right sentence first", "first")
    yield rows.rate(f"{name}: of three", "three")
    yield rows.rate(f"{name}: first by words", "by words")
    yield rows.rate(f"{name}: shown", "shown")
    yield rows.figure(f"{name}: words shown, median", "length", np.median)
    there = rows.where(answerable=True).values("best")
    for kind in ("original", "mined"):
        not_there = rows.where(answerable=False, kind=kind).values("best")
        if len(not_there) >= 20:
            value = auc(np.array(there), np.array(not_there))
            yield Metric(f"{name}: AUC, answerable or not, {kind}", value, len(there) + len(not_there))


def _answer(row: dict[str, Any]) -> str:
    """What the answerer shows where the passage is all there is."""
    passage = {"n": 1, "text": row["passage"]["text"], "title": row["passage"]["title"], "section": "", "score": 0.6}
    task = {"question": row["question"], "about": "", "style": "concise", "listing": "", "evidence": [passage]}
    passage |= {"start": 0, "filename": "", "where": "public", "doc_id": "", "edits": []}
    return " ".join(_bare(said["text"]) for said in answerer.answer(task, reader.shared())["sentences"])


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.reader", description=__doc__.split("\n")[0])
    parser.add_argument("--judge", action="store_true", help="only judge the shipped reader on the sources left out")
    parser.add_argument("--homes", type=Path, help="keep what is ingested here, for another run")
    options = parser.parse_args()

    def do() -> None:
        if not options.judge:
            train(options.homes)
        for name in LEFT_OUT:
            tell(run("reader", [judged(name)], Path()).metrics)

    return ended(do)


if __name__ == "__main__":
    sys.exit(main())
