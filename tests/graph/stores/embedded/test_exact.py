"""A large space is searched in two steps, and finds what one step does."""

from dataclasses import dataclass

import numpy as np
import pytest

from graph.stores.embedded import exact
from graph.stores.embedded.exact import Exact
from graph.stores.vectors import greatest
from tests.support.spaces import directions


@dataclass
class Held:
    vectors: np.ndarray
    key: str = "one"

    def size(self) -> int:
        return len(self.vectors)

    def stamp(self) -> str:
        return "made"

    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.size()) + 7, self.vectors


def about(subjects: int, count: int, seed: int = 0) -> np.ndarray:
    """Vectors that lie near some subjects, as those of texts do."""
    of = np.random.default_rng(seed).integers(subjects, size=count)
    near = directions(subjects, seed=99)[of] + 0.5 * directions(count, seed=seed)
    return np.asarray(near / np.linalg.norm(near, axis=1, keepdims=True), np.float32)


def all_of_them(held: Held, vector: np.ndarray, limit: int) -> list[int]:
    order: list[int] = (np.argsort(-(held.vectors @ vector), kind="stable")[:limit] + 7).tolist()
    return order


def test_two_steps_find_what_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "SMALL", 5_000)
    held, asked, vectors = Held(about(60, 20_000)), about(60, 100, seed=1), Exact()
    found = [(set(vectors.nearest(held, one, 50)), set(all_of_them(held, one, 50))) for one in asked]
    assert vectors._turned["one"][1].shape == (384, 128)
    assert np.mean([len(one & other) / 50 for one, other in found]) >= 0.99


def test_where_no_axes_carry_most_every_cosine_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "SMALL", 5_000)
    held, vectors = Held(directions(6_000)), Exact()
    for one in directions(10, seed=1):
        assert vectors.nearest(held, one, 50) == all_of_them(held, one, 50)


def test_what_was_turned_goes_with_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "SMALL", 5_000)
    held, vectors = Held(about(60, 6_000)), Exact()
    vectors.nearest(held, held.vectors[3], 5)
    held.vectors = about(60, 6_000, seed=5)
    assert vectors._turned == {}
    assert vectors.nearest(held, held.vectors[3], 1) == [10]


def test_of_equals_the_first_comes_first() -> None:
    scores = np.array([1, 3, 2, 3, 2, 2], np.float32)
    for limit in range(1, 9):
        assert greatest(scores, limit).tolist() == [1, 3, 2, 4, 5, 0][:limit]
