"""Search over what one tenant may see: its own space and the public one.

Candidates are the union of the best by BM25 and the nearest by cosine. They are ranked by the cosine plus half the
share of the question's words they hold, weighted by rarity: as good as reciprocal rank fusion, better on passages,
and it can be thresholded (evals/retrieval.py measures it).
"""

import math
import re
import sys
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from graph.context import PUBLIC, key_of
from graph.errors import IndexUnavailable
from graph.knowledge import called
from graph.knowledge.embeddings import Embedder
from graph.knowledge.home import alone_in, private_directory
from graph.knowledge.space import Record, Space, StoredChunk
from graph.knowledge.vectors import Vectors

CANDIDATES = 50  # of each kind and space
WORD_WEIGHT = 0.5  # flat between 0.4 and 0.8 on Cranfield and CISI
EXACT_LIMIT = 20_000  # chunks; above it Chroma's HNSW finds the neighbours, below it every cosine is computed

Where = Literal["private", "public"]

# Words that say nothing about a topic. Closed-class English; evals/retrieval.py shows the effect.
STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further get give had has have having he her here
    hers him his how i if in into is it its itself just know let like list many me more most much must my no nor
    not now of off on once only or other our out over own please same she should show so some such tell than that
    the their them then there these they this those through to too under until up us very was we were what when
    where which while who whom whose why will with would you your
    """.split()
)


@dataclass(frozen=True)
class Hit:
    """A chunk by name. `where` says in which of the asker's two spaces it lies; no hit can name a third."""

    where: Where
    chunk_id: str
    doc_id: str
    score: float  # 0-1
    cosine: float
    coverage: float  # 0-1, share of the question's words, by rarity


def content_words(text: str) -> list[str]:
    """The words a search should look for, lower case, each once, in order."""
    words = re.findall(r"[^\W_]+(?:['’.-][^\W_]+)*", text.casefold())
    return list(dict.fromkeys(word for word in words if word not in STOP_WORDS))


class Index:
    """All spaces under one directory. Hold a HomeLock. With `exact` every cosine is computed, however many there are:
    Chroma's files are for one process, and the others of a service would read them stale."""

    def __init__(self, directory: Path, embedder: Embedder, *, exact: bool = False) -> None:
        self.embedder, self.exact = embedder, exact
        self._exact_limit = sys.maxsize if exact else EXACT_LIMIT
        self._directory = directory
        self._spaces: dict[str, Space] = {}
        self._opening = threading.RLock()
        self.vectors = Vectors(directory / "chroma")

    def close(self) -> None:
        for space in self._spaces.values():
            space.close()
        self._spaces.clear()

    # -- spaces -------------------------------------------------------------------------------------------

    @staticmethod
    @lru_cache(maxsize=1_024)
    def key(tenant: str) -> str:
        """The name under which a tenant's space is stored."""
        return PUBLIC if tenant == PUBLIC else key_of("space", tenant)

    def space(self, tenant: str, *, create: bool = False) -> Space | None:
        """The tenant's space (`"public"` for the shared one), or None when nothing was ever put there.

        Raises IndexUnavailable when it was made and its file is gone, or was embedded by another model.
        """
        with self._opening:  # two threads that open one space would each keep vectors of their own
            return self._space(tenant, create)

    def _space(self, tenant: str, create: bool) -> Space | None:
        key = self.key(tenant)
        if create:
            private_directory(self._directory)
        if key not in self._spaces:
            path = self._directory / "spaces" / f"{key}.db"
            marker = path.with_suffix(".made")
            if not create and not marker.exists():
                return None  # nothing was put there, or another process is making it
            if not create and not path.exists():
                raise IndexUnavailable(
                    "the index of this tenant is gone, though documents were ingested.",
                    hint="Restore it from a backup, or run `cordon ingest` again.",
                )
            space = self._made(path, tenant) if create else Space(path)
            if space.meta("embeddings") != self.embedder.name:
                found = space.meta("embeddings")
                space.close()
                raise IndexUnavailable(
                    f"the index was made with the embeddings {found!r}, not {self.embedder.name!r}.",
                    hint=f"Set CORDON_EMBEDDINGS back, or give {self.embedder.name!r} a CORDON_HOME of its own.",
                )
            self._spaces[key] = space
        return self._spaces[key]

    def _made(self, path: Path, tenant: str) -> Space:
        with alone_in(path.parent):
            space = Space(path, create=True)
            if not space.meta("embeddings"):
                space.set_meta("embeddings", self.embedder.name)
                space.set_meta("tenant", tenant)
            path.with_suffix(".made").touch(mode=0o600)  # last: whoever sees it finds the space whole
            return space

    def tenants(self) -> list[str]:
        """Whose spaces there are, the public one included."""
        spaces = [Space(path) for path in sorted((self._directory / "spaces").glob("*.db"))]
        names = [space.meta("tenant") for space in spaces]
        for space in spaces:
            space.close()
        return [name for name in names if name]

    def drop(self, tenant: str) -> None:
        """Remove a space's file, and Chroma's files with it: those of the other spaces are to be built anew."""
        key = self.key(tenant)
        if key in self._spaces:
            self._spaces.pop(key).close()
        for path in (self._directory / "spaces").glob(f"{key}.*"):
            path.unlink()
        self.vectors.drop()

    def visible(self, tenant: str) -> list[tuple[Where, Space]]:
        """The asker's spaces: never more than its own and the public one."""
        pairs: list[tuple[Where, str]] = [("private", tenant), ("public", PUBLIC)]
        return [(where, space) for where, name in pairs if (space := self.space(name)) is not None]

    def empty(self, tenant: str) -> bool:
        return all(space.empty() for _, space in self.visible(tenant))

    def owner(self, tenant: str, where: Where, chunk_id: str) -> str:
        """The tenant that the space in which the chunk lies was made for, as the space itself says; "" for no chunk."""
        space = dict(self.visible(tenant)).get(where)
        return space.owner(chunk_id) if space else ""

    def named(self, tenant: str, names: Sequence[str]) -> list[str]:
        """Ids of the asker's documents whose id, file name or its stem is among the names, whatever the case."""
        wanted = {name.casefold() for name in names}
        return [
            record.doc_id
            for _, space in self.visible(tenant)
            for record in space.records()
            if wanted & {record.doc_id.casefold(), record.filename.casefold(), Path(record.filename).stem.casefold()}
        ]

    def called(self, tenant: str, question: str) -> list[str]:
        """Ids of the asker's documents that the question calls by what they are ("the AI policy")."""
        if not called.phrases(question):
            return []
        return called.meant(question, [one for _, space in self.visible(tenant) for one in space.called()])

    def inventory(self, tenant: str, kind: str, limit: int) -> list[Hit]:
        """The first chunk of each document whose title, id or file name has the words of `kind`, by id.

        With kind "" the tenant's own documents, whatever they are. The tenant's own come before public ones.
        """
        words = kind.lower().split()
        hits: list[Hit] = []
        for where, space in self.visible(tenant):
            for record in space.records():
                name = f"{record.title} {record.doc_id} {record.filename}".lower()
                fits = all(word in name for word in words) and (words or where == "private")
                if fits and (opening := space.opening(record.doc_id)):
                    hits.append(Hit(where, opening, record.doc_id, 1.0, 1.0, 1.0))
        own = [hit for hit in hits if hit.where == "private"]
        return (own or hits)[:limit]

    def opening(self, tenant: str, hit: Hit) -> str:
        """The first chunk of the document in which a hit lies; "" where it is gone meanwhile."""
        space = dict(self.visible(tenant)).get(hit.where)
        return space.opening(hit.doc_id) if space else ""

    def resolve(self, tenant: str, where: Where, chunk_id: str) -> tuple[Record, StoredChunk, str] | None:
        """Record, place and raw text of a chunk in one of the asker's spaces. Only the guard calls this."""
        space = dict(self.visible(tenant)).get(where)
        return space.passage(chunk_id) if space else None

    # -- search -------------------------------------------------------------------------------------------

    def search(self, tenant: str, query: str, limit: int, *, documents: Sequence[str] = ()) -> list[Hit]:
        """The best chunks for the query among the tenant's own and the public ones, best first.

        `documents` restricts the search to those ids. Equal questions on an equal corpus give equal lists: scores
        are rounded to 6 decimals and ties go by space and chunk id.
        """
        spaces = self.visible(tenant)
        if all(space.empty() for _, space in spaces):
            return []
        vector = self.embedder.embed([query])[0]
        with ExitStack() as still:
            for _, space in spaces:
                still.enter_context(space.reading())
            return self._ranked(spaces, vector, content_words(query), limit, documents)

    def _ranked(
        self,
        spaces: list[tuple[Where, Space]],
        vector: np.ndarray,
        words: list[str],
        limit: int,
        documents: Sequence[str],
    ) -> list[Hit]:
        sizes = {where: space.count()[1] for where, space in spaces}
        spaces = [(where, space) for where, space in spaces if sizes[where]]
        holding = {(where, word): space.rows_with(word) for where, space in spaces for word in words}
        total = sum(sizes.values())
        rarity = {}
        for word in words:
            held = sum(len(holding[where, word]) for where, _ in spaces)
            rarity[word] = math.log(1 + (total - held + 0.5) / (held + 0.5))
        weight = sum(rarity.values()) or 1.0
        hits = []
        for where, space in spaces:
            cosines = self._cosines(space, vector, space.best_words(words, CANDIDATES), documents)
            covered = dict.fromkeys(cosines, 0.0)
            for word in words:
                for row in holding[where, word] & cosines.keys():
                    covered[row] += rarity[word]
            for row, (chunk_id, doc_id) in space.names(cosines).items():
                coverage = covered[row] / weight
                score = (max(0.0, cosines[row]) + WORD_WEIGHT * coverage) / (1 + WORD_WEIGHT)
                hits.append(
                    Hit(where, chunk_id, doc_id, round(min(1.0, score), 6), round(cosines[row], 6), round(coverage, 6))
                )
        hits.sort(key=lambda hit: (-hit.score, hit.where, hit.chunk_id))
        return hits[:limit]

    def _cosines(self, space: Space, vector: np.ndarray, also: list[int], documents: Sequence[str]) -> dict[int, float]:
        """Row → cosine of the nearest chunks, and of the rows in `also`."""
        rows, matrix = space.matrix()
        if matrix.shape[1] != len(vector):
            raise IndexUnavailable("the index holds vectors of another length.", hint="Run `cordon ingest` again.")
        if documents:
            marks = ",".join("?" * len(documents))
            found = space.execute(f"SELECT id FROM chunks WHERE doc_id IN ({marks})", list(documents))
            wanted = np.isin(rows, [row for (row,) in found])
            chosen = np.flatnonzero(wanted)
        elif len(rows) <= self._exact_limit:
            cosines = matrix @ vector
            nearest = np.argsort(-cosines, kind="stable")[:CANDIDATES]
            chosen = np.union1d(nearest, np.searchsorted(rows, also)).astype(int)
        else:
            names = [name for name, _ in self.vectors.nearest(self._key(space), vector, CANDIDATES)]
            marks = ",".join("?" * len(names))
            found = space.execute(f"SELECT id FROM chunks WHERE chunk_id IN ({marks})", names)
            chosen = np.searchsorted(rows, sorted({row for (row,) in found} | set(also)))
        return {int(rows[at]): float(matrix[at] @ vector) for at in chosen}

    def _key(self, space: Space) -> str:
        return self.key(space.meta("tenant"))
