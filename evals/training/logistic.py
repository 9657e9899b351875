"""Logistic regression on sparse and dense rows with numpy alone: deterministic, no other package needed."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

MEMORY = 10  # pairs that L-BFGS remembers


@dataclass(frozen=True)
class Rows:
    """Sparse rows: row i holds values[starts[i]:starts[i + 1]] at columns[...]. No row may be empty."""

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    width: int

    @classmethod
    def from_parts(cls, parts: list[tuple[np.ndarray, np.ndarray]], width: int) -> "Rows":
        # An empty row would shift np.add.reduceat: it gets one zero.
        filled = [p if len(p[0]) else (np.zeros(1, np.int64), np.zeros(1, np.float32)) for p in parts]
        starts = np.concatenate([[0], np.cumsum([len(c) for c, _ in filled])])
        return cls(starts, np.concatenate([c for c, _ in filled]), np.concatenate([v for _, v in filled]), width)

    def take(self, chosen: np.ndarray) -> "Rows":
        sizes = np.diff(self.starts)[chosen]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        at = np.repeat(self.starts[:-1][chosen] - starts[:-1], sizes) + np.arange(starts[-1])
        return Rows(starts, self.columns[at], self.values[at], self.width)

    def dot(self, weights: np.ndarray) -> np.ndarray:
        return np.add.reduceat(self.values * weights.astype(np.float32)[self.columns], self.starts[:-1]).astype(float)

    def back(self, residual: np.ndarray) -> np.ndarray:
        spread = self.values * np.repeat(residual, np.diff(self.starts))
        return np.bincount(self.columns, spread, self.width)


@dataclass(frozen=True)
class Dense:
    matrix: np.ndarray

    @property
    def width(self) -> int:
        return int(self.matrix.shape[1])

    def take(self, chosen: np.ndarray) -> "Dense":
        return Dense(self.matrix[chosen])

    def dot(self, weights: np.ndarray) -> np.ndarray:
        product: np.ndarray = self.matrix @ weights
        return product

    def back(self, residual: np.ndarray) -> np.ndarray:
        product: np.ndarray = self.matrix.T @ residual
        return product


def fit(
    rows: Rows | Dense, labels: np.ndarray, weights: np.ndarray, l2: float, steps: int = 80
) -> tuple[np.ndarray, float]:
    """Coefficients and intercept that minimise the weighted mean log loss + l2/2 |w|²; labels are 0 or 1."""
    sign = np.where(labels > 0, 1.0, -1.0)
    share = weights / weights.sum()

    def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (rows.dot(point[:-1]) + point[-1])
        value = float(share @ np.logaddexp(0, -margin)) + 0.5 * l2 * float(point[:-1] @ point[:-1])
        residual = -share * sign / (1 + np.exp(np.clip(margin, -500, 500)))
        return value, np.concatenate([rows.back(residual) + l2 * point[:-1], [residual.sum()]])

    point = minimise(loss, np.zeros(rows.width + 1), steps)
    return point[:-1], float(point[-1])


def minimise(loss: Callable[[np.ndarray], tuple[float, np.ndarray]], point: np.ndarray, steps: int) -> np.ndarray:
    """L-BFGS with a backtracking line search (Nocedal and Wright, algorithm 7.4)."""
    value, slope = loss(point)
    pairs: list[tuple[np.ndarray, np.ndarray, float]] = []
    for _ in range(steps):
        direction = slope.copy()
        used = []
        for moved, turned, scale in reversed(pairs):
            factor = scale * float(moved @ direction)
            direction -= factor * turned
            used.append(factor)
        if pairs:
            moved, turned, scale = pairs[-1]
            direction *= 1 / (scale * float(turned @ turned))
        for (moved, turned, scale), factor in zip(pairs, reversed(used), strict=True):
            direction += (factor - scale * float(turned @ direction)) * moved
        step, fall = (1.0 if pairs else min(1.0, 1 / (float(np.linalg.norm(slope)) + 1e-12))), float(slope @ direction)
        if fall <= 1e-12:
            break
        while True:
            trial = point - step * direction
            new_value, new_slope = loss(trial)
            if new_value <= value - 1e-4 * step * fall or step < 1e-8:
                break
            step /= 2
        moved, turned = trial - point, new_slope - slope
        if (bend := float(moved @ turned)) > 1e-14:
            pairs = [*pairs[-(MEMORY - 1) :], (moved, turned, 1 / bend)]
        if value - new_value < 1e-7 * abs(value):
            return trial
        point, value, slope = trial, new_value, new_slope
    return point
