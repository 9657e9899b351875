"""From files to the index: read, parse in a child process, inspect, chunk, embed, store. Idempotent by content hash."""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np

from graph.context import PUBLIC, space_name, valid_tenant, whose
from graph.errors import BadInput, CordonError, DocumentError, Unavailable
from graph.knowledge import extensions, folders, office, standing
from graph.knowledge.document import Document
from graph.knowledge.embeddings import Embedder
from graph.knowledge.extensions import Splitter
from graph.knowledge.grants import withdraw
from graph.knowledge.index import Index
from graph.knowledge.sandbox import Limits, Parser, file_bytes
from graph.policy import pii
from graph.policy.evidence.judged import judge, judge_name, written
from graph.policy.threats.planted import Margins
from graph.settings import Settings
from graph.stores.spaces import MOST_ORIGINAL, Record, StoredChunk

# "removed" and "missing" are of documents whose file is gone from its folder: with and without `sync`; "moved" is of
# one whose file has another name there (graph/knowledge/sync.py).
Status = Literal["indexed", "unchanged", "quarantined", "failed", "removed", "missing", "moved"]
_RETENTION = re.compile(r"(?:retain_)?(\d{1,4})([dmy])")
_AT_ONCE = 64  # chunks
# Of files: one more whenever texts or chunks come out otherwise, so that the next ingestion reads everything again.
READING = 14
PDF = "application/pdf"
DRAWN = {PDF, *office.KINDS}  # media types of files whose pages can be shown
_DAYS = {"d": 1, "m": 30, "y": 365}


@dataclass(frozen=True)
class Source:
    """A file to ingest, and for whom. `spaces` are names (graph.context.space_name): tenants, groups, `public`."""

    path: Path
    name: str  # as people know it
    spaces: tuple[str, ...]
    tenant_id: str
    doc_id: str = ""  # "" lets ingestion choose one from the name
    pii: bool = False  # said to hold personal data; if not, it is looked for
    retention: str = "permanent"
    origin: str = ""  # URL, when it came from one
    kind: str = ""  # of document, where an extension divides it (graph/knowledge/extensions.py)
    uploader: str = ""  # Principal.digest of who uploads it; "" for the operator
    replaces: bool = True  # whether it may take the place of a document that somebody else brought
    listed: bool = False  # `spaces` is all who may read it, as a manifest's access list says
    within: Path | None = None  # the directory that was named: a link in it must not lead out of it
    folder: str = ""  # digest of that directory, or of the one that a file named by itself is in
    data: bytes | None = field(default=None, repr=False)  # what is in it, where it was read already
    stamp: str = ""  # Record.stamp


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    name: str
    doc_id: str
    status: Status
    reason: str = ""
    chunks: int = 0
    flags: list[str] = field(default_factory=list)
    replaced: bool = False  # a document of that id was there before
    notes: list[str] = field(default_factory=list)  # what of the file was not read, a line each


# Flags of a document, for example planted_instructions; margins of its sentences are kept for judging its passages.
Inspect = Callable[[Document, Margins], list[str]]
# Reads sources in other processes, each with a `LocalIngestor`. Gives the place of a source in the list and what became
# of it, as they come.
Readers = Callable[[Sequence[Source]], Iterable[tuple[int, Outcome]]]


def ingest(
    sources: Sequence[Source],
    index: Index,
    settings: Settings,
    *,
    inspect: Inspect,
    progress: Callable[[Outcome], None] = lambda outcome: None,
    readers: Readers | None = None,
) -> list[Outcome]:
    """Index every source; one outcome each, in order. A file that cannot be read never stops the others.

    Raises Unavailable when the index itself fails: what was stored before stands.
    """
    outcomes: dict[int, Outcome] = {}
    tenants = {whose(name)[0]: None for source in sources for name in source.spaces}
    touched = {name: None for t in tenants for name in (t, *index.spaces.audiences(t)) if purge(index, name)}
    left = withdraw({s.doc_id: s.spaces for s in sources if s.listed}, index)  # before anything that may take long
    touched |= {name: None for names in left.values() for name in names}
    try:
        for at, outcome in (readers or LocalIngestor(index, settings, inspect))(sources):
            source = sources[at]
            if outcome.status == "indexed":
                touched |= dict.fromkeys(source.spaces)
            if source.doc_id in left:
                gone = f"withdrawn from {', '.join(left[source.doc_id])}"
                outcome = replace(outcome, reason="; ".join(filter(None, [outcome.reason, gone])))
            outcomes[at] = outcome
            progress(outcome)
    finally:
        for name in touched:
            index.spaces.sync(name)
    return [outcomes[at] for at in range(len(sources))]


class LocalIngestor:
    """Reads sources in this process, one after the other. Not for two threads at once; close it."""

    def __init__(self, index: Index, settings: Settings, inspect: Inspect) -> None:
        self._index, self._settings, self._inspect = index, settings, inspect
        self._parser = Parser(Limits(max_bytes=settings.max_file_mb * 2**20, seconds=settings.parse_seconds))
        self._for: tuple[tuple[str, ...], str] | None = None

    def __call__(self, sources: Sequence[Source]) -> Iterator[tuple[int, Outcome]]:
        try:
            for at, source in enumerate(sources):
                yield at, self.read(source)
        finally:
            self.close()

    def read(self, source: Source) -> Outcome:
        """What became of one source. Raises Unavailable."""
        if self._for != (now := (source.spaces, source.uploader)):
            self.close()  # a child taken over by one's file must not see another's
            self._for = now
        return _one(source, self._index, self._settings, self._parser, self._inspect)

    def close(self) -> None:
        """End the child process; the next source starts another."""
        self._parser.close()


def purge(index: Index, name: str) -> list[str]:
    """Remove the documents of a space whose retention has run out; their ids. Search leaves them out before that."""
    space = index.space(name)
    gone = [record.doc_id for record in space.records() if expired(record)] if space else []
    for doc_id in gone:
        index.remove(name, doc_id, "expired")
    return gone


def _one(source: Source, index: Index, settings: Settings, parser: Parser, inspect: Inspect) -> Outcome:
    try:
        data = contents(source, settings)
        sha256 = hashlib.sha256(data).hexdigest()
        doc_id, id_beside = source.doc_id, ""
        if not doc_id:
            source, doc_id, id_beside = _identified(source, index)
        retention, _ = expiry(source.retention)
        splitter = extensions.splitter(source.kind)
        todo = [s for s in source.spaces if not _unchanged(index, s, source, splitter, doc_id, sha256, retention)]
        for name in source.spaces:
            if name not in todo:
                judge_again(index, name, doc_id)
                _keep(index, name, doc_id, sha256, data, settings)
        if not todo:
            return Outcome(source.name, doc_id, "unchanged")
        if not source.doc_id and not source.kind and (twin := _twin(index, todo, sha256, source.name)):
            return Outcome(source.name, twin, "unchanged", f"same content as {twin}")
        if not source.replaces and any(_elses(index, space, source, doc_id) for space in todo):
            raise BadInput("a document of that name is somebody else's: give yours another name, or ask an admin.")
        document = parser.parse_bytes(data, source.name, loader=splitter.LOADER)
        elsewhere = ""
        if id_beside:
            if all(folders.versions_of_one(document.text, text) for text in _texts(index, source.spaces, doc_id)):
                elsewhere = "in place of the one of that name from another folder"
            else:
                source, doc_id = _beside(source), id_beside
                elsewhere = "kept beside the one of that name from another folder"
        outcome = _put(_Read(source, doc_id, sha256, data, document), todo, index, settings, inspect)
        remarks = [elsewhere, outcome.reason, _open_too(index, source.spaces, sha256)]
        return outcome if outcome.status != "indexed" else replace(outcome, reason="; ".join(filter(None, remarks)))
    except Unavailable:
        raise
    except CordonError as error:
        return refused(source, error)


@dataclass(frozen=True)
class _Read:
    """A file that was read, and the id that its document gets."""

    source: Source
    doc_id: str
    sha256: str
    data: bytes
    document: Document

    def record(self, space: str, chunks: int, personal: bool, flags: list[str]) -> Record:
        """As it stands in the space of this name. Raises BadInput for a retention that cannot be read."""
        source, document = self.source, self.document
        retention, expires = expiry(source.retention)
        return Record(
            doc_id=self.doc_id,
            filename=source.name,
            title=document.title or source.name,
            sha256=self.sha256,
            tenant_id=source.tenant_id,
            visibility=PUBLIC if space == PUBLIC else "private",
            media_type=document.media_type,
            size=len(self.data),
            chunks=chunks,
            source=source.origin or source.name,
            ingested=datetime.now(UTC).isoformat(timespec="seconds"),
            retention=retention,
            expires=expires,
            pii=source.pii or personal,
            flags=flags,
            uploader=source.uploader,
            listed=source.listed,
            reading=READING,
            groups=sorted(whose(space)[1]),
            folder=source.folder,
            notes=list(document.notes),
            fields=[list(pair) for pair in (*document.fields, *standing.fields(document.text))],
            stamp=source.stamp,
        )


def _put(read: _Read, spaces: Sequence[str], index: Index, settings: Settings, inspect: Inspect) -> Outcome:
    """Judge, cut and embed a document, and put it into these spaces."""
    source, doc_id, document = read.source, read.doc_id, read.document
    known: Margins = {}
    flags = inspect(document, known)
    if flags and settings.planted == "quarantine":
        return Outcome(source.name, doc_id, "quarantined", ", ".join(flags), flags=flags)
    size, overlap = settings.chunk_tokens, settings.chunk_overlap
    split = extensions.splitter(source.kind).split(document, index.embedder.count, size=size, overlap=overlap)
    chunks = [
        StoredChunk(f"{doc_id}_{n}", doc_id, c.start, c.end, c.page, c.sheet, c.section, c.places)
        for n, c in enumerate(split.chunks)
    ]
    vectors = _embedded(index.embedder, split.words)
    judged = {c.chunk_id: judge(document.text[c.start : c.end], known=known) for c in chunks}
    judgements = {chunk_id: written(judgement) for chunk_id, judgement in judged.items()}
    personal = any(judgement.personal for judgement in judged.values())
    attachment = split.attachment(doc_id, read.sha256, [c.chunk_id for c in chunks], vectors)
    replaced = False
    for name in spaces:
        record = read.record(name, len(chunks), personal, flags)
        replaced |= index.put(name, record, document.text, chunks, vectors, split.words)
        space = index.space(name)
        assert space is not None
        space.judge(judge_name(), judgements)
        _keep(index, name, doc_id, read.sha256, read.data, settings)
        if attachment:
            attachment.save(space)
    reason = attachment.report() if attachment else ""
    return Outcome(source.name, doc_id, "indexed", reason, len(chunks), flags, replaced, list(document.notes))


def refused(source: Source, error: CordonError) -> Outcome:
    """Quarantined, with the reason, for a DocumentError; failed for any other."""
    if isinstance(error, DocumentError):
        return Outcome(source.name, source.doc_id, "quarantined", f"{error.reason}: {error}")
    return Outcome(source.name, source.doc_id, "failed", str(error))


def contents(source: Source, settings: Settings) -> bytes:
    """The bytes of the file. Raises DocumentError and BadInput."""
    if source.data is not None:
        return source.data
    if source.within is not None and not source.path.resolve().is_relative_to(source.within.resolve()):
        raise DocumentError("outside", "it is a link that leads out of the directory.")
    return file_bytes(source.path, source.name, settings.max_file_mb * 2**20)


def _unchanged(
    index: Index, name: str, source: Source, splitter: Splitter, doc_id: str, sha256: str, retention: str
) -> bool:
    space = index.space(name)
    record = space.record(doc_id) if space else None
    if space is None or record is None or record.reading != READING or not splitter.complete(space, doc_id, sha256):
        return False
    if source.pii and not record.pii:  # personal data that was found in it stays noted
        return False
    wanted = (sha256, retention, source.tenant_id, source.name, source.listed)
    return (record.sha256, record.retention, record.tenant_id, record.filename, record.listed) == wanted


def _elses(index: Index, name: str, source: Source, doc_id: str) -> bool:
    space = index.space(name)
    record = space.record(doc_id) if space else None
    return record is not None and record.uploader != source.uploader


def _twin(index: Index, spaces: Sequence[str], sha256: str, name: str) -> str:
    """Another document of the same content in every one of the spaces, or ""."""
    twins = [
        next((r.doc_id for r in space.by_hash(sha256) if r.filename != name), "")
        for one in spaces
        if (space := index.space(one))
    ]
    return twins[0] if len(twins) == len(spaces) and all(twins) else ""


def _open_too(index: Index, spaces: Sequence[str], sha256: str) -> str:
    """What to say where a document is for groups and its content for all of the tenant as well."""
    tenants = [tenant for tenant, groups in map(whose, spaces) if groups]
    shared = [space for tenant in tenants if (space := index.space(tenant))]
    doc_ids = [record.doc_id for space in shared for record in space.by_hash(sha256)]
    return f"all of the tenant can read the same content, as {doc_ids[0]}" if doc_ids else ""


def _choose_id(source: Source, index: Index) -> str:
    """The file's stem as an id. A second file of the same stem in the space gets a suffix from its name."""
    base, personal = base_id(source.name)
    if personal:
        return distinct_id(base, source.name)
    for name in source.spaces:
        space = index.space(name)
        record = space.record(base) if space else None
        if record is not None and record.filename != source.name:
            return distinct_id(base, source.name)
    return base


def distinct_id(base: str, by: str) -> str:
    """`base` with six hexadecimal digits behind it, which depend on `by`."""
    return f"{base}_{hashlib.sha256(by.encode('utf-8', 'replace')).hexdigest()[:6]}"


def _identified(source: Source, index: Index) -> tuple[Source, str, str]:
    """The source under the name that is its own, its id, and the id that it would have beside a document of the same
    name and id that came from another folder: "" where there is none."""
    base, _ = base_id(source.name)
    id_beside = distinct_id(base, f"{source.folder} {source.name}")
    spaces = [space for name in source.spaces if (space := index.space(name))]
    if source.folder and any(space.record(id_beside) for space in spaces):
        return _beside(source), id_beside, ""
    doc_id = _choose_id(source, index)
    places = {record.folder for space in spaces if (record := space.record(doc_id))}
    return source, doc_id, id_beside if source.folder and places - {"", source.folder} else ""


def _beside(source: Source) -> Source:
    """The source under a name that begins with its folder's."""
    folder = (source.within or source.path.parent).absolute().name
    return replace(source, name=printable(f"{folder}/{source.name}"))


def _texts(index: Index, spaces: Sequence[str], doc_id: str) -> list[str]:
    return [text for name in spaces if (space := index.space(name)) and (text := space.text(doc_id))]


def base_id(name: str) -> tuple[str, bool]:
    """What a document's id begins with, and whether its name told of a person: an id stands in logs and records."""
    masked = pii.mask(Path(name).stem)
    bare = masked.text.replace("[REDACTED]", " ")
    plain = unicodedata.normalize("NFKD", bare).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_")[:60] or "document", bool(masked.spans)


def _embedded(embedder: Embedder, words: Sequence[str]) -> np.ndarray:
    """A row for each text, in portions. What a file repeats is embedded once."""
    different = list(dict.fromkeys(words))
    portions = [embedder.embed(different[at : at + _AT_ONCE]) for at in range(0, max(len(different), 1), _AT_ONCE)]
    row = {text: number for number, text in enumerate(different)}
    return np.concatenate(portions)[[row[text] for text in words]]


def judge_again(index: Index, name: str, doc_id: str) -> None:
    """Judge a document that stays, where its judgement is of another guard: an earlier version, or another level."""
    space = index.space(name)
    opening = space.passages([space.opening(doc_id)], judge_name()) if space else {}
    if space and not any(passage.judged for passage in opening.values()):
        text, known = space.text(doc_id), Margins()
        judged = {c.chunk_id: judge(text[c.start : c.end], known=known) for c in space.chunks(doc_id)}
        space.judge(judge_name(), {chunk_id: written(judgement) for chunk_id, judgement in judged.items()})


def _keep(index: Index, name: str, doc_id: str, sha256: str, data: bytes, settings: Settings) -> None:
    """The file as it came, where pages of it can be shown and it is not kept yet."""
    space = index.space(name)
    record = space.record(doc_id) if space else None
    wanted = settings.keep_originals and record is not None and record.media_type in DRAWN
    if space and wanted and len(data) <= MOST_ORIGINAL and not space.has_original(doc_id):
        space.keep_original(doc_id, sha256, data)


def expiry(policy: str, today: datetime | None = None) -> tuple[str, str]:
    """(policy, UTC time from which the document may no longer be used) of `retain_3y`, `retain_90d`, `permanent`.

    Raises BadInput for anything else: a retention that is not understood must not mean "for ever".
    """
    policy = policy.strip().lower() or "permanent"
    if policy == "permanent":
        return policy, ""
    match = _RETENTION.fullmatch(policy)
    if match is None:
        raise BadInput(f"retention policy {policy!r} is not permanent, retain_<n>d, retain_<n>m or retain_<n>y.")
    days = int(match[1]) * _DAYS[match[2]]
    return policy, ((today or datetime.now(UTC)) + timedelta(days=days)).isoformat(timespec="seconds")


def expired(record: Record, now: datetime | None = None) -> bool:
    """Whether its retention has run out by `now`, or by this moment."""
    return bool(record.expires) and record.expires <= (now or datetime.now(UTC)).isoformat(timespec="seconds")


def files(paths: Sequence[Path], tenant: str, *, groups: Collection[str] = (), kind: str = "") -> Iterator[Source]:
    """A source for every file named, and for every file below a directory named: hidden ones left out, links to
    directories not followed, and links to files only where they stay below it. A link that is named itself is meant.
    For all of the tenant, or for some of its groups."""
    tenant = PUBLIC if tenant == PUBLIC else valid_tenant(tenant)
    space = space_name(tenant, groups)
    for path in paths:
        if not folders.is_folder(path):
            place = folders.digest(path.parent) if folders.is_folder(path.parent) else ""
            yield Source(path, printable(path.name), (space,), tenant, kind=kind, folder=place)
            continue
        place = folders.digest(path)
        for file in folders.listed(path):
            name = printable(str(file.relative_to(path)))
            yield Source(file, name, (space,), tenant, kind=kind, within=path, folder=place)


def recognised(sources: Sequence[Source], index: Index) -> list[Source]:
    """Sources with the ids of the documents that came from the same files: one that moved kept that of its old name."""
    ids = {
        (name, record.folder, record.filename): record.doc_id
        for name in {name for source in sources for name in source.spaces}
        if (space := index.space(name))
        for record in space.records()
        if record.folder
    }
    return [replace(source, doc_id=ids.get((source.spaces[0], source.folder, source.name), "")) for source in sources]


def printable(name: str) -> str:
    """A file's name may hold bytes that are no text, and one name may be written in two forms of Unicode."""
    return unicodedata.normalize("NFC", name.encode("utf-8", "backslashreplace").decode())


def without_file(
    paths: Sequence[Path], sources: Sequence[Source], outcomes: Sequence[Outcome], index: Index, *, sync: bool
) -> Iterator[Outcome]:
    """The documents whose file is gone from one of the given folders since they were ingested from it: removed with
    `sync`, else only told. Raises BadInput for an empty folder: it may be one that is not mounted."""
    for path in paths:
        if not folders.is_folder(path):
            continue
        place = folders.digest(path)
        own = [(source, outcome) for source, outcome in zip(sources, outcomes, strict=True) if source.folder == place]
        for space in dict.fromkeys(name for source, _ in own for name in source.spaces):
            names = [name for source, _ in own for name in (source.name, _beside(source).name)]
            for record in folders.left(index, space, place, [outcome.doc_id for _, outcome in own], names):
                if sync:
                    index.remove(space, record.doc_id, "file gone")
                    index.spaces.sync(space)
                    yield Outcome(record.filename, record.doc_id, "removed", "its file is gone from the folder")
                else:
                    yield Outcome(record.filename, record.doc_id, "missing", "its file is gone: --sync removes it")
