"""What every index of vectors promises."""

from dataclasses import dataclass

import numpy as np
import pytest

from graph.errors import IndexUnavailable
from graph.stores.vectors import Vectors
from tests.support.spaces import directions


@dataclass
class Held:
    """A space by its vectors alone. Rows begin at `first`: they are names, not places."""

    vectors: np.ndarray
    key: str = "one"
    made: str = "made-once"
    first: int = 1

    def size(self) -> int:
        return len(self.vectors)

    def stamp(self) -> str:
        return f"{self.made} {self.size()} {self.first}"

    def matrix(self) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.first, self.first + self.size()), self.vectors


@pytest.mark.parametrize("count", [3, 40])
def test_the_nearest_come_first_and_no_more_than_asked_for(vectors: Vectors, count: int) -> None:
    held = Held(directions(count))
    vectors.sync(held)
    for row in (1, 3):
        assert vectors.nearest(held, held.vectors[row - 1], 3)[0] == row
    order = (np.argsort(-(held.vectors @ held.vectors[0]), kind="stable")[:3] + 1).tolist()
    assert vectors.nearest(held, held.vectors[0], 3) == order
    assert sorted(vectors.nearest(held, held.vectors[0], count + 5)) == list(range(1, count + 1))


def test_an_empty_space_has_none(vectors: Vectors) -> None:
    assert vectors.nearest(Held(np.zeros((0, 0), np.float32)), directions(1)[0], 3) == []


def test_a_space_that_was_not_settled_is_answered_as_it_is_now(vectors: Vectors) -> None:
    held = Held(directions(40))
    assert vectors.nearest(held, held.vectors[6], 1) == [7]
    vectors.sync(held)
    held.vectors, held.first = directions(40, seed=1), 41  # as after the document was put again
    assert vectors.nearest(held, held.vectors[6], 1) == [47]
    vectors.sync(held)
    assert vectors.nearest(held, held.vectors[6], 1) == [47]
    held.vectors, held.first = directions(3, seed=2), 81
    assert sorted(vectors.nearest(held, held.vectors[2], 9)) == [81, 82, 83]
    vectors.sync(held)
    assert sorted(vectors.nearest(held, held.vectors[2], 9)) == [81, 82, 83]


def test_two_spaces_do_not_meet(vectors: Vectors) -> None:
    one, two = Held(directions(40)), Held(directions(20, seed=1), key="two", first=100)
    for held in (one, two):
        vectors.sync(held)
    assert set(vectors.nearest(two, one.vectors[5], 40)) == set(range(100, 120))
    assert set(vectors.nearest(one, one.vectors[5], 99)) == set(range(1, 41))


def test_rows_of_another_file_are_not_taken_for_those_of_this_one(vectors: Vectors) -> None:
    everything = directions(80)
    vectors.sync(Held(everything[:40]))
    restored = Held(everything[40:], made="restored")
    vectors.sync(restored)
    assert vectors.nearest(restored, everything[47], 1) == [8]


@pytest.mark.parametrize("after", ["drop", "close"])
def test_what_was_dropped_or_closed_is_found_again(vectors: Vectors, after: str) -> None:
    held = Held(directions(40))
    vectors.sync(held)
    getattr(vectors, after)()
    assert vectors.nearest(held, held.vectors[6], 1) == [7]
    vectors.sync(held)
    assert vectors.nearest(held, held.vectors[6], 1) == [7]


@pytest.mark.parametrize("count", [3, 40])
def test_a_vector_of_another_length_is_told(vectors: Vectors, count: int) -> None:
    held = Held(directions(count))
    vectors.sync(held)
    with pytest.raises(IndexUnavailable, match="another length"):
        vectors.nearest(held, directions(1, 8)[0], 1)
