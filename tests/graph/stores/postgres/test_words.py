"""Which chunks a question's words find: without a database."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from graph.stores.postgres.space import _best
from graph.stores.postgres.words import NOWHERE, Holding, _times, row_of


@pytest.mark.parametrize("gap", [1, 50])  # between the ids: where many chunks are gone they are far apart
def test_the_best_by_words_are_those_of_the_greatest_sums_and_of_equals_the_first(gap: int) -> None:
    dice = np.random.default_rng(gap)
    stand: Any = SimpleNamespace(chunks=400, words=8_000)
    for _ in range(50):
        holding = [NOWHERE]
        for count in dice.integers(0, 300, 4):
            ids = np.sort(dice.choice(400, count, replace=False)) * gap + 7_000_000
            holding.append(Holding(ids, dice.integers(1, 3, count) * 1.0, dice.integers(20, 22, count) * 1.0))
        sums: dict[int, float] = {}
        for one in holding:
            for number, score in zip(one.ids.tolist(), one.scores(400, 8_000).tolist(), strict=True):
                sums[number] = sums.get(number, 0.0) + score
        wanted = sorted(sums, key=lambda number: (-sums[number], number))
        for limit in (1, 50, 500):
            assert _best(stand, holding, limit) == wanted[:limit]
            assert [one.among([7_000_000, *wanted]).tolist() for one in holding] == [
                [number in one.ids for number in (7_000_000, *wanted)] for one in holding
            ]
    assert _best(stand, [NOWHERE], 5) == []


@pytest.mark.parametrize(
    ("stems", "text", "times"),
    [
        ("multi tenant", "a multi tenant multi tenant multi tenants", 2),  # a blank that two share
        ("bye bye", "bye bye bye", 2),  # a stem that two share
        ("bye bye", "goodbye bye byebye", 0),
        ("multi tenant", "", 0),
    ],
)
def test_stems_in_a_row_count_as_often_as_they_stand_there(stems: str, text: str, times: int) -> None:
    assert _times(row_of(stems.split()), row_of(text.split())) == times
