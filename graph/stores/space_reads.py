"""What a space of each SQL store reads in the same words."""

import json
from abc import ABC, abstractmethod
from typing import Any

from graph.stores.spaces import Record, StoredChunk

CHUNK = 'chunk_id, doc_id, start, "end", page, sheet, section, places'  # the columns of a StoredChunk


class SpaceReads(ABC):
    """Those methods of `Space` that need nothing but `select`."""

    @abstractmethod
    def select(self, columns: str, where: str, *values: object) -> list[Any]:
        """Rows of the space. `columns` go on with FROM; in `where`, which may go on with ORDER BY, `?` is a value."""

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
        return str(self._first("text FROM documents", "doc_id = ?", doc_id))

    def opening(self, doc_id: str) -> str:
        return str(self._first("chunk_id FROM chunks", "doc_id = ? ORDER BY id LIMIT 1", doc_id))

    def _first(self, columns: str, where: str, *values: object) -> Any:
        """The value of the first row, or ""."""
        rows = self.select(columns, where, *values)
        return rows[0][0] if rows else ""

    def chunk(self, chunk_id: str) -> StoredChunk | None:
        return next(iter(self._chunks("chunk_id = ?", chunk_id)), None)

    def chunks(self, doc_id: str) -> list[StoredChunk]:
        return self._chunks("doc_id = ? ORDER BY start, id", doc_id)

    def _chunks(self, where: str, *values: object) -> list[StoredChunk]:
        return [StoredChunk(*row) for row in self.select(f"{CHUNK} FROM chunks", where, *values)]
