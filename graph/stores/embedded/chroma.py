"""Chroma, through LangChain: the neighbours in a space that has outgrown exact search.

Opened on first use (importing it takes a second). One collection per space, statistics apart. It holds row numbers and
vectors only, never text or names. A collection carries the stamp of the space as it was when the two were last in step.
A space below the limit is compared exactly and has no collection: writing one takes a millisecond a chunk. Its files
are for one process: another one would read them stale.
"""

import logging
import shutil
import struct
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from graph.files import private_directory
from graph.stores.embedded import open_files
from graph.stores.embedded.exact import Exact
from graph.stores.vectors import Source

# Default HNSW settings differ from one build to the next in 9 of 10 queries on hard data; these do not to be seen.
_HNSW: Any = {"space": "cosine", "ef_construction": 400, "ef_search": 400, "max_neighbors": 64}

EXACT_LIMIT = 200_000  # chunks up to which Exact is as fast; Chroma takes 3 ms of processor a chunk to write, too
FILES_OF_A_COLLECTION = 5  # four of its graph, one of Chroma's database
_AT_ONCE = 5_000  # Chroma bounds a batch at 5,461
_COUNT_AT = 20  # in hnswlib's header: version (4 bytes), offset, room, and here how many vectors there are (8 each)
log = logging.getLogger("cordon.index")


class Chroma:
    """Safe between threads, one at a time. Chroma keeps what it reads of a collection, and its files open: after
    `most_open` collections it is opened anew. Spaces of up to `above` chunks are left to exact search."""

    def __init__(self, directory: Path, *, above: int, most_open: int | None = None) -> None:
        self._above, self._exact = above, Exact()
        self.directory = directory
        self._most_open = most_open or open_files.share(FILES_OF_A_COLLECTION)
        self._client: Any = None
        self._lock = threading.RLock()
        self._touched: set[str] = set()
        self._blanked: set[Path] = set()

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
            self._touched.clear()
            if client is not None:
                with suppress(Exception):  # it may be what is broken
                    client.close()

    def _opened(self, space: str) -> Any:
        """The client, for use with this space's collection."""
        if len(self._touched | {space}) > self._most_open:
            self.close()
        self._touched.add(space)
        if self._client is None:
            import chromadb
            from chromadb.api.shared_system_client import SharedSystemClient
            from chromadb.config import Settings

            private_directory(self.directory.parent)
            private_directory(self.directory)
            try:
                self._client = chromadb.PersistentClient(
                    str(self.directory), settings=Settings(anonymized_telemetry=False, allow_reset=False)
                )
            except BaseException:  # Chroma keeps what it could not open, and would hand it out again
                SharedSystemClient._identifier_to_system.pop(str(self.directory), None)
                raise
        return self._client

    def _store(self, space: str) -> Any:
        """The space's collection, behind LangChain's vector store interface."""
        from langchain_chroma import Chroma

        # embedding_function=None: vectors always come with the call; Chroma's own embedder needs the network.
        return Chroma(
            client=self._opened(space),
            collection_name=_collection_name(space),
            collection_configuration={"hnsw": _HNSW},
        )

    def settle(self, source: Source) -> None:
        """Make the collection of a large space hold exactly what it holds; a small one has none. What was cut short is
        not in step, and the next one goes on."""
        with self._lock:
            if source.size() > self._above:
                self._sync(source.key, *source.matrix(), source.stamp())
            elif self.directory.exists():
                self._forget(source.key)

    def _forget(self, space: str) -> None:
        client = self._opened(space)
        left = {collection.name for collection in client.list_collections()}
        if left <= {_collection_name(space)}:
            self.drop()
        elif _collection_name(space) in left:
            client.delete_collection(_collection_name(space))

    def _sync(self, space: str, rows: np.ndarray, vectors: np.ndarray, stamp: str) -> None:
        store = self._store(space)
        collection = self._opened(space).get_collection(_collection_name(space))
        known = (collection.metadata or {}).get("stamp", "")
        if known == stamp:
            return
        collection.modify(metadata={"stamp": _only_made(stamp)})
        held = set(store.get(include=[])["ids"])
        wanted = {str(row) for row in rows}
        # Rows of another file than this one may have the same numbers and other vectors.
        same = _only_made(known) == _only_made(stamp)
        gone = sorted(held - wanted if same else held)
        for at in range(0, len(gone), _AT_ONCE):
            store.delete(gone[at : at + _AT_ONCE])
        new = [at for at, row in enumerate(rows) if not (same and str(row) in held)]
        for at in range(0, len(new), _AT_ONCE):
            some = new[at : at + _AT_ONCE]
            names = [str(rows[one]) for one in some]
            collection.upsert(ids=names, embeddings=vectors[some], documents=names)
        self._blank()
        collection.modify(metadata={"stamp": stamp})

    def _blank(self) -> None:
        """Overwrite what an index without vectors has on disk. hnswlib writes its empty room as memory gave it, with
        whatever lay there before, another tenant's text too. Once it writes vectors it writes those alone."""
        for header in set(self.directory.glob("*/header.bin")) - self._blanked:
            (held,) = struct.unpack_from("<q", header.read_bytes(), _COUNT_AT)
            for path in (header.with_name(name) for name in ("data_level0.bin", "length.bin")):
                if held == 0 and path.is_file():
                    path.write_bytes(bytes(path.stat().st_size))
            private_directory(header.parent)  # Chroma made it for everybody
            self._blanked.add(header)

    def drop(self) -> None:
        """Remove Chroma's files: a delete in them leaves bytes behind."""
        with self._lock:
            self.close()
            self._blanked.clear()
            shutil.rmtree(self.directory, ignore_errors=True)

    def nearest(self, source: Source, vector: np.ndarray, limit: int) -> list[int]:
        found = self._found(source.key, vector, limit, source.stamp()) if source.size() > self._above else None
        return self._exact.nearest(source, vector, limit) if found is None else found

    def _found(self, space: str, vector: np.ndarray, limit: int, stamp: str) -> list[int] | None:
        """None when the collection is not what the stamp says: missing, behind, or broken; the space itself is there,
        and the next ingestion mends it."""
        try:
            with self._lock:
                known = self._opened(space).get_collection(_collection_name(space)).metadata or {}
                if known.get("stamp") != stamp:
                    return None
                found = self._store(space).similarity_search_by_vector_with_relevance_scores(vector.tolist(), k=limit)
            return [int(document.page_content) for document, _ in found]
        except Exception as error:
            log.info("the vector index was not asked (%s)", type(error).__name__)
            return None


def _only_made(stamp: str) -> str:
    return stamp.partition(" ")[0]


def _collection_name(space: str) -> str:
    return f"space-{space}"
