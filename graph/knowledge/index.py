"""Search over what one reader may see: the space of its tenant, those of its groups, and the public one.

Candidates are the union of the best by BM25 and the nearest by cosine. They are ranked by the cosine plus half the
share of the question's words they hold, weighted by rarity: as good as reciprocal rank fusion, better on passages,
and it can be thresholded (evals/suites/retrieval.py measures it).
"""

import math
import re
import sys
import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

import numpy as np

from graph.context import PUBLIC, ReadScope, space_name, whose
from graph.errors import BadInput
from graph.knowledge import mentions, spelling, standing
from graph.knowledge.embeddings import Embedder, once
from graph.knowledge.mentions import Name
from graph.policy.text.structure import SEPARATOR
from graph.stores.journal import Journal
from graph.stores.spaces import Passage, Record, Space, Spaces, StoredChunk
from graph.timestamps import timestamp

CANDIDATES = 50  # of each kind and space
WORD_WEIGHT = 0.5  # flat between 0.4 and 0.8 on Cranfield and CISI

Where = str  # "public", "private", or "private/" and the groups that share it
MOST_AUDIENCES = 64  # sets of groups for which a tenant has documents

# Words that say nothing about a topic. Closed-class English; evals/suites/retrieval.py shows the effect.
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
    """A chunk by name. `where` says in which of the asker's spaces it lies; no hit can name another one."""

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


Replacement = tuple[tuple[str, str], standing.Replaced]  # (space, document id) that says so, and what it replaces


class Index:
    """Search over the spaces of one store."""

    def __init__(self, spaces: Spaces, embedder: Embedder, journal: Journal | None = None) -> None:
        """With a journal every document that comes or goes is on record."""
        self.spaces, self.embedder, self._journal = spaces, embedder, journal

    def close(self) -> None:
        """Let go of what the spaces have open."""
        self.spaces.close()

    def space(self, name: str, *, create: bool = False) -> Space | None:
        """As `Spaces.space`. Raises BadInput for a space of one set of groups too many."""
        tenant, groups = whose(name)
        if create and groups:
            audiences = self.spaces.audiences(tenant)
            if name not in audiences and len(audiences) >= MOST_AUDIENCES:
                raise BadInput(
                    f"a tenant can have documents for at most {MOST_AUDIENCES} different sets of groups.",
                    hint="Name the groups as other documents do.",
                )
        return self.spaces.space(name, create=create)

    def put(
        self,
        name: str,
        record: Record,
        text: str,
        chunks: Sequence[StoredChunk],
        vectors: np.ndarray,
        words: Sequence[str],
    ) -> bool:
        """As `Space.put`, in the space of this name. Whether it took the place of another one."""
        space = self.space(name, create=True)
        assert space is not None
        replaced = space.record(record.doc_id) is not None
        self._note(name, record, "replaced" if replaced else "indexed")
        space.put(record, text, chunks, vectors, words)
        return replaced

    def remove(self, name: str, doc_id: str, why: Literal["removed", "expired", "withdrawn", "file gone"]) -> bool:
        """As `Space.remove`, in the space of this name."""
        space = self.space(name)
        record = space.record(doc_id) if space else None
        if space is None or record is None:
            return False
        self._note(name, record, why)
        return space.remove(doc_id)

    def move(self, name: str, doc_id: str, filename: str, source: str, stamp: str) -> None:
        """Give a document of the space of this name the name that its file has now."""
        space = self.space(name)
        record = space.record(doc_id) if space else None
        if space is None or record is None:
            return
        self._note(name, record, "moved")
        title = filename if record.title == record.filename else record.title
        space.change(doc_id, lambda record: replace(record, filename=filename, title=title, source=source, stamp=stamp))

    def _note(self, name: str, record: Record, says: str) -> None:
        """Call it before the change: no answer may come from a document that no line of the journal names."""
        if self._journal is not None:
            tenant, groups = whose(name)
            about = {"doc_id": record.doc_id, "document_sha256": record.sha256, "uploader": record.uploader}
            line = {"kind": "document", "timestamp": timestamp(), "tenant_id": tenant, "about": uuid.uuid4().hex}
            self._journal.append({**line, "says": says, "groups": sorted(groups), **about})

    def tenant_spaces(self, tenant: str) -> list[Space]:
        """Every space of a tenant, those of all of its groups included: for who keeps its documents, never to answer
        from."""
        names = [tenant, *self.spaces.audiences(tenant)]
        return [space for name in names if (space := self.space(name)) is not None]

    def visible(self, reader: ReadScope) -> list[tuple[Where, Space]]:
        """The reader's spaces: never more than that of the whole tenant, those that one of its groups shares, and the
        public one."""
        pairs: list[tuple[Where, str]] = [("private", reader.tenant)]
        for name in self.spaces.audiences(reader.tenant) if reader.groups else ():
            groups = whose(name)[1]
            if groups & reader.groups:
                pairs.append((space_name("private", groups), name))
        pairs.append(("public", PUBLIC))
        return [(where, space) for where, name in pairs if (space := self.space(name)) is not None]

    def reading(self) -> AbstractContextManager[None]:
        """As `Spaces.reading`: around several questions of one stage, not around a model's work."""
        return self.spaces.reading()

    def empty(self, reader: ReadScope) -> bool:
        """Whether the reader may see no chunk at all."""
        return all(space.empty() for _, space in self.visible(reader))

    def with_names(self, reader: ReadScope, names: Sequence[str]) -> list[str]:
        """Ids of the asker's documents whose id, file name or its stem is among the names, whatever the case."""
        wanted = {name.casefold() for name in names}
        return [
            record.doc_id
            for _, space in self.visible(reader)
            for record in space.records()
            if wanted & {n.casefold() for n in (record.doc_id, record.filename, PurePath(record.filename).stem)}
        ]

    def mentioned(self, reader: ReadScope, question: str) -> list[str]:
        """Ids of the asker's documents that the question calls by what they are ("the AI policy")."""
        if not mentions.may_mention(question):
            return []
        return mentions.meant(question, [one for _, space in self.visible(reader) for one in space.document_names()])

    def titled(self, reader: ReadScope, question: str) -> list[str]:
        """Ids of the asker's documents that are about a thing which the question names ("at Perth")."""
        return mentions.titled(question, [one for _, space in self.visible(reader) for one in space.document_names()])

    def before_colon(self, reader: ReadScope, question: str) -> list[str]:
        """Ids of the asker's documents that the question names before a colon ("Montague: what do I pay …?")."""
        names = (one for _, space in self.visible(reader) for one in space.document_names())
        return mentions.before_colon(question, names)  # which reads none where there is no colon

    def lapses(
        self, reader: ReadScope, documents: Collection[tuple[str, str]], replaced: Sequence[Replacement]
    ) -> list[tuple[tuple[str, str], str, str, str]]:
        """Of these documents, as (space, id), those that are no longer in force; each with the space and the id of the
        document that says so, which may be the same, and the sentence."""
        names: dict[tuple[str, str], Name] = {}
        for where, space in self.visible(reader):
            known = space.document_names()
            names |= {(where, doc_id): one for doc_id, one in known if (where, doc_id) in documents}
        lapses = []
        for document, name in names.items():
            if standing.lapse(name.lapsed, standing.now()):
                lapses.append((document, *document, name.lapsed))
                continue
            by = (
                (*place, one.sentence)
                for place, one in replaced
                if place != document and standing.speaks_of(one.words, name)
            )
            lapses += [(document, *one) for one in list(by)[:1]]
        return lapses

    def lapses_named(
        self, reader: ReadScope, hits: Sequence[Hit], replaced: Sequence[Replacement]
    ) -> list[tuple[Hit, str, str, str]]:
        """Of these chunks those that name by its code a document which another one says it replaces; each with the
        space and the id of the document that says so, and the sentence."""
        coded = [(place, one) for place, one in replaced if one.codes]
        lapses = []
        for where, space in self.visible(reader) if coded else ():
            inside = {hit.chunk_id: hit for hit in hits if hit.where == where}
            for chunk_id, passage in space.passages([*inside]).items():
                lapses += [
                    (inside[chunk_id], *place, one.sentence)
                    for place, one in coded
                    if any(mentions.says(passage.text, code) for code in one.codes)
                ]
        return lapses

    def replaced(self, reader: ReadScope) -> list[Replacement]:
        """What the asker's documents say they replace, each with its space and the id of the document."""
        return [
            ((where, doc_id), one)
            for where, space in self.visible(reader)
            for doc_id, known in space.document_names()
            for sentence in known.replaces
            for one in standing.replaced(sentence)
        ]

    def chunk_with(self, reader: ReadScope, where: str, doc_id: str, sentence: str) -> str:
        """The chunk of a document that holds a sentence of it, "" where none holds all of it."""
        space = dict(self.visible(reader)).get(where)
        at = space.text(doc_id).find(sentence) if space else -1
        chunks = space.chunks(doc_id) if space and at >= 0 else []
        return next((one.chunk_id for one in chunks if one.start <= at and at + len(sentence) <= one.end), "")

    def inventory(self, reader: ReadScope, kind: str, limit: int) -> list[Hit]:
        """The first chunk of each document whose title, id or file name has the words of `kind`, by id.

        With kind "" the tenant's own documents, whatever they are. The tenant's own come before public ones.
        """
        words = kind.lower().split()
        hits: list[Hit] = []
        for where, space in self.visible(reader):
            for record in space.records():
                name = f"{record.title} {record.doc_id} {record.filename}".lower()
                fits = all(word in name for word in words) and (words or where != "public")
                if fits and (opening := space.opening(record.doc_id)):
                    hits.append(Hit(where, opening, record.doc_id, 1.0, 1.0, 1.0))
        own = [hit for hit in hits if hit.where != "public"]
        return (own or hits)[:limit]

    def mentioning(self, reader: ReadScope, what: str, limit: int) -> list[Hit]:
        """The chunks that hold every content word of `what`, best first; at most `limit` of each space, those that
        search by words puts first."""
        with self.reading(), ExitStack() as still:
            spaces = self.visible(reader)
            for _, space in spaces:
                still.enter_context(space.reading())
            words = content_words(what)
            hits = self._ranked(spaces, self.vector(what), words, sys.maxsize, (), limit) if words else []
        return [hit for hit in hits if hit.coverage == 1.0]

    def opening(self, reader: ReadScope, hit: Hit) -> str:
        """The first chunk of the document in which a hit lies; "" where it is gone meanwhile."""
        space = dict(self.visible(reader)).get(hit.where)
        return space.opening(hit.doc_id) if space else ""

    def section(self, reader: ReadScope, hit: Hit, limit: int) -> list[Hit]:
        """The chunks of the section in which a hit lies, subsections included, and the one after it with the rest of
        its section, as a list may go on there; all of a document of at most `limit`. In their order, each with the
        score of the hit."""
        space = dict(self.visible(reader)).get(hit.where)
        chunks = space.chunks(hit.doc_id) if space else []
        at = next((n for n, chunk in enumerate(chunks) if chunk.chunk_id == hit.chunk_id), None)
        if at is None:
            return []
        if len(chunks) <= limit:
            return [replace(hit, chunk_id=chunk.chunk_id) for chunk in chunks]
        first, last = at, min(at + 1, len(chunks) - 1)
        within = {(chunks[n].sheet, chunks[n].section) for n in (first, last)}

        def belongs(chunk: StoredChunk) -> bool:
            return any(
                chunk.sheet == sheet and f"{chunk.section}{SEPARATOR}".startswith(f"{path}{SEPARATOR}")
                for sheet, path in within
            )

        while last - first + 1 < limit and last + 1 < len(chunks) and belongs(chunks[last + 1]):
            last += 1
        while last - first + 1 < limit and first and belongs(chunks[first - 1]):
            first -= 1
        return [replace(hit, chunk_id=chunk.chunk_id) for chunk in chunks[first : last + 1]]

    def document(self, reader: ReadScope, hit: Hit) -> tuple[str, str, list[StoredChunk]]:
        """Title, text and chunks of the document of a hit; all empty where the reader does not see it."""
        space = dict(self.visible(reader)).get(hit.where)
        record = space.record(hit.doc_id) if space else None
        if space is None or record is None:
            return "", "", []
        return record.title, space.text(hit.doc_id), space.chunks(hit.doc_id)

    def numbered(self, reader: ReadScope, hit: Hit, fits: Callable[[str], bool]) -> list[Hit]:
        """The chunks of the document of a hit in which a section begins whose heading, else whose first line, `fits`.
        In their order, each with the score of the hit."""
        _, text, chunks = self.document(reader, hit)
        headed, lined = [], []
        for chunk in chunks:
            lines = text[chunk.start : chunk.end].split("\n")
            if any(line.startswith("#") and fits(line) for line in lines):
                headed.append(chunk)
            elif any(fits(line) for line in lines):
                lined.append(chunk)
        return [replace(hit, chunk_id=chunk.chunk_id) for chunk in headed or lined]

    def passages(
        self, reader: ReadScope, places: Collection[tuple[Where, str]], by: str
    ) -> dict[tuple[Where, str], Passage]:
        """As `Space.passages`, of the asker's spaces: by where a chunk lies, and its id. Only the guard calls this."""
        with self.reading():
            return {
                (where, chunk_id): passage
                for where, space in dict(self.visible(reader)).items()
                if (ids := [chunk_id for of, chunk_id in places if of == where])
                for chunk_id, passage in space.passages(ids, by).items()
            }

    def read(self, reader: ReadScope, question: str) -> spelling.Reading:
        """The question in the words of the asker's own and the public documents."""
        with self.reading(), ExitStack() as still:
            spaces = [space for _, space in self.visible(reader)]
            for space in spaces:
                still.enter_context(space.reading())
            return spelling.read(spaces, question)

    # -- search -------------------------------------------------------------------------------------------

    def vector(self, query: str) -> np.ndarray:
        """Of a query, made once in a turn. Ask for it before `reading`, so that the model does not run inside."""
        return once(self.embedder, self.embedder.query_prefix + query)

    def search(self, reader: ReadScope, query: str, limit: int, *, documents: Sequence[str] = ()) -> list[Hit]:
        """The best chunks for the query among those that the reader may see, best first.

        `documents` restricts the search to those ids. Equal questions on an equal corpus give equal lists: scores
        are rounded to 6 decimals and ties go by space and chunk id.
        """
        with self.reading(), ExitStack() as still:
            spaces = self.visible(reader)
            if all(space.empty() for _, space in spaces):
                return []
            vector = self.vector(query)
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
        candidates: int = CANDIDATES,
    ) -> list[Hit]:
        by_space = [(where, space.find(vector, words, candidates, documents)) for where, space in spaces]
        total = sum(result.chunks for _, result in by_space)
        rarity = {}
        for word in words:
            holding = sum(one.holding[word] for _, one in by_space)
            rarity[word] = math.log(1 + (total - holding + 0.5) / (holding + 0.5))
        weight = sum(rarity.values()) or 1.0
        hits = []
        for where, result in by_space:
            for near in result.candidates:
                covered = 0.0
                for word in words:  # in their order, always: a sum of floats hangs on it
                    covered += rarity[word] if word in near.words else 0.0
                coverage = covered / weight
                score = min(1.0, (max(0.0, near.cosine) + WORD_WEIGHT * coverage) / (1 + WORD_WEIGHT))
                rounded = round(score, 6), round(near.cosine, 6), round(coverage, 6)
                hits.append(Hit(where, near.chunk_id, near.doc_id, *rounded))
        hits.sort(key=lambda hit: (-hit.score, hit.where, hit.chunk_id))
        return hits[:limit]
