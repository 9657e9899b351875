"""Lines of a scale, and the one in which an amount lies."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from graph.extractive import bands, candidates, reader


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("50-69: high risk", (50, 69)),
        ("Ten to nineteen years of service: 4 weeks", (10, 19)),
        ("Twenty or more years of service: 5 weeks", (20, math.inf)),
        ("< 50: critical risk", (-math.inf, 50)),
        ("Up to 5 guests", (-math.inf, 5)),
        ("Score: 7.0–8.9", (7, 8.9)),
        ("20+ years", (20, math.inf)),
        ("On 2024-05-01 the plan was signed.", None),
        ("Items 12-5 of the plan", None),
    ],
)
def test_ranges(text: str, ends: tuple[float, float] | None) -> None:
    band = bands.band(text)
    assert (band and (band.low, band.high)) == ends


def test_amounts_of_a_question_with_their_units() -> None:
    assert bands.asked("I have worked here for twelve years, since 2013.") == [(12.0, "year")]
    band = bands.band("Over 48 hours")
    assert band is not None and bands.fits([(50.0, "year")], band) is None and bands.fits([(50.0, "")], band) is True


class Even:
    """Gives every passage the same."""

    def scores(self, question: str, passages: Sequence[reader.Passage]) -> np.ndarray:
        return np.full(len(passages), -3.0, np.float32)


SCALE = "# Vacation\n\nOne to four years of service: 2 weeks\n\nFive to nine years of service: 3 weeks\n\nTen or more years: 4 weeks"


@pytest.mark.parametrize(
    ("question", "right"),
    [("I have been here for 7 years, how long is my vacation?", "3 weeks"), ("How long after 12 years?", "4 weeks")],
)
def test_the_line_in_which_the_amount_lies_is_best_and_surer(question: str, right: str) -> None:
    item: dict[str, Any] = {"n": 1, "text": SCALE, "title": "Leave", "section": "", "score": 0.5, "start": 9}
    item |= {"filename": "leave.md", "doc_id": "leave"}
    best, *others = candidates.score(question, [item], Even())
    assert right in best.text and best.read > max(one.read for one in others)


def test_no_line_is_preferred_where_the_amount_lies_in_none() -> None:
    item: dict[str, Any] = {"n": 1, "text": SCALE, "title": "Leave", "section": "", "score": 0.5, "start": 9}
    item |= {"filename": "leave.md", "doc_id": "leave"}
    assert {one.read for one in candidates.score("How long in the last 30 minutes?", [item], Even())} == {-3.0}
