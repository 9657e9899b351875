"""Extensions: kinds of documents that are divided in a way of their own and add evidence of their own to a question.

An extension is a package with two modules, `splitter` (see Splitter) and `augmenter` (with a function of that name that
gives an Augmenter), and a line in PACKAGES. Whoever ingests a document says of which kind it is; "" is a document of no
special kind. Nothing else in graph/knowledge or nodes names an extension.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol, cast

import numpy as np

from graph.errors import BadInput
from graph.knowledge.chunking import Chunk, Count
from graph.knowledge.document import Document
from graph.knowledge.index import Hit, Where
from graph.stores.spaces import Space

PACKAGES = {
    "regulation": "graph.regulation",
}

NAMED_SCORE = 0.9  # of a passage that the question names
SECTION = "the rest of its section"  # why a passage is there that came with the section of another one
ROWS = "rows that count, of a long table"  # of a passage that was looked up in all of the table
SAYS = "one of the sections that say so"  # of a passage that was looked up in all of the document
PLACE = "another place that mentions it"  # of what a question looks for, behind the best


class Attachment(Protocol):
    """What is kept beside a document."""

    def save(self, space: Space) -> None:
        """Store it in a space that holds the document already, so that it goes when the document goes."""

    def report(self) -> str:
        """What was found of the document, in a line for whoever ingests it."""


def _nothing(doc_id: str, sha256: str, chunk_ids: Sequence[str], vectors: np.ndarray) -> None:
    """Most documents have nothing beside them."""


@dataclass(frozen=True)
class Split:
    """A document divided: its chunks, and what each is embedded and searched by.

    `attachment` is given the document's id, the hash of its file, the ids of the chunks and their vectors, float32
    (len(chunks), d) with rows of length 1.
    """

    chunks: Sequence[Chunk]
    words: Sequence[str]
    attachment: Callable[[str, str, Sequence[str], np.ndarray], Attachment | None] = _nothing


class Splitter(Protocol):
    """A module. `LOADER` names the one that reads files of the kind inside the sandbox (graph/knowledge/loaders), ""
    where they are read as any others."""

    LOADER: str

    def split(self, document: Document, count: Count, *, size: int, overlap: int) -> Split:
        """Chunks of at most `size` tokens, as `count` counts them."""

    def complete(self, space: Space, doc_id: str, sha256: str) -> bool:
        """Whether the space has all that belongs beside the document of this very file."""


Spaces = Sequence[tuple[Where, Space]]  # of one asker: its own and the public one


@dataclass(frozen=True)
class RankedHits:
    """Hits in the order they are to be shown, and why each came, by (where, chunk id). `whole` when they are all to be
    shown, whatever their number; `cut` when there may be more of what was looked for. `searched` are the best hits of
    the search, where others were put among them."""

    hits: list[Hit]
    why: dict[tuple[Where, str], str] = field(default_factory=dict)
    whole: bool = False
    cut: bool = False
    searched: list[Hit] = field(default_factory=list)


class Augmenter(Protocol):
    """Over the documents of a kind that one asker may read."""

    @property
    def depth(self) -> int:
        """How many hits of a search it weighs."""

    def augment(self, query: str, ranked: RankedHits, *, expand: bool, top_k: int) -> RankedHits:
        """What to show in place of `ranked`; `why` is of the hits that it added alone. With `expand` (the mode "graph")
        it may follow what passages depend on, within the tokens of the first `top_k`."""


def known(kind: str) -> str:
    """Raises BadInput when there is no such kind."""
    if kind and kind not in PACKAGES:
        raise BadInput(f"there is no kind of document {kind[:60]!r}.", hint=f"There are: {', '.join(PACKAGES)}.")
    return kind


def splitter(kind: str) -> Splitter:
    """Of documents of a kind. Raises BadInput when there is no such kind."""
    return cast(Splitter, import_module(f"{PACKAGES[kind] if known(kind) else 'graph.knowledge'}.splitter"))


def augmenters(spaces: Spaces, documents: Sequence[str] = ()) -> list[Augmenter]:
    """Of every kind of which the asker has documents; of `documents` alone when given."""
    made = (import_module(f"{package}.augmenter").augmenter(spaces, documents) for package in PACKAGES.values())
    return [one for one in made if one is not None]
