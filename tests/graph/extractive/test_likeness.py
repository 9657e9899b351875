"""The vectors that choose what the reader reads know other words for the same."""

import numpy as np
import pytest

from graph.extractive.likeness import likeness

LEAVE = "Employees have 25 days of annual leave."
OTHERS = ["The laboratory is closed on Sundays.", "Samples are kept at minus 80 degrees.", "Days are numbered from 1."]


@pytest.mark.parametrize("question", ["how much time off do I get?", "How long a holiday may staff take?"])
def test_other_words_for_the_same_are_alike(question: str) -> None:
    first, *others = likeness(question, [LEAVE, *OTHERS])
    assert first > max(others)


def test_a_text_is_worth_the_same_beside_others_and_alone() -> None:
    together = likeness("When is it closed?", [LEAVE, *OTHERS])
    alone = [likeness("When is it closed?", [text])[0] for text in (LEAVE, *OTHERS)]
    assert np.array_equal(together, np.array(alone, np.float32))


def test_nothing_is_like_nothing() -> None:
    assert likeness("", [LEAVE]).tolist() == [0.0]
    assert likeness("leave?", ["", LEAVE]).tolist()[0] == 0.0
    assert likeness("leave?", []).shape == (0,)


def test_what_is_read_of_a_long_text_is_bounded() -> None:
    assert likeness("leave", ["word " * 300 + LEAVE]) == likeness("leave", ["word " * 300])
