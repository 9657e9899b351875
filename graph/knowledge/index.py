"""Search over what one tenant may see: its own space and the public one.

Candidates are the union of the best by BM25 and the nearest by cosine. They are ranked by the cosine plus half the
share of the question's words they hold, weighted by rarity: as good as reciprocal rank fusion, better on passages,
and it can be thresholded (evals/retrieval.py measures it).
"""

import logging
import math
import re
import sys
import threading
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

import numpy as np

from graph.context import PUBLIC, key_of
from graph.errors import CordonError, IndexUnavailable
from graph.knowledge import mentions, open_files, spelling
from graph.knowledge.embeddings import Embedder
from graph.knowledge.home import alone_in, private_directory
from graph.knowledge.space import Record, Space, StoredChunk
from graph.knowledge.vectors import Vectors

CANDIDATES = 50  # of each kind and space
WORD_WEIGHT = 0.5  # flat between 0.4 and 0.8 on Cranfield and CISI
EXACT_LIMIT = 20_000  # chunks; above it Chroma's HNSW finds the neighbours, below it every cosine is computed
FILES_OF_A_SPACE = 3  # SQLite holds the database, its log and the log's index open

Where = Literal["private", "public"]
log = logging.getLogger("cordon.index")


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
    """All spaces under one directory. Hold a HomeLock. Of those that are not in use the latest `most_open` stay open.

    Up to `exact_limit` chunks every cosine is computed. Without a limit Chroma is not asked: its files are for one
    process, and the others of a service would read them stale.
    """

    def __init__(
        self,
        directory: Path,
        embedder: Embedder,
        *,
        exact_limit: int | None = EXACT_LIMIT,
        most_open: int | None = None,
    ) -> None:
        self.embedder = embedder
        self._exact_limit = sys.maxsize if exact_limit is None else exact_limit
        self._most_open = most_open or open_files.share(FILES_OF_A_SPACE)
        self._directory = directory
        self._spaces: dict[str, Space] = {}
        self._used: dict[str, Space] = {}  # those that may be open, the one used last at the end
        self._opening = threading.RLock()
        self.vectors = Vectors(directory / "chroma")

    def close(self) -> None:
        for space in self._spaces.values():
            space.close()
        self._spaces.clear()
        self._used.clear()
        self.vectors.close()

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
            space = self._space(tenant, create)
            if space is not None:
                self._used[self.key(tenant)] = self._used.pop(self.key(tenant), space)
                self._rest()
            return space

    def _rest(self) -> None:
        """Let go of the spaces that were not used for longest. One in which a thread is at work stays open, and a
        thread that comes back to one that rests opens it again."""
        for key in list(self._used)[: -self._most_open]:
            if self._used[key].rest():
                del self._used[key]

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
                space.set_meta("made", uuid.uuid4().hex)
            path.with_suffix(".made").touch(mode=0o600)  # last: whoever sees it finds the space whole
            return space

    def tenants(self) -> list[str]:
        """Whose spaces there are, the public one included."""
        names = []
        for path in sorted((self._directory / "spaces").glob("*.db")):
            space = Space(path)
            names.append(space.meta("tenant"))
            space.close()
        return [name for name in names if name]

    def drop(self, tenant: str) -> None:
        """Remove a space's file, and Chroma's files with it: those of the other spaces are to be built anew."""
        key = self.key(tenant)
        if key in self._spaces:
            self._used.pop(key, None)
            self._spaces.pop(key).close()
        for path in (self._directory / "spaces").glob(f"{key}.*"):
            path.unlink()
        self.vectors.drop()

    def mirror(self, tenant: str) -> None:
        """Bring the space's Chroma collection in step with the space. One that is damaged is a copy, and made anew.
        Where Chroma is not asked it is left alone.

        Raises IndexUnavailable when that fails, too.
        """
        if self._exact_limit == sys.maxsize:
            return
        try:
            self._mirror(tenant)
        except CordonError:
            raise
        except Exception as error:
            try:
                self.vectors.drop()
                for owner in self.tenants():
                    self._mirror(owner)
            except Exception as again:
                raise IndexUnavailable(
                    f"the vector index cannot be written, nor made anew ({type(again).__name__}).",
                    hint=f"Make room, or remove {self.vectors.directory}: `cordon ingest` makes this copy again.",
                ) from again
            log.warning("the vector index was damaged (%s); it was made anew from the documents.", type(error).__name__)

    def _mirror(self, tenant: str) -> None:
        space = self.space(tenant)
        if space is not None:
            if not space.meta("made"):
                space.set_meta("made", uuid.uuid4().hex)  # so that no copy of another file of this name is taken for it
            with space.reading():
                stamp, (rows, matrix) = space.stamp(), space.matrix()
            self.vectors.sync(self.key(tenant), rows, matrix, stamp)

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
        if not mentions.phrases(question):
            return []
        return mentions.meant(question, [one for _, space in self.visible(tenant) for one in space.called()])

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

    def read(self, tenant: str, question: str) -> spelling.Reading:
        """The question in the words of the asker's own and the public documents."""
        with ExitStack() as still:
            spaces = [space for _, space in self.visible(tenant)]
            for space in spaces:
                still.enter_context(space.reading())
            return spelling.read(spaces, question)

    # -- search -------------------------------------------------------------------------------------------

    def search(self, tenant: str, query: str, limit: int, *, documents: Sequence[str] = ()) -> list[Hit]:
        """The best chunks for the query among the tenant's own and the public ones, best first.

        `documents` restricts the search to those ids. Equal questions on an equal corpus give equal lists: scores
        are rounded to 6 decimals and ties go by space and chunk id.
        """
        spaces = self.visible(tenant)
        if all(space.empty() for _, space in spaces):
            return []
        vector = self.embedder.embed([self.embedder.query_prefix + query])[0]
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
        if documents:
            held = space.vectors("doc_id", documents)
        elif (near := self._near(space, vector)) is not None:
            held = space.vectors("id", {*near, *also})
        else:
            rows, matrix = space.matrix()
            _fits(matrix.shape[1], vector)
            nearest = np.argsort(-(matrix @ vector), kind="stable")[:CANDIDATES]
            chosen = np.union1d(nearest, np.searchsorted(rows, also)).astype(int)
            held = {int(rows[at]): matrix[at] for at in chosen}
        for one in held.values():
            _fits(len(one), vector)
        return {row: float(one @ vector) for row, one in held.items()}

    def _near(self, space: Space, vector: np.ndarray) -> list[int] | None:
        """Rows of the nearest chunks as Chroma finds them; None where all are to be compared: in a space that is not
        large, or that Chroma's copy is not in step with."""
        if space.count()[1] <= self._exact_limit:
            return None
        return self.vectors.nearest(self._key(space), vector, CANDIDATES, space.stamp())

    def _key(self, space: Space) -> str:
        return self.key(space.meta("tenant"))


def _fits(length: int, vector: np.ndarray) -> None:
    if length != len(vector):
        raise IndexUnavailable("the index holds vectors of another length.", hint="Run `cordon ingest` again.")
