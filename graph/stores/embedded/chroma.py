"""Chroma, through LangChain: the neighbours in a space, from files of the home or from a Chroma server.

Opened on first use (importing it takes a second). One collection per space, statistics apart. It holds row numbers and
vectors only, never text or names. A collection carries the stamp of the space as it was when the two were last in step.
The files are for one process: another one would read them stale. A server is for any number.
"""

import hashlib
import logging
import shutil
import struct
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from graph.errors import IndexUnavailable
from graph.files import private_directory
from graph.stores.embedded import open_files
from graph.stores.embedded.exact import Exact
from graph.stores.vectors import VectorSource

# With its defaults 9 of 10 queries on hard data differ from one build to the next; with these no difference was seen.
_HNSW: Any = {"space": "cosine", "ef_construction": 400, "ef_search": 400, "max_neighbors": 64}

SERVER_S = 30.0  # seconds a server has for one request; a batch of vectors takes it a second
AGAIN_S = 10.0  # how long a server that was not there is not asked again: every vector is compared meanwhile
FILES_OF_A_COLLECTION = 5  # four of its graph, one of Chroma's database
_AT_ONCE = 5_000  # Chroma bounds a batch at 5,461
_PAGE = 500  # collections listed at once
_COUNT_AT = 20  # in hnswlib's header: version (4 bytes), offset, room, and here how many vectors there are (8 each)
log = logging.getLogger("cordon.index")


class Chroma:
    """Safe between threads, one at a time. Chroma keeps what it reads of a collection, and its files open: after
    `most_open` collections it is opened anew. With `url` a server keeps them, under names with this home's digest."""

    def __init__(self, directory: Path, url: str = "", *, most_open: int | None = None) -> None:
        self._exact = Exact()
        self.directory, self._url = directory, url
        home = hashlib.sha256(str(directory.absolute()).encode()).hexdigest()[:16]
        self._prefix = f"cordon-{home}-" if url else "space-"
        self._most_open = most_open or open_files.share(FILES_OF_A_COLLECTION)
        self._client: Any = None
        self._lock = threading.RLock()
        self._touched: set[str] = set()
        self._blanked: set[Path] = set()
        self._away_until = 0.0

    @property
    def mending(self) -> str:
        if self._url:
            return f"Is the Chroma server at {self._url} running? `cordon ingest` makes this copy again."
        return f"Make room, or remove {self.directory}: `cordon ingest` makes this copy again."

    def close(self) -> None:
        with self._lock:
            client, self._client = self._client, None
            self._touched.clear()
            if client is not None:
                with suppress(Exception):  # it may be what is broken
                    for part in (client, client._admin_client) if self._url else ():
                        part._server._session.close()  # which it leaves open
                    client.close()

    def _opened(self, space: str = "") -> Any:
        """The client, for use with this space's collection."""
        if not self._url:
            if len(self._touched | {space}) > self._most_open:
                self.close()
            self._touched.add(space)
        if self._client is None:
            self._client = self._of_server() if self._url else self._of_files()
        return self._client

    def _of_files(self) -> Any:
        import chromadb
        from chromadb.api.shared_system_client import SharedSystemClient

        private_directory(self.directory.parent)
        private_directory(self.directory)
        try:
            return chromadb.PersistentClient(str(self.directory), settings=_settings())
        except BaseException:  # Chroma keeps what it could not open, and would hand it out again
            SharedSystemClient._identifier_to_system.pop(str(self.directory), None)
            raise

    def _of_server(self) -> Any:
        import chromadb

        place = urlsplit(self._url)
        sealed = place.scheme == "https"
        port = place.port or (443 if sealed else 8000)
        client: Any = chromadb.HttpClient(str(place.hostname), port, ssl=sealed, settings=_settings())
        for part in (client, client._admin_client):
            part._server._session.timeout = SERVER_S  # else it waits without end
        return client

    def _store(self, space: str) -> Any:
        """The space's collection, behind LangChain's vector store interface."""
        from langchain_chroma import Chroma

        # embedding_function=None: vectors always come with the call; Chroma's own embedder needs the network.
        return Chroma(
            client=self._opened(space), collection_name=self._prefix + space, collection_configuration={"hnsw": _HNSW}
        )

    def sync(self, source: VectorSource) -> None:
        """Make the collection of a space hold exactly what it holds; an empty one has none. What was cut short is not
        in step, and the next one goes on."""
        with self._lock:
            if source.size():
                self._sync(source.key, *source.matrix(), source.stamp())
            elif self._url or self.directory.exists():
                self._forget(source.key)

    def _forget(self, space: str) -> None:
        left = self._collections()
        if left <= {self._prefix + space}:
            self.drop()
        elif self._prefix + space in left:
            self._opened(space).delete_collection(self._prefix + space)

    def _collections(self) -> set[str]:
        """Those of this home."""
        client, names, at = self._opened(), list[str](), 0
        while page := client.list_collections(limit=_PAGE, offset=at):
            names += [collection.name for collection in page]
            at += len(page)
        return {name for name in names if name.startswith(self._prefix)}

    def _sync(self, space: str, rows: np.ndarray, vectors: np.ndarray, stamp: str) -> None:
        store = self._store(space)
        collection = self._opened(space).get_collection(self._prefix + space)
        known = (collection.metadata or {}).get("stamp", "")
        if known == stamp:
            return
        collection.modify(metadata={"stamp": _only_made(stamp)})
        stored = set(store.get(include=[])["ids"])
        wanted = {str(row) for row in rows}
        # Rows of another file than this one may have the same numbers and other vectors.
        same = _only_made(known) == _only_made(stamp)
        gone = sorted(stored - wanted if same else stored)
        for at in range(0, len(gone), _AT_ONCE):
            store.delete(gone[at : at + _AT_ONCE])
        new = [at for at, row in enumerate(rows) if not (same and str(row) in stored)]
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
            (count,) = struct.unpack_from("<q", header.read_bytes(), _COUNT_AT)
            for path in (header.with_name(name) for name in ("data_level0.bin", "length.bin")):
                if count == 0 and path.is_file():
                    path.write_bytes(bytes(path.stat().st_size))
            private_directory(header.parent)  # Chroma made it for everybody
            self._blanked.add(header)

    def drop(self) -> None:
        """Remove Chroma's files: a delete in them leaves bytes behind. Of a server, the collections of this home."""
        with self._lock:
            if self._url:
                self._drop_at_server()
            self.close()
            self._blanked.clear()
            shutil.rmtree(self.directory, ignore_errors=True)

    def _drop_at_server(self) -> None:
        try:
            for name in self._collections():
                self._opened().delete_collection(name)
        except Exception as error:
            why = f"the vectors at {self._url} cannot be removed ({type(error).__name__})."
            raise IndexUnavailable(why, hint="Start the Chroma server, and try again.") from error

    def nearest(self, source: VectorSource, vector: np.ndarray, limit: int) -> list[int]:
        rows = self._approximate(source.key, vector, limit, source.stamp()) if source.size() else None
        return self._exact.nearest(source, vector, limit) if rows is None else rows

    def _approximate(self, space: str, vector: np.ndarray, limit: int, stamp: str) -> list[int] | None:
        """None when the collection is not what the stamp says: missing, behind, or broken; the space itself is there,
        and the next ingestion mends it."""
        if time.monotonic() < self._away_until:
            return None
        try:
            with self._lock:
                if self._stamp(space) != stamp:
                    return None
                matches = self._store(space).similarity_search_by_vector_with_relevance_scores(vector.tolist(), k=limit)
                if self._url and self._stamp(space) != stamp:  # another process wrote meanwhile
                    return None
            return [int(document.page_content) for document, _ in matches]
        except Exception as error:
            self._away_until = time.monotonic() + AGAIN_S if self._url else 0.0
            log.warning("the vector index was not asked (%s); every vector is compared", type(error).__name__)
            return None

    def _stamp(self, space: str) -> str:
        from chromadb.errors import NotFoundError

        try:
            return str((self._opened(space).get_collection(self._prefix + space).metadata or {}).get("stamp", ""))
        except NotFoundError:  # it was never made
            return ""


def _settings() -> Any:
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False, allow_reset=False)


def _only_made(stamp: str) -> str:
    return stamp.partition(" ")[0]
