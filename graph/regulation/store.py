"""The graph of each act of a space, in the space's own file, beside the document it belongs to and gone with it."""

import sqlite3
from functools import lru_cache
from pathlib import Path

from graph.errors import IndexUnavailable
from graph.knowledge.space import Space
from graph.regulation.act import Act

_TABLE = "CREATE TABLE IF NOT EXISTS regulations (doc_id TEXT PRIMARY KEY, sha256 TEXT NOT NULL, act TEXT NOT NULL)"
# Whatever removes or replaces the document removes the graph, in the same transaction.
_WITH_ITS_DOCUMENT = (
    "CREATE TRIGGER IF NOT EXISTS regulation_goes AFTER DELETE ON documents"
    " BEGIN DELETE FROM regulations WHERE doc_id = old.doc_id; END"
)


def save(space: Space, act: Act) -> None:
    """Store an act whose document is in the space already."""
    space.execute(_TABLE)
    space.execute(_WITH_ITS_DOCUMENT)
    space.execute("INSERT OR REPLACE INTO regulations VALUES (?, ?, ?)", (act.doc_id, act.sha256, act.to_json()))


def complete(space: Space, doc_id: str, sha256: str) -> bool:
    """Whether the space holds the graph of this very file."""
    return any(row[:2] == (doc_id, sha256) for row in _rows(space))


def acts(space: Space) -> list[Act]:
    """Every act of the space, by document id."""
    if not _any(space):
        return []
    with space.reading():
        return [_read(space.path, *row, _Space(space)) for row in _rows(space)]


def _any(space: Space) -> bool:
    """Whether an act was ever stored. Most spaces have none, and are asked with every question."""
    return bool(space.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'regulations'"))


def _rows(space: Space) -> list[tuple[str, str, int]]:
    """Document id, hash of the file, and length of the graph: made anew with other settings it has another one."""
    if not _any(space):
        return []
    found = space.execute("SELECT doc_id, sha256, length(act) FROM regulations ORDER BY doc_id")
    return [(doc_id, sha256, length) for doc_id, sha256, length in found]


class _Space:
    """Carries the space past the cache, which goes by path and content alone."""

    def __init__(self, space: Space) -> None:
        self.space = space

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Space)


@lru_cache(maxsize=16)
def _read(path: Path, doc_id: str, sha256: str, length: int, space: _Space) -> Act:
    rows = space.space.execute("SELECT act FROM regulations WHERE doc_id = ?", (doc_id,))
    try:
        return Act.from_json(rows[0][0])
    except (ValueError, TypeError, IndexError, KeyError, sqlite3.Error) as error:
        raise IndexUnavailable(
            f"the graph of {doc_id!r} is damaged.", hint="Run `cordon ingest --regulation` with its file again."
        ) from error
