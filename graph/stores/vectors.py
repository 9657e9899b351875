"""The nearest neighbours of a vector among the chunks of one space.

The space is the truth; what an index keeps beside it is a copy and can always be made anew.

Promises. Isolation: a call looks at one space and tells its rows alone. Freshness: `nearest` answers for the space as
its reader sees it now, also where the copy is behind, missing or broken: then every vector is compared. Concurrency:
threads may share one. Errors: `nearest` raises IndexUnavailable for a vector of another length and for a space that
cannot be read; `sync` and `drop` raise what the disk raises, and may be tried again.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from graph.errors import IndexUnavailable


class VectorSource(Protocol):
    """A space, as an index of its vectors reads it."""

    @property
    def key(self) -> str:
        """Its name: letters, digits and `-`, no other space's."""

    def size(self) -> int:
        """Chunks."""

    def stamp(self) -> str:
        """Another text after every change; what stands before the first blank changes when rows mean other chunks."""

    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows (int64, n) and vectors (float32, n × d) of every chunk, in row order."""


class Vectors(Protocol):
    """An index beside the spaces, exact or approximate."""

    @property
    def mending(self) -> str:
        """What an operator does when it cannot be written."""

    def nearest(self, source: VectorSource, vector: np.ndarray, limit: int) -> list[int]:
        """Rows of the chunks with the greatest cosine, best first. What is approximate finds most of them."""

    def sync(self, source: VectorSource) -> None:
        """Bring what is kept of the space in step with it."""

    def drop(self) -> None:
        """Forget everything that is kept, of all spaces, bytes included."""

    def close(self) -> None:
        """Let go of what is open. The next use opens it again."""


def greatest(scores: np.ndarray, limit: int) -> np.ndarray:
    """Where the `limit` greatest are, the greatest first; of equals those that stand first."""
    if limit < len(scores):
        among = np.flatnonzero(scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit])
    else:
        among = np.arange(len(scores))
    return np.asarray(among[np.argsort(-scores[among], kind="stable")[:limit]])


def fits(length: int, vector: np.ndarray) -> None:
    """Raises IndexUnavailable for a vector that is not of this length."""
    if length != len(vector):
        raise IndexUnavailable("the index holds vectors of another length.", hint="Run `cordon ingest` again.")


def floats(stored: bytes | Sequence[float]) -> np.ndarray:
    """A vector (float32) as a row has it: its bytes, or its numbers."""
    return np.frombuffer(stored, np.float32) if isinstance(stored, bytes) else np.array(stored, np.float32)
