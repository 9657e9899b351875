"""Trains the model of planted sentences with numpy alone: `python -m evals.training.train_planted --data FOLDER`.

FOLDER holds `pool`, `pool2` and `collections`. What evals/suites/planted.py leaves out is never read here.
Deterministic. `--left-out` writes nothing: it fits without one collection and one kind of orders at a time and tells
what the borders in graph/policy/threats/planted.py do there.
"""

import argparse
import random
import sys
from pathlib import Path

import numpy as np

from evals import material
from evals.__main__ import tell
from evals.command import ended
from evals.material import PLANTED, Labelled
from evals.suites.handbooks import OPEN
from evals.suites.planted import ORDERS_LEFT_OUT, documents, passages
from evals.task import Metric
from evals.training import logistic
from evals.training.train import SEED, sentence_fit
from graph.policy.text.canonical import canonicalise
from graph.policy.text.sentences import split
from graph.policy.threats import mention, planted, surroundings

_EACH, _CARRIERS = 5_000, 3_000  # sentences of one collection, of one source of ordinary documents
_ADDRESSED_TO_A_SHELL = "nl2bash"  # ordinary sentences of a manual once they stand in a document
# Fitted without these at once; the other collections' documents carry the orders.
FOLDS = (
    ("sourcegraph", "bipia"),
    ("guides18f", "spikee"),
    ("openchain", "self_instruct"),
    ("openjs", "ifeval"),
    ("hcph", *material.AUTHOR),
    ("grounding", "gpteacher_code", "gpteacher_roleplay"),
)


def gather(data: Path) -> list[Labelled]:
    return [
        *material.own_planted(),
        *material.planted(data / "pool"),
        *[s for name in OPEN for s in _handbook(data, name)],
        *_second_pool(data / "pool2"),
    ]


def _handbook(data: Path, name: str) -> list[Labelled]:
    """Sentences of a collection, each once whatever its numbers."""
    distinct: dict[str, str] = {}
    for _, text in documents(data, name):
        for a, b in split(text):
            distinct.setdefault("".join(c for c in text[a:b].lower() if not c.isdigit()), text[a:b])
    return [Labelled(s, name, frozenset()) for s in _some(list(distinct.values()), _EACH) if len(s) >= 5]


def _second_pool(pool: Path) -> list[Labelled]:
    rows = list(material.rows(pool / "injection_document.jsonl.gz"))
    ordinary: dict[str, dict[str, None]] = {}
    for row in rows:
        if not row["label"]:
            ordinary.setdefault(row["source"], {}).update(dict.fromkeys(_sentences(row["text"])))
    found = [
        Labelled(s, source, frozenset()) for source, all_ in ordinary.items() for s in _some(list(all_), _CARRIERS)
    ]
    untouched = {s for all_ in ordinary.values() for s in all_}
    tasks = {
        (task, s): None
        for row in rows
        if (task := row["source"].partition("+")[2]) not in ("", ORDERS_LEFT_OUT, _ADDRESSED_TO_A_SHELL)
        for s in _sentences(row["text"])
        if s not in untouched
    }
    return [*found, *(Labelled(s, task, PLANTED) for task, s in tasks)]


def _sentences(text: str) -> list[str]:
    return [text[a:b] for a, b in split(text) if 15 <= b - a <= 600]


def _some(texts: list[str], most: int) -> list[str]:
    return texts if len(texts) <= most else random.Random(SEED).sample(texts, most)


class Table:
    def __init__(self, data: Path) -> None:
        samples = gather(data)
        plain = [mention.without(canonicalise(s.text[:2_000]).text, document=True) for s in samples]
        self.rows = logistic.Rows.from_parts([planted.sparse(text) for text in plain], planted.SIZE)
        self.labels = np.array([float("planted" in s.labels) for s in samples])
        self.source = np.array([s.source for s in samples])

    def fit(self, without: tuple[str, ...] = ()) -> tuple[np.ndarray, float]:
        words, bias, _ = sentence_fit(
            self.rows, self.labels, self.source, np.flatnonzero(~np.isin(self.source, without))
        )
        return words, bias


def train(data: Path, file: Path = planted.FILE) -> None:
    table = Table(data)
    words, bias = table.fit()
    scale = np.abs(words).max() / 32_000
    np.savez(file, words=np.round(words / scale).astype(np.int16), scale=np.float32(scale), bias=np.float32(bias))
    print(f"{file.name}: {len(table.labels)} sentences, {file.stat().st_size / 1e6:.1f} MB")


def left_out(data: Path) -> None:
    """Per fold: honest sentences withheld, and planted passages of which a sentence is."""
    table = Table(data)
    for names in FOLDS:
        words, bias = table.fit(names)
        weights = words.astype(np.float32)
        for name in set(names) & set(OPEN):
            hits = [hit for _, text in documents(data, name) for hit in _withheld(weights, bias, text)]
            tell([Metric.rate(f"{name}: sentences withheld", sum(held for *_, held in hits), len(hits))])
        counts: dict[str, list[bool]] = {}
        for source, text, places in passages(data):
            if source.split(",")[0].split("_")[0] in {n.split("_")[0] for n in names}:
                hits = _withheld(weights, bias, text)
                hit = any(h and a < end and b > start for a, b, h in hits for start, end in places)
                counts.setdefault(source, []).append(hit)
        tell(
            Metric.rate(f"planted, {source}: withheld", sum(held), len(held)) for source, held in sorted(counts.items())
        )


def _withheld(weights: np.ndarray, bias: float, text: str) -> list[tuple[int, int, bool]]:
    canonical = canonicalise(text)
    ranges = split(canonical.text)
    sentences = [mention.without(canonical.text[a:b][:2_000], document=True) for a, b in ranges]
    strange = surroundings.strange(ranges, sentences)
    margins = planted.margins(weights, bias, sentences).tolist()
    among = planted.among_directions(sentences, margins)
    scores = map(planted.judged, sentences, margins, strange, among)
    return [
        (*canonical.span(a, b), score >= planted.WITHHELD_FROM) for (a, b), score in zip(ranges, scores, strict=True)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m evals.training.train_planted", description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with pool, pool2 and collections")
    parser.add_argument("--left-out", action="store_true", help="judge fits that lack what they are judged by")
    options = parser.parse_args()
    return ended(lambda: (left_out if options.left_out else train)(options.data))


if __name__ == "__main__":
    sys.exit(main())
