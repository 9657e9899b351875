"""What search costs in one space: processor time a question, memory, and whether the ten best are still the same.

    python -m evals.load.search                         10,000 and 100,000 chunks, made anew
    python -m evals.load.search --chunks 300000 --folder F       kept in F and used again: 2 GB, some minutes
    python -m evals.load.search --save F / --against F           write the ten best of each question, or compare

The chunks are real ones (the shipped corpus, the collections of the evaluation data) with a third of their sentences
changed for those of others and a number of their own; a chunk's vector is that of the two it is made of, turned a
little. The questions are those of evals/datasets about these documents. Run it with OMP_NUM_THREADS=1.
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import TypeVar

import numpy as np

from evals.load.tenants import resident_mb
from evals.material import data_directory
from evals.process import ROOT
from graph.context import ReadScope
from graph.errors import CordonError
from graph.knowledge import splitter
from graph.knowledge.embeddings import shared
from graph.knowledge.index import CANDIDATES, Index, content_words
from graph.knowledge.sandbox import Parser
from graph.policy.text import sentences
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.spaces import SqliteSpaces
from graph.stores.spaces import Record, Space, StoredChunk

COLLECTIONS = ("guides18f", "hcph", "openchain", "openjs", "sourcegraph")
TENANT = "bench"
T = TypeVar("T")
_BASE, _QUESTIONS, _A_DOCUMENT = 2_000, 100, 20
_OPENING = 500  # characters that say what a chunk is about: to embed all of it takes minutes more


class Known:
    """An embedder that has read its questions before, so that embedding is not measured."""

    name, query_prefix = "bench", ""

    def __init__(self, questions: Sequence[str]) -> None:
        self._vectors = dict(zip(questions, shared().embed(questions), strict=True))

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self._vectors[text] for text in texts])

    def count(self, text: str) -> int:
        return len(text) // 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", default="10000,100000", help="comma separated")
    parser.add_argument("--folder", type=Path, help="where the spaces are kept; left out, they are made and removed")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    known = Known(questions())
    with tempfile.TemporaryDirectory() as folder:
        for count in map(int, given.chunks.split(",")):
            index = Index(SqliteSpaces((given.folder or Path(folder)) / str(count), known.name, Exact()), known)
            space = index.space(TENANT, create=True)
            assert space is not None
            if space.empty():
                fill(space, count)
            index.spaces.sync(TENANT)
            best = measure(index, space)
            name = f"best-{count}.json"
            if given.save:
                (given.save / name).write_text(json.dumps(best))
            if given.against:
                compare(json.loads((given.against / name).read_text()), best)
            index.close()
    return 0


def questions() -> list[str]:
    """As many of each set, long ones and short ones."""
    sets = [ROOT / "evals/datasets/answers.jsonl"]
    sets += [ROOT / f"evals/datasets/handbooks/{name}.jsonl" for name in COLLECTIONS]
    found = [[json.loads(line)["question"] for line in path.read_text().splitlines()] for path in sets]
    found += [[row["text"] for row in _rows(f"{name}_queries")] for name in ("cranfield", "cisi")]
    return [text for asked in found for text in Random(0).sample(asked, min(len(asked), -(-_QUESTIONS // len(found))))]


def _rows(name: str) -> Iterator[dict[str, str]]:
    with gzip.open(data_directory() / "retrieval" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def _chunks() -> list[str]:
    """What is indexed for real chunks, those of a document in a row."""
    found: list[str] = []
    folders = [ROOT / "corpus", *(data_directory() / "collections" / name for name in COLLECTIONS)]
    with Parser() as parser:
        for path in sorted(path for folder in folders for path in folder.rglob("*.md")):
            try:
                document = parser.parse_bytes(path.read_bytes(), path.name)
            except CordonError:
                continue
            found += splitter.split(document, shared().count, size=500, overlap=50).words
    return found + [
        f"{row.get('title', '')}\n{row['text']}" for name in ("cranfield", "cisi") for row in _rows(f"{name}_docs")
    ]


def fill(space: Space, count: int) -> None:
    dice, noise = Random(0), np.random.default_rng(0)
    texts = _chunks()
    dice.shuffle(texts)
    texts = texts[:_BASE]
    cut = [[text[a:b] for a, b in sentences.split(text)] for text in texts]
    vectors = shared().embed([text[:_OPENING] for text in texts])
    for first in range(0, count, _A_DOCUMENT):
        made = [_varied(cut, vectors, n, dice, noise) for n in range(first, min(count, first + _A_DOCUMENT))]
        doc_id, words = f"d{first}", [text for text, _ in made]
        ends = np.cumsum([len(text) for text in words]).tolist()
        chunks = [
            StoredChunk(f"{doc_id}_{n}", doc_id, end - len(text), end, None, None, "")
            for n, (text, end) in enumerate(zip(words, ends, strict=True))
        ]
        record = Record(
            doc_id, f"{doc_id}.md", doc_id, doc_id, TENANT, "private", "text/markdown", 1, len(words), "", ""
        )
        space.put(record, "".join(words), chunks, np.array([vector for _, vector in made]), words)


def _varied(
    cut: list[list[str]], vectors: np.ndarray, number: int, dice: Random, noise: np.random.Generator
) -> tuple[str, np.ndarray]:
    one, other = dice.randrange(len(cut)), dice.randrange(len(cut))
    kept = [sentence for sentence in cut[one] if dice.random() < 2 / 3] or cut[one]
    taken = dice.sample(cut[other], min(len(cut[other]), (len(cut[one]) + 2) // 3))
    vector = vectors[one] + 0.5 * vectors[other] + noise.normal(0, 0.5 / len(vectors[one]) ** 0.5, len(vectors[one]))
    return " ".join([*kept, *taken, f"Ref {number:06}."]), (vector / np.linalg.norm(vector)).astype(np.float32)


def measure(index: Index, space: Space) -> dict[str, list[tuple[str, float]]]:
    """Print what each step takes; the ten best of each question."""
    asked = questions()
    vectors = dict(zip(asked, index.embedder.embed(asked), strict=True))
    before = resident_mb()
    first = _cpu_ms(partial(index.search, ReadScope(TENANT), asked[0], 10))[0]
    best: dict[str, list[tuple[str, float]]] = {}
    spent: dict[str, list[float]] = {"search": [], "vectors": [], "words": []}
    for text in asked:
        took, hits = _cpu_ms(partial(index.search, ReadScope(TENANT), text, 10))
        best[text] = [(hit.chunk_id, hit.score) for hit in hits]
        near, _ = _cpu_ms(partial(space.find, vectors[text], [], CANDIDATES))
        whole, _ = _cpu_ms(partial(space.find, vectors[text], content_words(text), CANDIDATES))
        for what, ms in (("search", took), ("vectors", near), ("words", whole - near)):
            spent[what].append(ms)
    more = resident_mb() - before
    print(f"{space.count()[1]} chunks: first {first:.0f} ms, {more:.0f} MB more; processor time a question", flush=True)
    for what, all_ms in spent.items():
        all_ms.sort()
        middle, mean, p95 = statistics.median(all_ms), statistics.mean(all_ms), all_ms[int(len(all_ms) * 0.95)]
        print(f"  {what:<8} median {middle:7.2f} ms   mean {mean:7.2f}   p95 {p95:7.2f}   n={len(all_ms)}")
    return best


def _cpu_ms(work: Callable[[], T]) -> tuple[float, T]:
    begun = time.process_time()
    found = work()
    return (time.process_time() - begun) * 1_000, found


def compare(before: dict[str, list[tuple[str, float]]], now: dict[str, list[tuple[str, float]]]) -> None:
    both = [(dict(before[text]), dict(now[text])) for text in before]
    found = sum(len(one.keys() & other.keys()) for one, other in both)
    apart = max(abs(one[name] - other[name]) for one, other in both for name in one.keys() & other.keys())
    same = sum(list(one) == list(other) for one, other in both)
    print(f"  recall@10 {found / sum(map(len, before.values())):.4f}; {same} of {len(both)} lists the same")
    print(f"  scores apart by at most {apart:.6f}")


if __name__ == "__main__":
    sys.exit(main())
