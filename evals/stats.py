"""Rates with their intervals. A rate over nothing is None, not 0."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

Z95 = 1.959964


@dataclass(frozen=True)
class Rate:
    """hits of n, with Wilson's 95% interval."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if not self.n:
            return None
        p, z2 = self.hits / self.n, Z95**2
        centre = (p + z2 / (2 * self.n)) / (1 + z2 / self.n)
        half = Z95 / (1 + z2 / self.n) * math.sqrt(p * (1 - p) / self.n + z2 / (4 * self.n**2))
        return max(0.0, centre - half), min(1.0, centre + half)

    def __str__(self) -> str:
        if self.value is None or self.interval is None:
            return "n = 0"
        low, high = self.interval
        return f"{self.value:.3f} [{low:.3f}, {high:.3f}] n={self.n}"

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"value": self.value, "interval": self.interval}


def mean(values: list[float], seed: int = 7) -> dict[str, Any]:
    """Mean with a bootstrap 95% interval (2,000 resamples)."""
    if not values:
        return {"value": None, "interval": None, "n": 0}
    array, rng = np.asarray(values), np.random.default_rng(seed)
    samples = array[rng.integers(0, len(array), (2_000, len(array)))].mean(axis=1)
    low, high = np.percentile(samples, [2.5, 97.5])
    return {"value": float(array.mean()), "interval": (float(low), float(high)), "n": len(values)}
