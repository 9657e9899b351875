"""Documents put into spaces without a file, and an embedder whose texts are numbers of vectors."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graph.knowledge.index import Index
from graph.stores.embedded.chroma import Chroma
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.spaces import SqliteSpaces
from graph.stores.spaces import Record, Space, StoredChunk


def put(space: Space, doc_id: str, *texts: str, vectors: np.ndarray | None = None, **known: Any) -> Record:
    """One document with a chunk for each text, all of them of one direction unless `vectors` says otherwise."""
    whole, ends = "".join(texts), np.cumsum([len(text) for text in texts])
    given = {
        "title": doc_id, "sha256": whole[:64], "tenant_id": "T1", "visibility": "private", "media_type": "text/plain",
        "size": len(whole), "chunks": len(texts), "source": doc_id, "ingested": "now", **known,
    }  # fmt: skip
    record = Record(doc_id, f"{doc_id}.txt", **given)
    chunks = [
        StoredChunk(f"{doc_id}_{n}", doc_id, int(end) - len(text), int(end), None, None, "")
        for n, (text, end) in enumerate(zip(texts, ends, strict=True))
    ]
    space.put(record, whole, chunks, np.ones((len(texts), 4), np.float32) / 2 if vectors is None else vectors, texts)
    return record


def directions(count: int, width: int = 384, seed: int = 0) -> np.ndarray:
    """float32 (count, width), random, rows of length 1."""
    vectors = np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


class Pointing:
    """An embedder whose questions are numbers of chunks."""

    name, query_prefix = "pointing", ""
    vectors = np.zeros((0, 384), np.float32)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray(self.vectors[[int(text) for text in texts]])

    def count(self, text: str) -> int:
        return 1


def index_at(directory: Path, embedder: Any, *, chroma: bool = False, most_open: int | None = None) -> Index:
    vectors = Chroma(directory / "chroma") if chroma else Exact()
    return Index(SqliteSpaces(directory, embedder.name, vectors, most_open=most_open), embedder)
