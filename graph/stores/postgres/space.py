"""One space: rows under its name, and a partition of vectors of its own. The column `tenant` has the name of the space:
what groups share is as far from the rest of the tenant's rows as another tenant's.

Who writes holds the row of the space, so that writers of one space come one after the other and what is counted of it
is right; readers wait for nobody. Small spaces compare every vector; large ones have an index (`Spaces.sync`).
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, astuple, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

from graph.errors import IndexUnavailable
from graph.knowledge import bm25
from graph.knowledge.mentions import Name, Names
from graph.stores.postgres import words as postings
from graph.stores.postgres.words import Holding
from graph.stores.space_reads import CHUNK, SpaceReads, value_of
from graph.stores.spaces import ChunkCandidate, Passage, Record, SpaceHits, StoredChunk
from graph.stores.vectors import fits, greatest

if TYPE_CHECKING:
    from graph.stores.postgres.spaces import PostgresSpaces

EXACT = 20_000  # chunks up to which every vector is compared
M, EF_CONSTRUCTION, EF_SEARCH = 24, 200, 200  # of the index above that (docs/performance.md)
_WIDE_FROM, _WIDEST = 100_000, 1_000  # chunks from which it searches wider in proportion; pgvector's own bound of that
_SPARSE = 16  # ids of a space for each place of its words; with more, most are of chunks that are gone
_BESIDE = 500  # chunks in which `beside` looks


@dataclass(frozen=True)
class _Stand:
    """What is known of the space as a whole, at one moment."""

    number: int
    version: int
    chunks: int
    words: int
    dims: int
    indexed: bool


_NONE = _Stand(0, 0, 0, 0, 0, False)


class PostgresSpace(SpaceReads):
    """It keeps nothing but the names of documents: a reading keeps the rest."""

    parts = f"embedding::real[], words, {CHUNK} FROM chunks JOIN vectors USING (tenant, id)"
    judged = "chunks JOIN judged AS judged (tenant, id, by, found) USING (tenant, id)"
    attached = "annexes", "text"

    def __init__(self, spaces: "PostgresSpaces", tenant: str) -> None:
        self._spaces, self._tenant = spaces, tenant
        self._names: tuple[tuple[int, int], list[tuple[str, Name]]] = ((0, -1), [])
        self._named = Names()

    def reading(self) -> AbstractContextManager[None]:
        return self._spaces.reading()

    def _ask(self, sql: str, *values: Any) -> list[Any]:
        """Rows; the first value is the tenant."""
        with self._spaces.asking(self._tenant) as cursor:
            return cursor.execute(sql, [self._tenant, *values]).fetchall()

    def select(self, columns: str, where: str, *values: object) -> list[Any]:
        return self._ask(f"SELECT {columns} WHERE tenant = %s AND {where.replace('?', '%s')}", *values)

    def _stand(self) -> _Stand:
        known = self._spaces.known(self._tenant)
        if "stand" not in known:
            rows = self._ask("SELECT number, version, chunks, words, dims, indexed FROM spaces WHERE tenant = %s")
            known["stand"] = _Stand(*rows[0]) if rows else _NONE
        stand: _Stand = known["stand"]
        return stand

    @property
    def name(self) -> str:
        return str(value_of(self.select("tenant FROM spaces", "true")))

    # -- documents ----------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self) -> Iterator[tuple["psycopg.Cursor[Any]", int, int]]:
        """The cursor, the id of the next chunk, the length of vectors (0: none yet)."""
        with self._spaces.writing(self._tenant) as cursor:
            sql = "UPDATE spaces SET version = version + 1 WHERE tenant = %s RETURNING next, dims"
            rows = cursor.execute(sql, [self._tenant]).fetchall()
            if not rows:
                raise IndexUnavailable("the space is gone: its tenant was erased.", hint="Ask again, or ingest again.")
            yield cursor, *rows[0]

    def put(
        self, record: Record, text: str, chunks: Sequence[StoredChunk], vectors: np.ndarray, words: Sequence[str]
    ) -> None:
        rows = list(zip(chunks, np.asarray(vectors, np.float32), words, strict=True))
        stems = bm25.tokens(words)
        with self._writing() as (cursor, first, dims):
            if existing := self._record(cursor, record.doc_id):
                record = replace(record, decisions=existing.decisions)
            self._remove(cursor, record.doc_id)
            if rows and dims:
                fits(dims, vectors[0])
            ids = range(first, first + len(rows))
            cursor.execute(
                "INSERT INTO documents VALUES (%s, %s, %s, %s, %s)",
                [self._tenant, record.doc_id, _json(record), text, record.sha256],
            )
            cursor.executemany(
                f"INSERT INTO chunks (tenant, id, {CHUNK}, words, stems)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                [
                    [self._tenant, number, *astuple(chunk), indexed, postings.row_of(of)]
                    for number, (chunk, _, indexed), of in zip(ids, rows, stems, strict=True)
                ],
            )
            cursor.executemany(
                "INSERT INTO vectors VALUES (%s, %s, %s::float8[]::vector)",
                [[self._tenant, number, vector.tolist()] for number, (_, vector, _) in zip(ids, rows, strict=True)],
            )
            postings.add(cursor, self._tenant, dict(zip(ids, stems, strict=True)))
            cursor.execute(
                "UPDATE spaces SET next = next + %s, chunks = chunks + %s, words = words + %s, dims = %s"
                " WHERE tenant = %s",
                [len(rows), len(rows), sum(map(len, stems)), vectors.shape[1] if rows else dims, self._tenant],
            )

    def change(self, doc_id: str, changed: Callable[[Record], Record]) -> None:
        with self._writing() as (cursor, *_):
            if existing := self._record(cursor, doc_id):
                sql = "UPDATE documents SET record = %s WHERE tenant = %s AND doc_id = %s"
                cursor.execute(sql, [_json(changed(existing)), self._tenant, doc_id])

    def remove(self, doc_id: str) -> bool:
        with self._writing() as (cursor, *_):
            return self._remove(cursor, doc_id)

    def _remove(self, cursor: "psycopg.Cursor[Any]", doc_id: str) -> bool:
        sql = "SELECT id, stems FROM chunks WHERE tenant = %s AND doc_id = %s"
        stems = {number: of.split() for number, of in cursor.execute(sql, [self._tenant, doc_id])}
        if stems:
            postings.remove(cursor, self._tenant, stems)
            cursor.execute("DELETE FROM vectors WHERE tenant = %s AND id = ANY(%s)", [self._tenant, list(stems)])
            cursor.execute(
                "UPDATE spaces SET chunks = chunks - %s, words = words - %s WHERE tenant = %s",
                [len(stems), sum(map(len, stems.values())), self._tenant],
            )
        sql = "DELETE FROM documents WHERE tenant = %s AND doc_id = %s"  # all else that hangs on it goes too
        return cursor.execute(sql, [self._tenant, doc_id]).rowcount > 0

    def _record(self, cursor: "psycopg.Cursor[Any]", doc_id: str) -> Record | None:
        sql = "SELECT record FROM documents WHERE tenant = %s AND doc_id = %s"
        rows = cursor.execute(sql, [self._tenant, doc_id]).fetchall()
        return Record(**json.loads(rows[0][0])) if rows else None

    def count(self) -> tuple[int, int]:
        [(documents,)] = self._ask("SELECT count(*) FROM documents WHERE tenant = %s")
        return documents, self._stand().chunks

    def empty(self) -> bool:
        return not self._stand().chunks

    def document_names(self) -> list[tuple[str, Name]]:
        with self.reading():
            stand = self._stand()
            if self._names[0] != (stand.number, stand.version):
                named = self._named.of((one.doc_id, one.title, one.filename, one.fields) for one in self.records())
                self._names = (stand.number, stand.version), named
            return self._names[1]

    def attach(self, doc_id: str, sha256: str, text: str) -> None:
        with self._writing() as (cursor, *_):
            cursor.execute(
                "INSERT INTO annexes VALUES (%s, %s, %s, %s) ON CONFLICT (tenant, doc_id) DO UPDATE"
                " SET sha256 = excluded.sha256, text = excluded.text",
                [self._tenant, doc_id, sha256, text],
            )

    def keep_original(self, doc_id: str, sha256: str, data: bytes) -> None:
        with self._writing() as (cursor, *_):
            cursor.execute(
                "INSERT INTO originals SELECT tenant, doc_id, %s FROM documents WHERE tenant = %s AND doc_id = %s"
                " AND sha256 = %s ON CONFLICT (tenant, doc_id) DO UPDATE SET file = excluded.file",
                [data, self._tenant, doc_id, sha256],
            )

    # -- chunks -------------------------------------------------------------------------------------------

    def passages(self, chunk_ids: Sequence[str], by: str = "") -> dict[str, Passage]:
        rows = self._ask(
            f"""SELECT record, substr(text, start + 1, "end" - start), spaces.tenant, coalesce(found, ''), {CHUNK}
            FROM (SELECT tenant FROM spaces WHERE tenant = %s) AS spaces JOIN chunks USING (tenant)
            JOIN documents USING (tenant, doc_id) LEFT JOIN judged
            ON judged.tenant = chunks.tenant AND judged.chunk = chunks.id AND judged.by = %s
            WHERE chunk_id = ANY(%s)""",
            by,
            list(chunk_ids),
        )
        return {
            place[0]: Passage(Record(**json.loads(record)), StoredChunk(*place), text, owner, judged)
            for record, text, owner, judged, *place in rows
        }

    def judge(self, by: str, judgements: Mapping[str, str]) -> None:
        with self._writing() as (cursor, *_):
            cursor.executemany(
                "INSERT INTO judged SELECT tenant, id, %s, %s FROM chunks WHERE tenant = %s AND chunk_id = %s"
                " ON CONFLICT (tenant, chunk) DO UPDATE SET by = excluded.by, found = excluded.found",
                [[by, text, self._tenant, chunk_id] for chunk_id, text in judgements.items()],
            )

    # -- search -------------------------------------------------------------------------------------------

    def find(self, vector: np.ndarray, words: Sequence[str], limit: int, documents: Sequence[str] = ()) -> SpaceHits:
        floats = np.asarray(vector, np.float32).tolist()
        with self.reading():
            stand = self._stand()
            holding = self._holding(words)
            if stand.chunks:
                fits(stand.dims, vector)
            which, values = "doc_id = ANY(%s)", list[Any](documents)
            if not documents:
                near = self._nearest(stand, floats, limit)
                which, values = "id = ANY(%s)", list({*near, *_best(stand, holding.values(), limit)})
            # Vector by vector, not joined: a server without statistics of the space would sort all of its vectors.
            cosine = "SELECT -(embedding <#> %s::float8[]::vector) FROM vectors WHERE tenant = %s AND id = chunks.id"
            with self._spaces.asking(self._tenant) as cursor:
                rows = cursor.execute(
                    f"SELECT id, chunk_id, doc_id, ({cosine}) FROM chunks WHERE tenant = %s AND {which} ORDER BY id",
                    [floats, self._tenant, self._tenant, values],
                ).fetchall()
        ids = [number for number, *_ in rows]
        with_word = {word: chunks.among(ids).tolist() for word, chunks in holding.items()}
        candidates = [
            ChunkCandidate(chunk_id, doc_id, float(cosine), frozenset(word for word in words if with_word[word][n]))
            for n, (_, chunk_id, doc_id, cosine) in enumerate(rows)
        ]
        return SpaceHits(stand.chunks, {word: len(chunks.ids) for word, chunks in holding.items()}, candidates)

    def _nearest(self, stand: _Stand, floats: list[float], limit: int) -> list[int]:
        """Ids of the chunks with the greatest cosine. The index keeps half of each number; of what it finds the whole
        vectors are compared."""
        among = "SELECT id, embedding FROM vectors WHERE tenant = %s"
        values: list[Any] = [self._tenant]
        with self._spaces.asking(self._tenant) as cursor:
            if stand.indexed:
                wide = min(_WIDEST, max(EF_SEARCH, EF_SEARCH * stand.chunks // _WIDE_FROM, 2 * limit))
                cursor.execute("SELECT set_config('hnsw.ef_search', %s, true)", [str(wide)])
                half = f"halfvec({stand.dims})"
                among += f" ORDER BY embedding::{half} <#> %s::float8[]::vector::{half} LIMIT %s"
                values += [floats, 2 * limit]
            sql = f"SELECT id FROM ({among}) AS one ORDER BY embedding <#> %s::float8[]::vector, id LIMIT %s"
            return [number for (number,) in cursor.execute(sql, [*values, floats, limit])]

    def _holding(self, words: Sequence[str]) -> dict[str, Holding]:
        """For each word the chunks that hold it, in any of its inflections."""
        stems = dict(zip(words, bm25.tokens(words), strict=True))
        by_stem = self._of_stems({stem for of in stems.values() for stem in of})
        return {word: self._in_a_row(of, by_stem) for word, of in stems.items()}

    def _of_stems(self, stems: Collection[str]) -> dict[str, Holding]:
        """The chunks that hold each stem; what was read in this reading is not read again."""
        known: dict[str, Holding] = self._spaces.known(self._tenant).setdefault("held", {})
        if unknown := [stem for stem in stems if stem not in known]:
            with self._spaces.asking(self._tenant) as cursor:
                known |= dict.fromkeys(unknown, postings.NOWHERE) | postings.lookup(cursor, self._tenant, unknown)
        return {stem: known[stem] for stem in stems}

    def _in_a_row(self, stems: Sequence[str], by_stem: Mapping[str, Holding]) -> Holding:
        """The chunks that hold the stems one behind the other."""
        if len(stems) < 2:
            return by_stem[stems[0]] if stems else postings.NOWHERE
        ids = postings.in_all([by_stem[stem] for stem in stems])
        if not len(ids):
            return postings.NOWHERE
        with self._spaces.asking(self._tenant) as cursor:
            return postings.in_a_row(cursor, self._tenant, stems, ids, by_stem[stems[0]])

    # -- the words themselves -----------------------------------------------------------------------------

    def present(self, words: Sequence[str]) -> set[str]:
        with self.reading():
            return {word for word, chunks in self._holding(words).items() if len(chunks.ids)}

    def stemmed(self, words: Sequence[str]) -> list[str]:
        return [max(stems, default="") for stems in bm25.tokens(words)]

    def stems(self, start: str, shortest: int, longest: int) -> list[tuple[str, int]]:
        sql = "stem >= %s AND stem < %s AND length(stem) BETWEEN %s AND %s"
        return self._counted(sql, start, start + "\U0010ffff", shortest, longest)

    def counts(self, stems: Collection[str]) -> dict[str, int]:
        return dict(self._counted("stem = ANY(%s)", list(stems)))

    def _counted(self, where: str, *values: Any) -> list[tuple[str, int]]:
        count = f"(sum(octet_length(held)) / {postings.SIZE})::bigint"
        return self._ask(f"SELECT stem, {count} FROM postings WHERE tenant = %s AND {where} GROUP BY stem", *values)

    def holding(self, stem: str, limit: int) -> list[tuple[str, str]]:
        with self.reading():
            ids = self._of_stems([stem])[stem].ids[:limit].tolist()
            texts = self._texts(ids)
            return [texts[number] for number in ids]

    def matching(self, words: Sequence[str], limit: int, literal: str = "") -> list[list[tuple[str, str]]]:
        with self.reading():
            holding = self._holding(words)
            if literal:
                all_of = [self._texts(holding[word].ids.tolist(), limit, literal) for word in words]
                return [list(texts.values()) for texts in all_of]
            first = {word: chunks.ids[:limit].tolist() for word, chunks in holding.items()}
            texts = self._texts(list({number for ids in first.values() for number in ids}))
            return [[texts[number] for number in first[word]] for word in words]

    def beside(self, stem: str, others: Sequence[str]) -> int:
        with self.reading():
            first = self._of_stems([stem])[stem].ids[:_BESIDE].tolist()
            if not first or not others:
                return 0
            beside = [other.among(first) for other in self._holding(others).values()]
            return int(np.any(beside, axis=0).sum())

    def _texts(self, ids: list[int], limit: int | None = None, literal: str = "") -> dict[int, tuple[str, str]]:
        """Of these chunks, by id and rising, those with the literal: at most `limit`."""
        if not ids:
            return {}
        rows = self._ask(
            "SELECT id, record, words FROM chunks JOIN documents USING (tenant, doc_id) WHERE tenant = %s"
            " AND id = ANY(%s) AND (%s = '' OR position(%s IN words) > 0) ORDER BY id LIMIT %s",
            *(ids, literal, literal, limit),
        )
        return {number: (json.loads(record)["expires"], words) for number, record, words in rows}


def _best(stand: _Stand, holding: Collection[Holding], limit: int) -> list[int]:
    """Ids of the chunks with the greatest sum of scores; of equals the lowest."""
    holdings = [one for one in holding if len(one.ids)]
    if not holdings:
        return []
    at = np.concatenate([one.ids for one in holdings])
    low, gaps = int(at.min()), int(np.ptp(at)) // len(at)
    ids = None
    if gaps < _SPARSE:
        at -= low
    else:
        ids, at = np.unique(at, return_inverse=True)
    scores = np.bincount(at, np.concatenate([one.scores(stand.chunks, stand.words) for one in holdings]))
    scored = np.flatnonzero(scores)
    best = scored[greatest(scores[scored], limit)]
    ranked: list[int] = (best + low if ids is None else ids[best]).tolist()
    return ranked


def _json(record: Record) -> str:
    return json.dumps(asdict(record))
