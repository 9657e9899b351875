"""Chroma: the vector index that search turns to when a space outgrows exact search.

Opened on first use (importing it takes a second). One collection per space, statistics apart. It holds ids and
vectors only, never text, and can always be rebuilt from the spaces.
"""

import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np

from graph.errors import IndexUnavailable
from graph.knowledge.home import private_directory

# Default HNSW settings differ from one build to the next in 9 of 10 queries on hard data; these do not to be seen.
_HNSW: Any = {"space": "cosine", "ef_construction": 400, "ef_search": 400, "max_neighbors": 64}

_COUNT_AT = 20  # in hnswlib's header: version (4 bytes), offset, room, and here how many vectors there are (8 each)


class Vectors:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._client: Any = None
        self._stores: dict[str, Any] = {}
        self._blanked: set[Path] = set()

    def _store(self, space: str) -> Any:
        """The space's collection, behind LangChain's vector store interface."""
        from langchain_chroma import Chroma

        if self._client is None:
            import chromadb

            private_directory(self._directory.parent)
            private_directory(self._directory)
            self._client = chromadb.PersistentClient(
                str(self._directory), settings=chromadb.Settings(anonymized_telemetry=False, allow_reset=False)
            )
        if space not in self._stores:
            # embedding_function=None: vectors always come with the call; Chroma's own embedder needs the network.
            self._stores[space] = Chroma(
                client=self._client, collection_name=_collection_name(space), collection_configuration={"hnsw": _HNSW}
            )
        return self._stores[space]

    def put(self, space: str, ids: list[str], vectors: np.ndarray) -> None:
        collection = self._collection(space)
        for at in range(0, len(ids), 5_000):  # Chroma bounds a batch at 5,461
            collection.upsert(ids=ids[at : at + 5_000], embeddings=vectors[at : at + 5_000])
        self._blank()

    def _blank(self) -> None:
        """Overwrite what an index without vectors has on disk. hnswlib writes its empty room as memory gave it, with
        whatever lay there before, another tenant's text too. Once it writes vectors it writes those alone."""
        for header in set(self._directory.glob("*/header.bin")) - self._blanked:
            (held,) = struct.unpack_from("<q", header.read_bytes(), _COUNT_AT)
            for path in (header.with_name(name) for name in ("data_level0.bin", "length.bin")):
                if held == 0 and path.is_file():
                    path.write_bytes(bytes(path.stat().st_size))
            private_directory(header.parent)  # Chroma made it for everybody
            self._blanked.add(header)

    def sync(self, space: str, ids: list[str], vectors: np.ndarray) -> None:
        """Make the collection hold exactly these."""
        held = set(self._collection(space).get(include=[])["ids"])
        if gone := sorted(held - set(ids)):
            self._collection(space).delete(ids=gone)
        new = [at for at, name in enumerate(ids) if name not in held]
        self.put(space, [ids[at] for at in new], vectors[new])

    def drop(self) -> None:
        """Remove Chroma's files: a delete in them leaves bytes behind."""
        self._stores.clear()
        self._blanked.clear()
        if self._client is not None:
            self._client._system.stop()  # Chroma's own way to let go of its files
            self._client.clear_system_cache()
            self._client = None
        shutil.rmtree(self._directory, ignore_errors=True)

    def nearest(self, space: str, vector: np.ndarray, limit: int) -> list[tuple[str, float]]:
        """(chunk id, cosine) of the nearest, best first. Raises IndexUnavailable for an empty collection."""
        found = self._collection(space).query(query_embeddings=vector[None, :], n_results=limit, include=["distances"])
        names = found["ids"][0]
        if not names:
            raise IndexUnavailable("the vector index is empty.", hint="Run `cordon ingest` again.")
        return [(name, 1 - float(d)) for name, d in zip(names, found["distances"][0], strict=True)]

    def _collection(self, space: str) -> Any:
        self._store(space)
        return self._client.get_collection(_collection_name(space))


def _collection_name(space: str) -> str:
    return f"space-{space}"
