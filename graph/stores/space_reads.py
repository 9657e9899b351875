"""What a space of each SQL store reads in the same words."""

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from graph.stores.spaces import Record, StoredAttachment, StoredChunk, Whole
from graph.stores.vectors import floats

CHUNK = 'chunk_id, doc_id, start, "end", page, sheet, section, places'  # the columns of a StoredChunk


class SpaceReads(ABC):
    """Those methods of `Space` that only read, in statements that are the same for every SQL store."""

    parts: str  # vector, words and CHUNK of chunks, FROM the tables that have them
    judged: str  # the tables that have `chunk_id`, `by` and `found`: what guards found in the chunks
    attached: tuple[str, str]  # the table with the attachments, and its column with the text

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """As `Space.reading`."""

    @abstractmethod
    def select(self, columns: str, where: str, *values: object) -> list[Any]:
        """Rows of the space. `columns` go on with FROM; in `where`, which may go on with ORDER BY, `?` is a value."""

    def select_beside(self, table: str, columns: str, where: str, *values: object) -> list[Any]:
        """As `select`, from a table that a store may make with its first row."""
        return self.select(columns, where, *values)

    def record(self, doc_id: str) -> Record | None:
        return next(iter(self._records("doc_id = ?", doc_id)), None)

    def records(self) -> list[Record]:
        return self._records("true")

    def by_hash(self, sha256: str) -> list[Record]:
        return self._records("sha256 = ?", sha256)

    def _records(self, where: str, *values: object) -> list[Record]:
        rows = self.select("record FROM documents", f"{where} ORDER BY doc_id", *values)
        return [Record(**json.loads(record)) for (record,) in rows]

    def text(self, doc_id: str) -> str:
        return str(value_of(self.select("text FROM documents", "doc_id = ?", doc_id)))

    def whole(self, doc_id: str) -> Whole | None:
        with self.reading():
            record = self.record(doc_id)
            if record is None:
                return None
            rows = self.select(self.parts, "doc_id = ? ORDER BY id", doc_id)
            vectors = [floats(vector) for vector, *_ in rows]
            judged = self.select_beside("judged", f"chunk_id, by, found FROM {self.judged}", "doc_id = ?", doc_id)
            return Whole(
                record,
                self.text(doc_id),
                [StoredChunk(*place) for _, _, *place in rows],
                np.stack(vectors) if vectors else np.zeros((0, 0), np.float32),
                [words for _, words, *_ in rows],
                {chunk_id: (by, found) for chunk_id, by, found in judged},
            )

    def attachments(self) -> list[StoredAttachment]:
        table, text = self.attached
        columns = f"doc_id, sha256, length({text}) FROM {table}"
        return [StoredAttachment(*row) for row in self.select_beside(table, columns, "true ORDER BY doc_id")]

    def attachment(self, doc_id: str) -> str:
        table, text = self.attached
        return str(value_of(self.select_beside(table, f"{text} FROM {table}", "doc_id = ?", doc_id)))

    def has_original(self, doc_id: str) -> bool:
        return bool(self.select_beside("originals", "1 FROM originals", "doc_id = ?", doc_id))

    def original(self, doc_id: str) -> bytes:
        return bytes(value_of(self.select_beside("originals", "file FROM originals", "doc_id = ?", doc_id)) or b"")

    def opening(self, doc_id: str) -> str:
        return str(value_of(self.select("chunk_id FROM chunks", "doc_id = ? ORDER BY id LIMIT 1", doc_id)))

    def chunk(self, chunk_id: str) -> StoredChunk | None:
        return next(iter(self._chunks("chunk_id = ?", chunk_id)), None)

    def chunks(self, doc_id: str) -> list[StoredChunk]:
        return self._chunks("doc_id = ? ORDER BY start, id", doc_id)

    def _chunks(self, where: str, *values: object) -> list[StoredChunk]:
        return [StoredChunk(*row) for row in self.select(f"{CHUNK} FROM chunks", where, *values)]


def value_of(rows: Sequence[Any]) -> Any:
    """The value of the first row, or ""."""
    return rows[0][0] if rows else ""
