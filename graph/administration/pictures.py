"""Pages of documents as they look, for somebody whom an answer led there: the quote marked, and all that is masked or
withheld painted over, in the picture itself.

A picture is made of the file as it came (CORDON_KEEP_ORIGINALS), in a child process with limits, when it is asked for;
of other files than PDFs as LibreOffice lays them out. The latest are kept in memory for a while, under
all that decides how they look.
"""

import hashlib
import json
import struct
import threading
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph.administration.drawers import Drawer, Drawers
from graph.administration.laid_out import LaidOut, lay_out
from graph.administration.painted_over import Looks, hidden, masked_around, within
from graph.administration.recent import Recent
from graph.administration.runs import last_of, run_of
from graph.context import Principal, valid_groups, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import Conflict, DocumentError, NotFound, Quarantined, Unavailable
from graph.knowledge import office
from graph.knowledge.ingest import PDF
from graph.policy.evidence import access, places
from graph.policy.evidence.judged import judge_name
from graph.policy.evidence.on_page import PageText, Range, marked, taken_out, united
from graph.settings import Settings
from graph.stores.journal import Entry
from graph.stores.spaces import Record, Space

AT_ONCE, WAIT_S = 2, 10.0  # pictures made at the same time, and how long another one waits
KEPT_BYTES, KEPT_S = 16 * 2**20, 600.0  # of pictures in memory
KEPT_PDF_BYTES = 64 * 2**20  # of documents that were laid out


@dataclass(frozen=True)
class Picture:
    """`png`: at most 2.5 million pixels. `mark`: how far down the quote begins on it, 0 to 1; None where it does not
    stand there. `page`, from 1, of the `pages` of the document."""

    png: bytes
    mark: float | None
    page: int
    pages: int


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
        """A page (from 1; 0 is the one on which the quote stands, of other documents than PDFs) of the document that a
        citation of a run of one's own quotes.

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
        detector = self.deps.detector
        reads = detector if detector is not None and detector.documents else None
        looks = Looks(self.deps.public.for_tenant(asker.tenant_id, record.visibility), reads, record.released)
        digest = reads.digest if reads else ""
        document = (space.name, doc_id, record.sha256, record.ingested, sorted(record.released), looks.keep)
        mask = (judge_name(), digest)
        quote = (cited["start"], cited["end"])
        key = _key(document, mask, page, quote)
        if cached := self._pictures.get(key):
            return cached
        laid_out = None if record.media_type == PDF else self._laid_out(space, record, looks, _key(document, mask))
        with self._making, self.drawers.new() as drawer:
            if laid_out is None:
                picture = _of_pdf(space, record, page, quote, looks, drawer)
            else:
                picture = _of_laid_out(laid_out, record, page, quote, looks, drawer)
        self._pictures.put(key, picture)
        return picture

    def _laid_out(self, space: Space, record: Record, looks: Looks, key: str) -> LaidOut:
        drawable = record.media_type in office.KINDS
        binary = office.program(self.settings.libreoffice) if drawable else None
        if binary is None:
            why = "need LibreOffice on the server" if drawable else "are not made of this format"
            raise DocumentError("unsupported", f"pictures of its pages {why}", hint="Read the text instead.")
        with self._laying_out:
            if cached := self._pdfs.get(key):
                return cached
            document = lay_out(space, record, _original(space, record), looks, binary, self._letters)
            self._pdfs.put(key, document)
        return document

    def _letters(self, pdf: bytes) -> list[list[int]]:
        with self.drawers.new() as drawer:
            codes: list[list[int]] = json.loads(drawer.ask({"do": "letters"}, pdf, "the document"))
        return codes

    def _cited(self, asker: Principal, run: Entry, cited: dict[str, Any]) -> tuple[Space, Record]:
        """The document where the run found it, if the asker may still read it there."""
        where = {one["chunk_id"]: one.get("where") for one in run["retrieved"]}.get(cited["chunk_id"])
        for name, space in self.deps.index.visible(asker.reader):
            record = space.record(cited["doc_id"]) if name == where else None
            if record and not access.denied(asker, space.name, record.visibility, record.expires, record.groups):
                return space, record
        raise NotFound("the document is not there any more.", hint="`cordon docs list` shows what there is.")

    @cached_property
    def drawers(self) -> Drawers:
        """Those that read and draw the pages."""
        return Drawers()

    @cached_property
    def _pictures(self) -> Recent[Picture]:
        return Recent(lambda picture: len(picture.png), lambda: KEPT_BYTES, KEPT_S)

    @cached_property
    def _pdfs(self) -> Recent[LaidOut]:
        return Recent(lambda laid_out: laid_out.bytes, lambda: KEPT_PDF_BYTES, KEPT_S)

    @cached_property
    def _making(self) -> "_Making":
        return _Making(AT_ONCE, WAIT_S)

    @cached_property
    def _laying_out(self) -> "_Making":
        return _Making(1, office.WAIT_S)


def _key(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _original(space: Space, record: Record) -> bytes:
    data = space.original(record.doc_id)
    if not data:
        raise DocumentError("no_original", "the file of this document is not kept", hint="Read the text instead.")
    return data


def _of_pdf(space: Space, record: Record, page: int, quote: Range, looks: Looks, drawer: Drawer) -> Picture:
    with space.reading():
        data, text, chunks = _original(space, record), space.text(record.doc_id), space.chunks(record.doc_id)
        on_page = [
            (chunk, ranges)
            for chunk in chunks
            if (ranges := places.on_page(chunk.page, chunk.places, chunk.end - chunk.start, page))
        ]
        passages = space.passages([chunk.chunk_id for chunk, _ in on_page], judge_name())
    parts = [(chunk.start + start, chunk.start + end) for chunk, ranges in on_page for start, end in ranges]
    taken = hidden(text, [chunk for chunk, _ in on_page], passages, parts, looks)
    values = set(taken.values)
    if parts:
        values |= set(masked_around(text, min(parts)[0], max(end for _, end in parts), parts, looks.keep))
    page_text = json.loads(drawer.ask({"do": "text", "page": page}, data, record.doc_id))
    letters = PageText(page_text["codes"])
    black = taken_out(letters, values, set(taken.sentences), looks.keep, looks.released, looks.detector)
    begins = min((start for start, _ in parts), default=0)
    yellow = [
        place
        for part in within(text, parts, [quote])
        for place in marked(letters, part, text.count(part, begins, max(quote[0], begins)))
    ]
    return _drawn(drawer, record, black, yellow, page, page_text["pages"])


def _of_laid_out(document: LaidOut, record: Record, page: int, quote: Range, looks: Looks, drawer: Drawer) -> Picture:
    yellow = document.marked(quote)
    page = page or document.page_of(yellow) or 0
    if not page:
        raise Quarantined("page", "the page with the quote was not found", hint="Read the text instead.")
    page_text = json.loads(drawer.ask({"do": "text", "page": page}, document.pdf, record.doc_id))
    letters = PageText(page_text["codes"])
    black = taken_out(letters, (), (), looks.keep, looks.released, looks.detector)
    black = united([*black, *document.of_page(page, document.black)])
    return _drawn(drawer, record, black, document.of_page(page, yellow), page, page_text["pages"])


def _drawn(drawer: Drawer, record: Record, black: list[Range], yellow: list[Range], page: int, pages: int) -> Picture:
    data = drawer.ask({"do": "picture", "black": black, "marked": yellow}, b"", record.doc_id)
    (mark,) = struct.unpack(">d", data[:8])
    return Picture(data[8:], mark if mark >= 0 else None, page, pages)


class _Making:
    """Lets so many in at the same time. Raises Unavailable for one that would wait too long."""

    def __init__(self, at_once: int, wait_s: float) -> None:
        self._free, self._wait_s = threading.BoundedSemaphore(at_once), wait_s

    def __enter__(self) -> None:
        if not self._free.acquire(timeout=self._wait_s):
            raise Unavailable("too many pictures of pages are being made.", hint="Try again in a moment.")

    def __exit__(self, *_: object) -> None:
        self._free.release()
