"""A space: the documents that all of a tenant reads, those that some groups of it share, or the public ones, and all
that search and spelling ask of them. graph.context.space_name names it.

Promises. Isolation: no statistic, rank or lock of a space hangs on another one. A write is whole or not at all, and is
durable when the call returns; a document changes as a whole, with its attachment and its original. Inside `reading` a
space stays as it stands, whatever others write. What was removed leaves no bytes behind once nobody reads any more.
Concurrency: threads may share a space, and other processes may read and write it at the same time. Errors:
IndexUnavailable where it cannot be read or written, with what to do.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from graph.knowledge.mentions import Name

MOST_ORIGINAL = 200 * 2**20  # bytes of a file that is kept as it came


@dataclass(frozen=True)
class Record:
    """What is known of a document. Times are UTC, ISO 8601; `expires` is "" when it is kept for good."""

    doc_id: str
    filename: str
    title: str
    sha256: str
    tenant_id: str  # whose it is; "public" for the shared corpus
    visibility: str  # private | public
    media_type: str
    size: int  # bytes
    chunks: int
    source: str  # path or URL it came from
    ingested: str
    retention: str = "permanent"
    expires: str = ""
    pii: bool = False
    flags: list[str] = field(default_factory=list)
    uploader: str = ""  # Principal.digest of who uploaded it; "" for the operator
    listed: bool = False  # a manifest's access list says who reads it, and may take it away again
    reading: int = 0  # which way of reading files made its text; 0 before they were counted
    groups: list[str] = field(default_factory=list)  # whose document it is, in order; none: all of the tenant's
    # What people said of sentences that the guard withholds, oldest first: `sha256` (withholding.digest),
    # `says` (released | confirmed), `by` and `at`. They stay when the document is ingested again, and go with it.
    decisions: list[dict[str, str]] = field(default_factory=list)
    folder: str = ""  # digest of the folder it came from (graph/knowledge/folders.py); "" for uploads and pages
    notes: list[str] = field(default_factory=list)  # what of the file was not read, a line each
    fields: list[list[str]] = field(default_factory=list)  # name and value of what it says of itself: owner, version
    stamp: str = ""  # what its source said of the file when it was read: another one once it changes; "" if nothing

    @property
    def released(self) -> frozenset[str]:
        """Digests of the sentences that are shown in spite of the guard."""
        last = {decision["sha256"]: decision["says"] for decision in self.decisions}
        return frozenset(sha256 for sha256, says in last.items() if says == "released")


@dataclass(frozen=True)
class StoredChunk:
    """A part of a document's text, as a half-open range of characters; pages count from 1."""

    chunk_id: str
    doc_id: str
    start: int
    end: int
    page: int | None
    sheet: str | None
    section: str
    places: str = ""  # pages and rows of its parts (graph/policy/evidence/places.py)


@dataclass(frozen=True)
class Passage:
    """A chunk with its raw text, and what its document is. `owner` is the name that the space itself
    has stored, `judged` what a guard found in the text, "" where that guard has not judged it."""

    record: Record
    chunk: StoredChunk
    text: str
    owner: str
    judged: str


@dataclass(frozen=True)
class ChunkCandidate:
    """A chunk that may be near the question. `words` are those of the question's that it holds."""

    chunk_id: str
    doc_id: str
    cosine: float
    words: frozenset[str]


@dataclass(frozen=True)
class SpaceHits:
    """What a space answers to a question: how many chunks there are in all and with each of its words, and the
    candidates, in no order."""

    chunks: int
    holding: dict[str, int]
    candidates: list[ChunkCandidate]


@dataclass(frozen=True)
class StoredAttachment:
    """A text that is kept with a document: the hash of the file that it was made of, and its length."""

    doc_id: str
    sha256: str
    length: int


@dataclass(frozen=True)
class Whole:
    """A document as `Space.put` took it: its words by chunk, its vectors float32 (len(chunks), d)."""

    record: Record
    text: str
    chunks: list[StoredChunk]
    vectors: np.ndarray
    words: list[str]
    judged: dict[str, tuple[str, str]]  # chunk id → which guard, what it found


class Words(Protocol):
    """The word index: words are compared by their stems (Porter's), texts are those that were indexed for a chunk."""

    def present(self, words: Sequence[str]) -> set[str]:
        """Those of the words that any chunk holds, in any of their inflections."""

    def stemmed(self, words: Sequence[str]) -> list[str]:
        """The stem of each word, as the word index has it."""

    def stems(self, start: str, shortest: int, longest: int) -> list[tuple[str, int]]:
        """Stems that begin with `start`, of so many characters, and how many chunks have each."""

    def counts(self, stems: Collection[str]) -> dict[str, int]:
        """How many chunks have each of these stems; those that none has are left out."""

    def holding(self, stem: str, limit: int) -> list[tuple[str, str]]:
        """Of the first chunks with a stem: until when the document may be used, and the text."""

    def matching(self, words: Sequence[str], limit: int, literal: str = "") -> list[list[tuple[str, str]]]:
        """For each word the same, of chunks that hold it in any inflection, and `literal` as it stands. A word may be
        several words in a row."""

    def beside(self, stem: str, others: Sequence[str]) -> int:
        """How many chunks, of the first 500 with the stem, hold one of the other words."""


class Space(Words, Protocol):
    """Documents, chunks and their vectors, under one name."""

    @property
    def name(self) -> str:
        """What it was made for, as the space itself says."""

    def reading(self) -> AbstractContextManager[None]:
        """The space as it stands now, for all that is read inside: a document that is put or removed meanwhile is
        seen by the next reader."""

    # -- documents ----------------------------------------------------------------------------------------

    def put(
        self, record: Record, text: str, chunks: Sequence[StoredChunk], vectors: np.ndarray, words: Sequence[str]
    ) -> None:
        """Store a document, replacing what its id held before, but for its decisions. All or nothing.

        `vectors` is float32 (len(chunks), d); `words` is what the word index reads for each chunk.
        """

    def change(self, doc_id: str, changed: Callable[[Record], Record]) -> None:
        """Replace a document's record by what `changed` makes of it; nothing happens when there is no such document."""

    def remove(self, doc_id: str) -> bool:
        """Forget a document, bytes included. False when there is none of that id."""

    def record(self, doc_id: str) -> Record | None:
        """What is known of a document; None when there is none of that id."""

    def records(self) -> list[Record]:
        """All documents, by id."""

    def whole(self, doc_id: str) -> Whole | None:
        """All of a document but its attachment and its original, of one moment."""

    def by_hash(self, sha256: str) -> list[Record]:
        """Documents that were made of a file of this hash, by id."""

    def text(self, doc_id: str) -> str:
        """ "" when there is none of that id."""

    def __hash__(self) -> int:
        """By identity: something may be kept for a space."""

    def count(self) -> tuple[int, int]:
        """Documents, chunks."""

    def empty(self) -> bool:
        """Whether there is no chunk."""

    def document_names(self) -> list[tuple[str, Name]]:
        """Id of every document and what people may call it."""

    def attach(self, doc_id: str, sha256: str, text: str) -> None:
        """Keep a text, made of a file of this hash, with a document that is there, in place of the one before; it goes
        when the document does."""

    def attachments(self) -> list[StoredAttachment]:
        """By document id. Cheap where there is none: it is asked with every question."""

    def attachment(self, doc_id: str) -> str:
        """The text kept with a document; "" when there is none."""

    def keep_original(self, doc_id: str, sha256: str, data: bytes) -> None:
        """Keep the file of this hash as it came, at most MOST_ORIGINAL bytes, with the document that was made of it; it
        goes when the document does, or is replaced. Nothing where there is no such document."""

    def has_original(self, doc_id: str) -> bool:
        """Whether `original` gives the file."""

    def original(self, doc_id: str) -> bytes:
        """The file kept with a document; b"" when there is none."""

    # -- chunks -------------------------------------------------------------------------------------------

    def chunk(self, chunk_id: str) -> StoredChunk | None:
        """None when there is none of that id."""

    def chunks(self, doc_id: str) -> list[StoredChunk]:
        """Of a document, in the order of its text."""

    def passages(self, chunk_ids: Sequence[str], by: str = "") -> dict[str, Passage]:
        """By id, all of one moment; chunks that are gone are left out. `by` names the guard whose judgement to give."""

    def judge(self, by: str, judgements: Mapping[str, str]) -> None:
        """Keep what the guard of this name found in each chunk, for `passages`. It takes the place of an earlier
        judgement and goes with the chunk. Chunks that are gone are passed over."""

    def opening(self, doc_id: str) -> str:
        """The id of the document's first chunk; "" when it has none."""

    def find(self, vector: np.ndarray, words: Sequence[str], limit: int, documents: Sequence[str] = ()) -> SpaceHits:
        """The `limit` nearest chunks by cosine, and the `limit` best for any of the words by BM25; with documents
        every chunk of these instead. Equal questions to an equal space give equal answers.

        Raises IndexUnavailable for a vector of another length.
        """


class Spaces(Protocol):
    """All spaces of one embedding model."""

    def space(self, name: str, *, create: bool = False) -> Space | None:
        """The space of that name (`"public"` for the shared one), or None when nothing was ever put there. The same
        object for every caller.

        Raises IndexUnavailable when it was made and is gone, or was embedded by another model.
        """

    def reading(self) -> AbstractContextManager[None]:
        """Around several calls of one thread: they may then see one moment, and take less time. It keeps nobody else
        waiting."""

    def names(self) -> list[str]:
        """Of all spaces, the public one included."""

    def audiences(self, tenant: str) -> list[str]:
        """The names of a tenant's spaces that some of its groups share, in order. Cheap where there is none, and
        whatever is wrong with one of them, it names the others: it is asked with every question."""

    def sync(self, name: str) -> None:
        """After documents came or went: bring what is kept beside the space, to search it faster, in step with it.

        Raises IndexUnavailable when that fails; the space itself answers all the same.
        """

    def drop(self, name: str, *, if_empty: bool = False) -> None:
        """Forget a space, bytes included, and all that is kept beside it. With `if_empty` only where it has no
        document; what another process puts there meanwhile is not lost where several may write."""

    def close(self) -> None:
        """Let go of what is open. The next use opens it again."""
