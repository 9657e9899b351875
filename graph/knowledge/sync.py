"""Keeping the documents that came from one origin in step with it. Nothing is kept of the origin but its documents. The
record of each says where it came from, and has the stamp of its file: only what changed is read again."""

import hashlib
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path, PurePosixPath

from graph.errors import BadInput, CordonError, DocumentError, Unavailable
from graph.knowledge.index import Index
from graph.knowledge.ingest import (
    READING,
    Inspect,
    Outcome,
    Source,
    base_id,
    distinct_id,
    ingest,
    judge_again,
    printable,
)
from graph.knowledge.loaders import ADVICE, EXTENSIONS
from graph.knowledge.origins import Content, Entry, Origin
from graph.settings import Settings
from graph.stores.spaces import Record

FEW = 3  # documents, which a run may remove however few there are
_AT_ONCE = 256  # files that are indexed together, and
_BYTES = 32 * 2**20  # of them in memory
_IN_A_ROW = 5  # files that could not be read: then the origin cannot be


@dataclass(frozen=True)
class _File:
    """An entry under the name by which its document goes, and that document, if there is one."""

    entry: Entry
    name: str
    record: Record | None


class Sync:
    """One run over one origin, for the documents of one space."""

    def __init__(
        self,
        origin: Origin,
        space: str,
        owner: str,
        index: Index,
        settings: Settings,
        inspect: Inspect,
        progress: Callable[[Outcome], None],
    ) -> None:
        self._origin, self._space, self._owner = origin, space, owner
        self._index, self._settings, self._inspect, self._progress = index, settings, inspect, progress
        self._outcomes: list[Outcome] = []
        self._until = time.monotonic() + settings.sync_seconds
        self._left = settings.sync_mb * 2**20
        self._unread = 0  # files in a row

    def __call__(self, *, allow_removal: bool) -> list[Outcome]:
        """As Agent.sync."""
        space = self._index.space(self._space)
        before = [record for record in (space.records() if space else ()) if record.folder == self._origin.place]
        files, gone = self._matched(self._listed(before), before)
        if before and not files and self._origin.whole and not allow_removal:
            documents = "1 document" if len(before) == 1 else f"{len(before)} documents"
            raise _refused(f"there is no file any more, and {documents} came from there")
        self._index_all(self._changed([file for file in files if file.record]))
        new = [file for file in files if not file.record]
        self._index_all(self._new(new, gone))
        if self._origin.whole:
            self._remove(gone, len(before), allow_removal)
        return self._outcomes

    def _listed(self, before: Sequence[Record]) -> list[Entry]:
        """Under names that can be stored, each once. One that leads out of the origin is reported and left out."""
        entries: dict[str, Entry] = {}
        most = self._settings.sync_files
        for entry in self._origin.listed({record.filename: record.stamp for record in before}):
            self._in_time()
            name = printable(entry.name)
            if not _inside(name):
                self._tell(Outcome(name[:200], "", "failed", "its name leads out of the source, or cannot be shown"))
                continue
            entries.setdefault(name, replace(entry, name=name))
            if len(entries) > most:
                raise BadInput(
                    f"there are more than {most:,} files: nothing was changed.",
                    hint="Name a part of it, or raise CORDON_SYNC_FILES.",
                )
        return list(entries.values())

    def _matched(self, entries: Sequence[Entry], before: Sequence[Record]) -> tuple[list[_File], dict[str, Record]]:
        """The files with their documents, and the documents that have no file any more, by id."""
        names = {entry.name for entry in entries}
        known = {record.filename: record for record in before}
        files = []
        for entry in entries:
            beside = self._beside(entry.name)
            name = beside if entry.name not in known and beside in known and beside not in names else entry.name
            files.append(_File(entry, name, known.get(name)))
        matched = {file.record.doc_id for file in files if file.record}
        return files, {record.doc_id: record for record in before if record.doc_id not in matched}

    def _beside(self, name: str) -> str:
        """The name of a file whose own name a document from elsewhere has."""
        return printable(f"{self._origin.label}/{name}")

    # -- reading ------------------------------------------------------------------------------------------

    def _changed(self, files: Sequence[_File]) -> Iterator[Source]:
        for file in files:
            record = file.record
            assert record is not None
            current = record.reading == READING  # not one of an earlier version, which is read anew
            if current and file.entry.stamp and file.entry.stamp == record.stamp:
                self._unchanged(file.name, record)
            elif content := self._read(file, record.stamp if current else ""):
                yield self._source(file, content, record.doc_id, file.name)

    def _new(self, files: Sequence[_File], gone: dict[str, Record]) -> Iterator[Source]:
        """New files to read. A file that had another name before is moved, and its document leaves `gone`."""
        space = self._index.space(self._space)
        records = space.records() if space else []
        taken = {record.doc_id for record in records}
        foreign = {record.filename for record in records if record.folder != self._origin.place}
        by_hash = {record.sha256: record.doc_id for record in records if record.folder == self._origin.place}
        lost = {record.sha256: record for record in gone.values()} if self._origin.whole else {}
        for file in files:
            content = self._read(file, "")
            if content is None:
                continue
            sha256 = hashlib.sha256(content.data).hexdigest()
            name = self._beside(file.name) if file.name in foreign else file.name
            if moved := lost.pop(sha256, None):
                del gone[moved.doc_id]
                by_hash[sha256] = moved.doc_id
                self._index.move(self._space, moved.doc_id, name, self._origin.source(file.entry), content.stamp)
                self._tell(Outcome(name, moved.doc_id, "moved", f"was {moved.filename}"))
            elif twin := by_hash.get(sha256):
                self._tell(Outcome(file.name, twin, "unchanged", f"same content as {twin}"))
            else:
                by_hash[sha256] = doc_id = self._identity(name, taken)
                taken.add(doc_id)
                yield self._source(file, content, doc_id, name)

    def _read(self, file: _File, stamp: str) -> Content | None:
        """None where it has not changed, and where it cannot be read: both are reported."""
        self._in_time()
        doc_id = file.record.doc_id if file.record else ""
        try:
            self._readable(file.entry)
            content = self._origin.read(file.entry, stamp)
        except Unavailable:
            raise
        except CordonError as error:
            reason = error.reason if isinstance(error, DocumentError) else ""
            self._unread = self._unread + 1 if reason in ("url_unreachable", "url_too_slow") else 0
            if self._unread == _IN_A_ROW:
                raise
            refused = bool(reason) and not reason.startswith("url_")
            what = f"{reason}: {error}" if reason else str(error)
            self._tell(Outcome(file.name, doc_id, "quarantined" if refused else "failed", what))
            return None
        self._unread = 0
        if content is None:
            assert file.record is not None
            self._unchanged(file.name, file.record)
            return None
        self._left -= len(content.data)
        if self._left < 0:
            raise BadInput(
                f"this run would read more than {self._settings.sync_mb:,} MiB: nothing was removed.",
                hint="What was read is kept: run it again, or raise CORDON_SYNC_MB.",
            )
        return content

    def _readable(self, entry: Entry) -> None:
        """Before anything is fetched. Raises DocumentError."""
        suffix, most = PurePosixPath(entry.name).suffix.lower(), self._settings.max_file_mb
        if suffix not in EXTENSIONS:
            advice = ADVICE.get(suffix, "save it in one of the kinds that are read")
            raise DocumentError("unsupported", f"it is of a kind that is not read: {advice}")
        if entry.size is not None and entry.size > most * 2**20:
            raise DocumentError("oversize", f"it is larger than {most} MiB")

    def _in_time(self) -> None:
        if time.monotonic() > self._until:
            raise BadInput(
                f"this run took longer than {self._settings.sync_seconds:,} seconds: nothing was removed.",
                hint="What was read is kept: run it again, or raise CORDON_SYNC_SECONDS.",
            )

    # -- writing ------------------------------------------------------------------------------------------

    def _source(self, file: _File, content: Content, doc_id: str, name: str) -> Source:
        return Source(
            Path(file.entry.name),
            name,
            (self._space,),
            self._owner,
            doc_id=doc_id,
            origin=self._origin.source(file.entry),
            folder=self._origin.place,
            data=content.data,
            stamp=content.stamp,
        )

    def _identity(self, name: str, taken: Collection[str]) -> str:
        """The id of a new document: not that of another one, wherever that came from."""
        base, personal = base_id(name)
        ids = (distinct_id(base, f"{self._origin.place} {name}{' ' * n}") for n in count())
        return next(i for i in chain([] if personal else [base], [distinct_id(base, name)], ids) if i not in taken)

    def _index_all(self, sources: Iterable[Source]) -> None:
        batch: list[Source] = []
        size = 0
        try:
            for source in sources:
                batch.append(source)
                size += len(source.data or b"")
                if len(batch) == _AT_ONCE or size > _BYTES:
                    ready, batch, size = batch, [], 0
                    self._ingest(ready)
        except CordonError:
            self._ingest(batch)  # what was read before the origin broke off is kept
            raise
        self._ingest(batch)

    def _ingest(self, sources: Sequence[Source]) -> None:
        if not sources:
            return
        known = {source.doc_id: source for source in sources}

        def settled(outcome: Outcome) -> None:
            if outcome.status == "unchanged" and (space := self._index.space(self._space)):
                space.change(outcome.doc_id, lambda record: replace(record, stamp=known[outcome.doc_id].stamp))
            self._tell(outcome)

        ingest(sources, self._index, self._settings, inspect=self._inspect, progress=settled)

    def _unchanged(self, name: str, record: Record) -> None:
        judge_again(self._index, self._space, record.doc_id)
        self._tell(Outcome(name, record.doc_id, "unchanged"))

    def _remove(self, gone: dict[str, Record], before: int, allowed: bool) -> None:
        if not allowed and len(gone) > FEW and len(gone) * 2 > before:
            raise _refused(f"{len(gone)} of the {before} documents that came from there have no file any more")
        for record in gone.values():
            self._index.remove(self._space, record.doc_id, "file gone")
            self._tell(Outcome(record.filename, record.doc_id, "removed", "its file is gone from the source"))
        if gone:
            self._index.spaces.sync(self._space)

    def _tell(self, outcome: Outcome) -> None:
        self._outcomes.append(outcome)
        self._progress(outcome)


def _inside(name: str) -> bool:
    """Whether a name is a path below its origin, of characters that can be shown."""
    parts = name.split("/")
    shown = "\\" not in name and not {"Cc", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, name))
    return len(name) <= 1_000 and ".." not in parts and "" not in parts and shown


def _refused(why: str) -> BadInput:
    return BadInput(
        f"{why}: nothing was removed.",
        hint="Is it mounted, and the right place? If it is so, say --allow-removal.",
    )
