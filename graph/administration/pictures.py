"""Pages of documents as they look, for somebody whom an answer led there: the quote marked, and all that is masked or
withheld painted over, in the picture itself.

A picture is made of the file as it came (CORDON_KEEP_ORIGINALS), in a child process with limits, when it is asked for.
The latest are kept in memory for a while, by all that their looks hang on.
"""

import hashlib
import json
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph.administration.runs import last_of, run_of
from graph.context import Principal, valid_groups, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import Conflict, DocumentError, NotFound, Unavailable
from graph.knowledge.ingest import PDF
from graph.knowledge.sandbox import Child, Limits
from graph.policy import pii
from graph.policy.evidence import access, places, withholding
from graph.policy.evidence.judged import judge, judge_name, read
from graph.policy.evidence.on_page import PageText, marked, taken_out, united
from graph.policy.threats.detector import Detector
from graph.settings import Settings
from graph.stores.journal import Entry
from graph.stores.spaces import MOST_ORIGINAL, Record, Space

LIMITS = Limits(max_bytes=MOST_ORIGINAL, seconds=10.0, memory=2**30)
AT_ONCE, WAIT_S = 2, 10.0  # pictures made at the same time, and how long another one waits
KEPT_BYTES, KEPT_S = 16 * 2**20, 600.0  # of pictures in memory
_NEAR = 3  # characters: parts of a page with fewer between them are one
AROUND = 300  # characters before and behind a page's text that masking reads with it


@dataclass(frozen=True)
class Picture:
    """`png`: at most 2.5 million pixels. `mark`: how far down the quote begins on it, 0 to 1; None where it does not
    stand there. `pages` of the document."""

    png: bytes
    mark: float | None
    pages: int


@dataclass(frozen=True)
class _Looks:
    """What is taken out of a document's pictures."""

    keep: pii.Public
    detector: Detector | None


class Drawer(Child):
    work = "graph.knowledge.page_drawing"


class Pictures:
    """Each call names who asks."""

    settings: Settings
    deps: Deps

    def page_picture(
        self,
        doc_id: str,
        page: int,
        *,
        run_id: str,
        citation: int,
        tenant_id: str,
        user_id: str,
        groups: Collection[str] = (),
    ) -> Picture:
        """A page (from 1) of the document that a citation of a run of one's own quotes.

        Raises NotFound for a run that is not the asker's, a citation it does not have, and a document that is not there
        or not for the asker any more; Conflict when the document was replaced since; DocumentError, with a short
        reason, where there is no picture to be had; Unavailable when too many are being made.
        """
        asker = Principal(valid_tenant(tenant_id), valid_id(user_id, "user"), groups=valid_groups(groups))
        run = last_of(self.deps.journal, run_of(self.deps.journal, asker.tenant_id, run_id, asker.user_id))
        cited = run["cited"][citation - 1] if 1 <= citation <= len(run["cited"]) else {}
        if cited.get("doc_id") != doc_id:
            raise NotFound(
                f"there is no citation {citation} of {doc_id[:80]!r} in this run.", hint="A reply names them."
            )
        space, record = self._cited(asker, run, cited)
        if record.sha256 != cited["sha256"]:
            raise Conflict("the document was replaced since the answer.", hint="Ask again, or read its text.")
        if record.media_type != PDF:
            raise DocumentError("unsupported", "pictures are made of PDF files alone", hint="Read the text instead.")
        detector = self.deps.detector
        reads = detector if detector is not None and detector.documents else None
        looks = _Looks(self.deps.public.for_tenant(asker.tenant_id, record.visibility), reads)
        digest = reads.digest if reads else ""
        looked = (space.name, doc_id, record.sha256, record.ingested, page, cited["start"], cited["end"])
        name = repr((*looked, sorted(record.released), looks.keep, judge_name(), digest))
        key = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        if cached := self._kept.get(key):
            return cached
        with self._kept.making():
            made = _made(space, record, page, (cited["start"], cited["end"]), looks)
        self._kept.put(key, made)
        return made

    def _cited(self, asker: Principal, run: Entry, cited: dict[str, Any]) -> tuple[Space, Record]:
        """The document where the run found it, if the asker may still read it there."""
        where = {one["chunk_id"]: one.get("where") for one in run["retrieved"]}.get(cited["chunk_id"])
        for name, space in self.deps.index.visible(asker.reader):
            record = space.record(cited["doc_id"]) if name == where else None
            if record and not access.denied(asker, space.name, record.visibility, record.expires, record.groups):
                return space, record
        raise NotFound("the document is not there any more.", hint="`cordon docs list` shows what there is.")

    @cached_property
    def _kept(self) -> "PictureCache":
        return PictureCache()


def _made(space: Space, record: Record, page: int, quote: tuple[int, int], looks: _Looks) -> Picture:
    with space.reading():
        data, text, chunks = space.original(record.doc_id), space.text(record.doc_id), space.chunks(record.doc_id)
        here = [
            (chunk, ranges)
            for chunk in chunks
            if (ranges := places.on_page(chunk.page, chunk.places, chunk.end - chunk.start, page))
        ]
        passages = space.passages([chunk.chunk_id for chunk, _ in here], judge_name())
    if not data:
        raise DocumentError("no_original", "the file of this document is not kept", hint="Read the text instead.")
    stands = [(chunk.start + start, chunk.start + end) for chunk, ranges in here for start, end in ranges]
    values, sentences = _taken(text, stands, looks.keep), list[str]()
    for chunk, _ in here:
        passage = passages[chunk.chunk_id]
        stored = looks.detector is None and passage.judged
        judged = read(passage.judged) if stored else judge(passage.text, looks.detector)
        masked = pii.mask(passage.text, keep=looks.keep, personal=judged.personal).spans
        values += _within(text, stands, [(chunk.start + span.start, chunk.start + span.end) for span in masked])
        shut = withholding.unreleased(passage.text, judged.orders, record.released)
        sentences += _within(text, stands, [(chunk.start + start, chunk.start + end) for start, end in shut])
    with Drawer(LIMITS) as drawer:
        page_text = json.loads(drawer.ask({"do": "text", "page": page}, data, record.doc_id))
        letters = PageText(page_text["codes"])
        black = taken_out(letters, set(values), set(sentences), looks.keep, record.released, looks.detector)
        parts = _within(text, stands, [quote])
        begins = min((start for start, _ in stands), default=0)
        yellow = [
            place for part in parts for place in marked(letters, part, text.count(part, begins, max(quote[0], begins)))
        ]
        made = drawer.ask({"do": "picture", "black": black, "marked": yellow}, b"", record.doc_id)
    (mark,) = struct.unpack(">d", made[:8])
    return Picture(made[8:], mark if mark >= 0 else None, page_text["pages"])


def _taken(text: str, stands: list[tuple[int, int]], keep: pii.Public) -> list[str]:
    """What masking takes out of the page's text, read as a whole."""
    if not stands:
        return []
    first, last = max(min(stands)[0] - AROUND, 0), max(end for _, end in stands) + AROUND
    spans = pii.mask(text[first:last], keep=keep).spans
    return _within(text, stands, [(first + span.start, first + span.end) for span in spans])


def _within(text: str, stands: list[tuple[int, int]], ranges: list[tuple[int, int]]) -> list[str]:
    """Of these ranges what stands on the page. Chunks overlap: each part of the page counts once."""
    cut = {(max(a, start), min(b, end)) for start, end in ranges for a, b in united(stands, _NEAR)}
    return [text[start:end] for start, end in sorted(cut) if start < end]


class _Making:
    """At most AT_ONCE at the same time. Raises Unavailable for who would wait too long."""

    def __init__(self) -> None:
        self._free = threading.BoundedSemaphore(AT_ONCE)

    def __enter__(self) -> None:
        if not self._free.acquire(timeout=WAIT_S):
            raise Unavailable("too many pictures of pages are being made.", hint="Try again in a moment.")

    def __exit__(self, *_: object) -> None:
        self._free.release()


class PictureCache:
    """The latest pictures, at most KEPT_BYTES of them and none longer than KEPT_S. Threads may share it."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[str, tuple[float, Picture]] = OrderedDict()
        self._lock, self._making = threading.Lock(), _Making()

    def making(self) -> _Making:
        return self._making

    def get(self, key: str) -> Picture | None:
        with self._lock:
            self._drop(time.monotonic() - KEPT_S)
            found = self._pictures.get(key)
            return found[1] if found else None

    def put(self, key: str, picture: Picture) -> None:
        with self._lock:
            self._pictures[key] = (time.monotonic(), picture)
            self._drop(time.monotonic() - KEPT_S)

    def forget(self) -> None:
        with self._lock:
            self._pictures.clear()

    def bytes(self) -> int:
        return sum(len(picture.png) for _, picture in self._pictures.values())

    def _drop(self, before: float) -> None:
        while self._pictures and (next(iter(self._pictures.values()))[0] < before or self.bytes() > KEPT_BYTES):
            self._pictures.popitem(last=False)
