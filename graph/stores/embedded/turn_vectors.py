"""The vectors of the turns of those who asked last, so that a question does not read all of them again: in the file
each lies behind the text of its turn, and a thousand take 9 ms.

Each use reads what was added since, by whatever process; where a turn that is known is gone, it reads all of them
again. Call it with the connection locked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_BYTES = 32_000_000  # of all vectors that are kept: 20,000 turns; who has more is read anew each time
_MOST_PARTS = 32  # added one by one, before they are put together

Read = Callable[[str, tuple[Any, ...]], list[Any]]  # SQL and its values


@dataclass
class _Known:
    """Of one person. `last` is the newest turn that was read, `run` its run, `count` how many there were by then."""

    last: int
    run: str
    count: int
    ids: list[np.ndarray]  # int64 (n,), rising, in as many parts as `vectors`
    vectors: list[np.ndarray]  # float32 (n, width)

    @property
    def size(self) -> int:
        return sum(part.nbytes for part in self.vectors)


class TurnVectors:
    """By tenant, user and width of the vectors."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], _Known] = {}  # the one used last at the end

    def scores(self, tenant: str, user: str, vector: np.ndarray, read: Read) -> tuple[np.ndarray, np.ndarray]:
        """(ids, cosines) of the user's turns that have a vector of this width, int64 and float32, in their order."""
        wanted = vector.astype(np.float32)
        name = tenant, user, len(wanted)
        known = self._known.pop(name, None)
        if known is None or _gone(known, user, read):
            known = _Known(0, "", 0, [], [])
        _read_on(known, user, len(wanted), read)
        self._known[name] = known
        size = sum(one.size for one in self._known.values())
        while size > MOST_BYTES:
            size -= self._known.pop(next(iter(self._known))).size
        if not known.ids:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        return np.concatenate(known.ids), np.concatenate([part @ wanted for part in known.vectors])

    def forget(self, tenant: str | None = None) -> None:
        """Of a tenant's people; of everybody's, where none is named."""
        self._known = {name: known for name, known in self._known.items() if tenant is not None and name[0] != tenant}


def _gone(known: _Known, user: str, read: Read) -> bool:
    """Whether any of the known turns is no longer there. SQLite uses a number again only after the last turn is gone,
    too."""
    sql = "SELECT (SELECT count(*) FROM turns WHERE user_id = ? AND id <= ?), (SELECT run_id FROM turns WHERE id = ?)"
    return read(sql, (user, known.last, known.last)) != [(known.count, known.run)]


def _read_on(known: _Known, user: str, width: int, read: Read) -> None:
    rows = read("SELECT id, run_id, vector FROM turns WHERE user_id = ? AND id > ? ORDER BY id", (user, known.last))
    if not rows:
        return
    known.last, known.run, known.count = rows[-1][0], rows[-1][1], known.count + len(rows)
    usable = [(row, raw) for row, _, raw in rows if raw is not None and len(raw) == 4 * width]
    if usable:
        known.ids.append(np.array([row for row, _ in usable], np.int64))
        known.vectors.append(np.frombuffer(b"".join(raw for _, raw in usable), np.float32).reshape(-1, width))
    if len(known.ids) > _MOST_PARTS:
        known.ids, known.vectors = [np.concatenate(known.ids)], [np.concatenate(known.vectors)]
