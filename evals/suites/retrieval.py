"""retrieval: nDCG@10 on Cranfield and CISI, fused ranking against each of its parts."""

import math
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evals.material import data_directory, rows
from evals.task import Metric, Output, Rows, Sample, Task
from graph.context import ReadScope
from graph.knowledge.embeddings import shared
from graph.knowledge.index import Index, content_words
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.space import SqliteSpace
from graph.stores.embedded.spaces import SqliteSpaces
from graph.stores.spaces import Record, StoredChunk

TENANT = "eval"
RANKINGS = ("fused", "dense", "words")


def tasks() -> Iterator[Task]:
    data = data_directory() / "retrieval"
    for name in ("cranfield", "cisi"):
        queries = [
            Sample(f"{name}-{query['id']}-{ranking}", query["text"], query["relevant"], {"ranking": ranking})
            for ranking in RANKINGS
            for query in rows(data / f"{name}_queries.jsonl.gz")
        ]
        with tempfile.TemporaryDirectory() as home:
            index = Index(SqliteSpaces(Path(home), shared().name, Exact()), shared())
            fill(index, list(rows(data / f"{name}_docs.jsonl.gz")))

            def rank(sample: Sample, index: Index = index) -> Output:
                return Output(sources=ranked(index, sample.input, sample.metadata["ranking"]))

            def metrics(told: Rows, name: str = name) -> Iterator[Metric]:
                for ranking in RANKINGS:
                    yield told.where(ranking=ranking).mean(f"{name} nDCG@10 {ranking}", "nDCG@10")

            yield Task(name, queries, rank, lambda s, out: {"nDCG@10": ndcg(out.sources, s.target)}, metrics)
            index.close()


def fill(index: Index, documents: list[dict[str, Any]]) -> None:
    """One chunk a document: the collections judge whole abstracts."""
    space = index.space(TENANT, create=True)
    assert space is not None
    texts = [f"{d.get('title', '')}\n{d['text']}".strip() for d in documents]
    vectors = shared().embed(texts)
    for d, text, vector in zip(documents, texts, vectors, strict=True):
        name, title = str(d["id"]), str(d.get("title", ""))
        record = Record(name, f"{name}.txt", title, "", TENANT, "private", "text/plain", len(text), 1, "", "")
        chunk = StoredChunk(name, name, 0, len(text), None, None, "")
        space.put(record, text, [chunk], vector[None, :], [text])


def ranked(index: Index, query: str, ranking: str) -> list[str]:
    """Ids of the ten best documents."""
    space = index.space(TENANT)
    assert isinstance(space, SqliteSpace)
    if ranking == "fused":
        return [hit.doc_id for hit in index.search(ReadScope(TENANT), query, 10)]
    if ranking == "words":
        postings = space._postings()
        found = postings.best(postings.holding(content_words(query)).values(), 10)
    else:
        found = Exact().nearest(space, shared().embed([query])[0], 10)
    names = space._names(found)
    return [names[row][1] for row in found]


def ndcg(ranked: Sequence[str], gains: dict[str, float], depth: int = 10) -> float:
    """Normalised discounted cumulative gain with gain = relevance (Järvelin and Kekäläinen 2002)."""
    found = sum(gains.get(doc, 0) / math.log2(at + 2) for at, doc in enumerate(ranked[:depth]))
    best = sum(g / math.log2(at + 2) for at, g in enumerate(sorted(gains.values(), reverse=True)[:depth]))
    return found / best if best else 0.0
