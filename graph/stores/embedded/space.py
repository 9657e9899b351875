"""One space in an SQLite file of its own.

Text, chunks, word index (FTS5) and vectors of a space change together in one transaction, and nothing of another
space is in the file: no statistic, page or lock is shared between tenants.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from graph.errors import IndexUnavailable
from graph.knowledge import bm25, mentions
from graph.knowledge.mentions import Name
from graph.stores.embedded.exact import Exact
from graph.stores.embedded.postings import PART, WORTH, Postings, covered, made, quoted
from graph.stores.embedded.postings import SCHEMA as POSTINGS
from graph.stores.space_reads import CHUNK, SpaceReads, value_of
from graph.stores.spaces import ChunkCandidate, Passage, Record, SpaceHits, StoredChunk
from graph.stores.vectors import Vectors, fits

SCHEMA_VERSION = 2
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (doc_id TEXT PRIMARY KEY, record TEXT NOT NULL, text TEXT NOT NULL, sha256 TEXT NOT NULL);
CREATE INDEX documents_sha256 ON documents (sha256);
CREATE TABLE chunks (id INTEGER PRIMARY KEY AUTOINCREMENT, chunk_id TEXT NOT NULL UNIQUE, doc_id TEXT NOT NULL,
    start INTEGER NOT NULL, "end" INTEGER NOT NULL, page INTEGER, sheet TEXT, section TEXT NOT NULL,
    vector BLOB NOT NULL, places TEXT NOT NULL DEFAULT '');
CREATE INDEX chunks_doc ON chunks (doc_id);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61');
"""
# To the next version, from each earlier one.
_CHANGES = {1: "ALTER TABLE chunks ADD COLUMN places TEXT NOT NULL DEFAULT '';"}
# What the word index holds, as tables to read: each stem with how many chunks have it, and each place of a stem.
_VIEWS = """
CREATE VIRTUAL TABLE temp.stems USING fts5vocab(main, words, row);
CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, words, instance);
"""
# Attachments, made with the first one: most spaces have none. Whatever removes or replaces a document removes its
# attachment, in the same transaction. Only the acts of the Union have had one so far, hence the names.
_ATTACHMENTS = (
    "CREATE TABLE IF NOT EXISTS regulations (doc_id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, act TEXT NOT NULL)",
    """CREATE TRIGGER IF NOT EXISTS regulation_goes AFTER DELETE ON documents
        BEGIN DELETE FROM regulations WHERE doc_id = old.doc_id; END""",
)
# The files as they came, made with the first one as well.
_ORIGINALS = (
    "CREATE TABLE IF NOT EXISTS originals (doc_id TEXT PRIMARY KEY, file BLOB NOT NULL)",
    """CREATE TRIGGER IF NOT EXISTS original_goes AFTER DELETE ON documents
        BEGIN DELETE FROM originals WHERE doc_id = old.doc_id; END""",
)
# What the guard found in a chunk, made with the first one: an index of an earlier version has none.
_JUDGED = (
    "CREATE TABLE IF NOT EXISTS judged (chunk INTEGER PRIMARY KEY, by TEXT NOT NULL, found TEXT NOT NULL)",
    """CREATE TRIGGER IF NOT EXISTS judged_goes AFTER DELETE ON chunks
        BEGIN DELETE FROM judged WHERE chunk = old.id; END""",
)


class SqliteSpace(SpaceReads):
    """Open with a path; `create=True` makes the file. Calls are serialised, so threads may share one. Other processes
    may read and write the file at the same time.

    What was closed, by `close` or for a while by `rest`, is opened again by the next use.
    """

    parts = f"vector, words.text, {CHUNK} FROM chunks JOIN words ON words.rowid = chunks.id"
    judged = "chunks JOIN judged ON chunk = chunks.id"
    attached = "regulations", "act"

    def __init__(self, path: Path, vectors: Vectors | None = None, *, create: bool = False) -> None:
        self.path, self.key = path, path.stem
        self._near = vectors or Exact()
        self._lock = threading.RLock()
        self._matrix: tuple[np.ndarray, np.ndarray] | None = None
        self._stamp = ""  # of the space when the matrix was read
        self._cached_postings: Postings | None = None
        self._document_names: list[tuple[str, Name]] | None = None
        self._named = mentions.Names()
        self._to_empty = False
        self._version = 0  # of the file, as SQLite counts what other connections wrote
        self._opened: sqlite3.Connection | None = self._connected(create)

    def _connected(self, create: bool = False) -> sqlite3.Connection:
        path = self.path
        if not create and not path.exists():
            raise IndexUnavailable(f"the index file {path.name} is missing.", hint="Run `cordon ingest` again.")
        try:
            db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute("PRAGMA secure_delete = ON")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version == 0 and create:
                db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
                path.chmod(0o600)
            elif version in _CHANGES:
                _changed(db)
            elif version != SCHEMA_VERSION:
                db.close()
                raise IndexUnavailable(
                    f"the index file {path.name} has layout {version}, this Cordon reads {SCHEMA_VERSION}.",
                    hint="Remove the index directory and run `cordon ingest` again.",
                )
            db.executescript(_VIEWS)
        except sqlite3.Error as error:
            raise _broken(path, error) from error
        return db

    @property
    def _db(self) -> sqlite3.Connection:
        """The open file. Hold the lock."""
        if self._opened is None:
            self._opened = self._connected()
        return self._opened

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
            self._opened = self._matrix = self._cached_postings = self._document_names = None
            self._version = 0

    def rest(self) -> bool:
        """Let go of the file and of what was read from it. False while somebody is at work here: then nothing is."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._opened is not None and self._opened.in_transaction:
                return False  # this very thread is at work
            self.close()
            return True
        finally:
            self._lock.release()

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of one statement. Raises IndexUnavailable."""
        with self._lock:
            try:
                return self._db.execute(sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise _broken(self.path, error) from error

    def select(self, columns: str, where: str, *values: object) -> list[Any]:
        return self.execute(f"SELECT {columns} WHERE {where}", values)

    def select_beside(self, table: str, columns: str, where: str, *values: object) -> list[Any]:
        return super().select_beside(table, columns, where, *values) if self._has(table) else []

    @contextmanager
    def reading(self) -> Iterator[None]:
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            self.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):  # nothing was written
                    self._db.execute("ROLLBACK")

    # -- meta ---------------------------------------------------------------------------------------------

    def meta(self, key: str) -> str:
        """What `set_meta` kept under this key (embeddings, tenant, made); "" when it kept nothing."""
        return str(value_of(self.select("value FROM meta", "key = ?", key)))

    def set_meta(self, key: str, value: str) -> None:
        """Keep a text about the space as a whole."""
        self.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @property
    def name(self) -> str:
        return self.meta("tenant")  # as it was called before groups had spaces

    # -- documents ----------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, tables: Iterable[str] = ()) -> Iterator[None]:
        """One transaction: all of it stands, or nothing. The statements `tables` make what is not there yet."""
        with self._lock:
            try:
                self._db.execute("BEGIN IMMEDIATE")
                for statement in tables:
                    self._db.execute(statement)
                yield
                self._db.execute("COMMIT")
            except BaseException as error:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise _broken(self.path, error) from error
                raise
            self._forget()

    def put(
        self, record: Record, text: str, chunks: Sequence[StoredChunk], vectors: np.ndarray, words: Sequence[str]
    ) -> None:
        with self._writing():
            if existing := self.record(record.doc_id):
                record = replace(record, decisions=existing.decisions)
            self._remove(record.doc_id)
            self._db.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?)", (record.doc_id, _json(record), text, record.sha256)
            )
            for chunk, vector, indexed in zip(chunks, vectors, words, strict=True):
                cursor = self._db.execute(
                    f"INSERT INTO chunks ({CHUNK}, vector) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (*asdict(chunk).values(), np.asarray(vector, np.float32).tobytes()),
                )
                self._db.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (cursor.lastrowid, indexed))
        self._emptied()

    def change(self, doc_id: str, changed: Callable[[Record], Record]) -> None:
        with self._writing():
            if existing := self.record(doc_id):
                self._db.execute("UPDATE documents SET record = ? WHERE doc_id = ?", (_json(changed(existing)), doc_id))
        self._to_empty = True  # a name that was taken out would live on in the log
        self._emptied()

    def remove(self, doc_id: str) -> bool:
        with self._writing():
            removed = self._remove(doc_id)
        if removed:  # else the words live on in the index and the text in the log
            self.execute("INSERT INTO words (words) VALUES ('optimize')")
            self._to_empty = True
            self._emptied()
        return removed

    def _emptied(self) -> None:
        """Empty the log of what was removed. A reader of another process can be in the way: then the next write
        does it."""
        if self._to_empty:
            [(busy, _, _)] = self.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._to_empty = bool(busy)

    def _remove(self, doc_id: str) -> bool:
        self._db.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM chunks WHERE doc_id = ?)", (doc_id,))
        self._db.execute("DELETE FROM chunks WHERE doc_id = ?", (doc_id,))
        return self._db.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,)).rowcount > 0

    def count(self) -> tuple[int, int]:
        return self.execute("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM chunks)")[0]

    def empty(self) -> bool:
        return not self.execute("SELECT EXISTS (SELECT 1 FROM chunks)")[0][0]

    def attach(self, doc_id: str, sha256: str, text: str) -> None:
        with self._writing(_ATTACHMENTS):
            self._db.execute("INSERT OR REPLACE INTO regulations VALUES (?, ?, ?)", (doc_id, sha256, text))

    def keep_original(self, doc_id: str, sha256: str, data: bytes) -> None:
        with self._writing(_ORIGINALS):
            self._db.execute(
                "INSERT OR REPLACE INTO originals SELECT doc_id, ? FROM documents WHERE doc_id = ? AND sha256 = ?",
                (data, doc_id, sha256),
            )

    def _has(self, table: str) -> bool:
        return bool(self.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)))

    # -- chunks -------------------------------------------------------------------------------------------

    def passages(self, chunk_ids: Sequence[str], by: str = "") -> dict[str, Passage]:
        marks = ",".join("?" * len(chunk_ids))
        columns = 'record, substr(text, start + 1, "end" - start)'  # not all of a long document for a part of it
        with self.reading():
            owner, judged = self.name, dict[str, str]()
            if by and self._has("judged"):
                sql = f"SELECT chunk_id, found FROM judged JOIN chunks ON chunks.id = chunk WHERE chunk_id IN ({marks})"
                judged = dict(self.execute(f"{sql} AND by = ?", (*chunk_ids, by)))
            sql = f"SELECT {CHUNK}, {columns} FROM chunks JOIN documents USING (doc_id) WHERE chunk_id IN ({marks})"
            rows = self.execute(sql, chunk_ids)
        return {
            row[0]: Passage(Record(**json.loads(record)), StoredChunk(*row), text, owner, judged.get(row[0], ""))
            for *row, record, text in rows
        }

    def judge(self, by: str, judgements: Mapping[str, str]) -> None:
        with self._writing(_JUDGED):
            self._db.executemany(
                "INSERT OR REPLACE INTO judged SELECT id, ?, ? FROM chunks WHERE chunk_id = ?",
                [(by, text, chunk_id) for chunk_id, text in judgements.items()],
            )

    # -- search -------------------------------------------------------------------------------------------

    def find(self, vector: np.ndarray, words: Sequence[str], limit: int, documents: Sequence[str] = ()) -> SpaceHits:
        with self.reading():
            postings = self._postings()
            holding = postings.holding(words)
            if documents:
                vectors = self._vectors("doc_id", documents)
            else:
                vectors = self._at({*self._near.nearest(self, vector, limit), *postings.best(holding.values(), limit)})
            at = np.searchsorted(postings.rows, list(vectors))
            with_word = {word: one.among(at).tolist() for word, one in holding.items()}
            names = self._names(vectors)
            candidates = [
                ChunkCandidate(
                    *names[row], _cosine(one, vector), frozenset(word for word in words if with_word[word][n])
                )
                for n, (row, one) in enumerate(vectors.items())
            ]
            return SpaceHits(len(postings.rows), {word: len(one.at) for word, one in holding.items()}, candidates)

    def _at(self, rows: Collection[int]) -> dict[int, np.ndarray]:
        """Row → vector."""
        self._forget_if_changed()
        if self._matrix is None:
            return self._vectors("id", rows)
        known, matrix = self._matrix  # read a moment ago, to look for the nearest
        return {row: matrix[at] for row, at in zip(rows, np.searchsorted(known, list(rows)), strict=True)}

    def _names(self, rows: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Row → (chunk id, document id)."""
        wanted = ",".join(str(int(row)) for row in rows)
        sql = f"SELECT id, chunk_id, doc_id FROM chunks WHERE id IN ({wanted})"
        return {row: (chunk_id, doc_id) for row, chunk_id, doc_id in self.execute(sql)}

    def size(self) -> int:
        return int(self.execute("SELECT count(*) FROM chunks")[0][0])

    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        with self._lock:
            self._forget_if_changed()
            if self._matrix is None:
                try:
                    self._stamp, self._matrix = self.stamp(), self._read_matrix()
                except sqlite3.Error as error:
                    raise _broken(self.path, error) from error
            return self._matrix

    def _read_matrix(self) -> tuple[np.ndarray, np.ndarray]:
        """Row by row: a list of all vectors beside the matrix would double what it takes."""
        [(count, width)] = self.execute("SELECT count(*), ifnull(max(length(vector)), 0) / 4 FROM chunks")
        rows, matrix = np.empty(count, np.int64), np.empty((count, width), np.float32)
        for at, (row, vector) in enumerate(self._db.execute("SELECT id, vector FROM chunks ORDER BY id")):
            rows[at], matrix[at] = row, np.frombuffer(vector, np.float32)
        return rows, matrix

    def _vectors(self, column: str, values: Collection[int | str]) -> dict[int, np.ndarray]:
        """Row → vector (float32, d) of the rows with these values."""
        marks = ",".join("?" * len(values))
        rows = self.execute(f"SELECT id, vector FROM chunks WHERE {column} IN ({marks}) ORDER BY id", list(values))
        return {row: np.frombuffer(vector, np.float32) for row, vector in rows}

    def stamp(self) -> str:
        """Rows are never used twice, and only go once they are there."""
        (state,) = self.execute("SELECT count(*), ifnull(max(id), 0) FROM chunks")
        return f"{self.meta('made')} {state[0]} {state[1]}"

    def document_names(self) -> list[tuple[str, Name]]:
        with self._lock:
            self._forget_if_changed()
            if self._document_names is None:
                keys = ", ".join(f"json_extract(record, '$.{key}')" for key in ("title", "filename", "fields"))
                rows = self.execute(f"SELECT doc_id, {keys} FROM documents ORDER BY doc_id")
                documents = ((*names, json.loads(fields or "[]")) for *names, fields in rows)
                self._document_names = self._named.of(documents)
            return self._document_names

    def _forget_if_changed(self) -> None:
        """What was read before another process wrote."""
        [(version,)] = self.execute("PRAGMA data_version")
        if version != self._version:
            self._version = version
            self._forget()

    def _forget(self) -> None:
        """The vectors, which take longest to read, stay while the chunks do."""
        self._cached_postings = self._document_names = None
        if self._matrix is not None and self._stamp != self.stamp():
            self._matrix = None

    def _postings(self) -> Postings:
        with self._lock:
            self._forget_if_changed()
            if self._cached_postings is None:
                self._cached_postings = Postings(self.execute)
            return self._cached_postings

    def build_postings(self) -> None:
        """Make those parts of the postings that are not whole, each in a transaction of its own: nobody waits long."""
        if self.size() <= WORTH:
            return
        with self._writing(POSTINGS):
            pass
        stored = covered(self.execute)
        for part, count in self.execute(f"SELECT id / {PART}, count(*) FROM chunks GROUP BY 1"):
            if len(stored.get(part, b"")) != 2 * count:
                self._make(part)

    def _make(self, part: int) -> None:
        first, last = part * PART, part * PART + PART - 1
        among = "WHERE rowid BETWEEN ? AND ? ORDER BY rowid"
        texts = dict(self.execute(f"SELECT rowid, text FROM words {among}", (first, last)))
        blobs = [(part, *one) for one in made([row - first for row in texts], texts.values())]
        with self._writing():
            rows = self._db.execute(f"SELECT rowid FROM chunks {among}", (first, last))
            if [row for (row,) in rows] == list(texts):  # else somebody wrote meanwhile, and builds them after that
                self._db.execute("DELETE FROM postings WHERE part = ?", (part,))
                self._db.executemany("INSERT INTO postings VALUES (?, ?, ?)", blobs)

    # -- the words themselves -----------------------------------------------------------------------------

    def present(self, words: Sequence[str]) -> set[str]:
        sql = "SELECT 1 FROM words WHERE words MATCH ? LIMIT 1"
        return {word for word in words if self.execute(sql, (quoted(word),))}

    def stemmed(self, words: Sequence[str]) -> list[str]:
        return [max(stems, default="") for stems in bm25.tokens(words)]

    def stems(self, start: str, shortest: int, longest: int) -> list[tuple[str, int]]:
        sql = "SELECT term, doc FROM stems WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?"
        return self.execute(sql, (start, start + "\U0010ffff", shortest, longest))

    def counts(self, stems: Collection[str]) -> dict[str, int]:
        marks = ",".join("?" * len(stems))
        return dict(self.execute(f"SELECT term, doc FROM stems WHERE term IN ({marks})", list(stems)))

    def holding(self, stem: str, limit: int) -> list[tuple[str, str]]:
        rows = "SELECT DISTINCT doc FROM places WHERE term = ? LIMIT ?"
        return self._texts(f"words.rowid IN ({rows})", (stem, limit), limit)

    def matching(self, words: Sequence[str], limit: int, literal: str = "") -> list[list[tuple[str, str]]]:
        where = "words MATCH ? AND instr(words.text, ?)"
        return [self._texts(where, (quoted(word), literal), limit) for word in words]

    def beside(self, stem: str, others: Sequence[str]) -> int:
        if not others:
            return 0
        rows = "SELECT DISTINCT doc FROM places WHERE term = ? LIMIT 500"
        sql = f"SELECT count(*) FROM words WHERE words MATCH ? AND rowid IN ({rows})"
        ((count,),) = self.execute(sql, (" OR ".join(map(quoted, others)), stem))
        return int(count)

    def _texts(self, where: str, parameters: Sequence[object], limit: int) -> list[tuple[str, str]]:
        sql = f"""SELECT json_extract(record, '$.expires'), words.text FROM words
            JOIN chunks ON chunks.id = words.rowid JOIN documents USING (doc_id) WHERE {where} LIMIT ?"""
        return self.execute(sql, (*parameters, limit))


def _changed(db: sqlite3.Connection) -> None:
    """Brings the layout of an earlier version up to this one's, unless another process did meanwhile."""
    db.execute("BEGIN IMMEDIATE")
    (version,) = db.execute("PRAGMA user_version").fetchone()
    for earlier in range(version, SCHEMA_VERSION):
        db.execute(_CHANGES[earlier])
    db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    db.execute("COMMIT")


def _json(record: Record) -> str:
    return json.dumps(asdict(record), ensure_ascii=False)


def _cosine(stored: np.ndarray, vector: np.ndarray) -> float:
    fits(len(stored), vector)
    return float(stored @ vector)


def _broken(path: Path, error: sqlite3.Error) -> IndexUnavailable:
    return IndexUnavailable(
        f"the index file {path.name} cannot be used: {error}.",
        hint="Is the disk full or the file damaged? Free space, or remove the index and run `cordon ingest` again.",
    )
