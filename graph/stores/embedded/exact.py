"""Cosines computed in memory, nothing kept beside the space: all of them where there are few, repeatable always.

A large space is searched in two steps: what a third of the axes gives, turned so that they carry most (principal
components), and of the best by these the whole cosine. That finds 99.9% of the fifty nearest (docs/performance.md).
"""

import weakref

import numpy as np

from graph.stores.vectors import VectorSource, fits, greatest

SMALL = 5_000  # chunks up to which every cosine is computed
_AMONG = 50  # one chunk in so many has its whole cosine computed
_SHARE = 0.75  # of the vectors' length, squared, that the axes must carry; else every cosine is computed
_SAMPLE = 5_000  # chunks that the axes are taken from
_NONE = np.zeros((0, 0), np.float32)


class Exact:
    """Safe between threads: what it keeps can be made again by any of them."""

    mending = ""  # it keeps nothing

    def __init__(self) -> None:
        self._turned: dict[str, tuple[weakref.ref[np.ndarray], np.ndarray, np.ndarray]] = {}  # by key of the space

    def nearest(self, source: VectorSource, vector: np.ndarray, limit: int) -> list[int]:
        rows, matrix = source.matrix()
        if not len(rows):
            return []
        fits(matrix.shape[1], vector)
        axes, short = self._in_short(source.key, matrix)
        if not axes.size:
            return list(map(int, rows[greatest(matrix @ vector, limit)]))
        among = np.sort(greatest(short @ (axes.T @ vector), max(len(rows) // _AMONG, 10 * limit)))
        return list(map(int, rows[among[greatest(matrix[among] @ vector, limit)]]))

    def _in_short(self, key: str, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The axes (d × d/3) and every vector along them, kept as long as the matrix is; none where they are of no
        use."""
        if len(matrix) <= SMALL:
            return _NONE, _NONE
        cached = self._turned.get(key)
        if cached is None or cached[0]() is not matrix:
            axes = _axes(matrix[:: len(matrix) // _SAMPLE])
            forget = weakref.ref(matrix, lambda _: self._turned.pop(key, None))
            cached = self._turned[key] = forget, axes, matrix @ axes if axes.size else _NONE
        return cached[1:]

    def sync(self, source: VectorSource) -> None:
        """Nothing is kept."""

    def drop(self) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing is open."""


def _axes(some: np.ndarray) -> np.ndarray:
    carried, axes = np.linalg.eigh(some.T @ some)  # the one that carries most is last
    most = len(carried) // 3
    enough = carried[-most:].sum() >= _SHARE * carried.sum()
    return np.ascontiguousarray(axes[:, -most:]) if enough else _NONE
