"""retrieval: nDCG@10 on Cranfield and CISI, fused ranking against each of its parts."""

import gzip
import json
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from evals import stats
from graph.errors import BadInput
from graph.knowledge.embeddings import shared
from graph.knowledge.index import Index, content_words
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.space import SqliteSpace
from graph.stores.embedded.spaces import SqliteSpaces
from graph.stores.spaces import Record, StoredChunk

TENANT = "eval"


def data_directory() -> Path:
    """CORDON_EVAL_DATA, or ../shared/data beside the checkout. Raises BadInput when there is none."""
    given = os.environ.get("CORDON_EVAL_DATA")
    path = Path(given) if given else Path(__file__).resolve().parents[3] / "shared" / "data"
    if not path.is_dir():
        raise BadInput("the evaluation data is not here.", hint="Set CORDON_EVAL_DATA to the folder that holds it.")
    return path


def run(out: Path) -> dict[str, Any]:
    data = data_directory() / "retrieval"
    figures: dict[str, Any] = {}
    for name in ("cranfield", "cisi"):
        documents, queries = _read(data / f"{name}_docs.jsonl.gz"), _read(data / f"{name}_queries.jsonl.gz")
        with tempfile.TemporaryDirectory() as home:
            index = Index(SqliteSpaces(Path(home), shared().name, Exact()), shared())
            fill(index, documents)
            for ranking in ("fused", "dense", "words"):
                scores = [ndcg(_ranked(index, q["text"], ranking), q["relevant"]) for q in queries]
                figures[f"{name} nDCG@10 {ranking}"] = stats.mean(scores)
            index.close()
    return {"figures": figures}


def fill(index: Index, documents: list[dict[str, Any]]) -> None:
    """One chunk a document: the collections judge whole abstracts."""
    space = index.space(TENANT, create=True)
    assert space is not None
    texts = [f"{d.get('title', '')}\n{d['text']}".strip() for d in documents]
    vectors = shared().embed(texts)
    for d, text, vector in zip(documents, texts, vectors, strict=True):
        record = Record(
            str(d["id"]),
            f"{d['id']}.txt",
            str(d.get("title", "")),
            "",
            TENANT,
            "private",
            "text/plain",
            len(text),
            1,
            "",
            "",
        )
        space.put(
            record,
            text,
            [StoredChunk(str(d["id"]), str(d["id"]), 0, len(text), None, None, "")],
            vector[None, :],
            [text],
        )


def _ranked(index: Index, query: str, ranking: str) -> list[str]:
    space = index.space(TENANT)
    assert isinstance(space, SqliteSpace)
    if ranking == "fused":
        return [hit.doc_id for hit in index.search(TENANT, query, 10)]
    if ranking == "words":
        postings = space._postings()
        rows = postings.best(postings.holding(content_words(query)).values(), 10)
    else:
        rows = Exact().nearest(space, shared().embed([query])[0], 10)
    names = space._names(rows)
    return [names[row][1] for row in rows]


def ndcg(ranked: list[str], gains: dict[str, float], depth: int = 10) -> float:
    """Normalised discounted cumulative gain with gain = relevance (Järvelin and Kekäläinen 2002)."""
    found = sum(gains.get(doc, 0) / math.log2(at + 2) for at, doc in enumerate(ranked[:depth]))
    best = sum(g / math.log2(at + 2) for at, g in enumerate(sorted(gains.values(), reverse=True)[:depth]))
    return found / best if best else 0.0


def _read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
