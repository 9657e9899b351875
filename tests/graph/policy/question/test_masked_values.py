"""What a door that masks tells of a question."""

from typing import Any

import pytest

from graph.policy import pii
from graph.policy.question import masked_values

QUESTION = "My CNIC is 35202-1234567-1 and my mail is a.b@example.org."


def test_what_is_given_is_told() -> None:
    given = masked_values.from_question(QUESTION, pii.find(QUESTION))
    assert given == {"kinds": ["CNIC", "EMAIL"], "placeholder": False}
    assert masked_values.handed_on({masked_values.OPTION: given}) == given
    assert masked_values.from_question("What stands under [REDACTED]?", [])["placeholder"]


@pytest.mark.parametrize(
    "options",
    [
        None,
        "x",
        {},
        {masked_values.OPTION: None},
        {masked_values.OPTION: {"kinds": "CNIC"}},
        {masked_values.OPTION: ["CNIC"]},
    ],
)
def test_anything_else_is_nothing_told(options: Any) -> None:
    assert masked_values.handed_on(options) is None


def test_what_is_no_kind_is_dropped_and_a_placeholder_is_assumed() -> None:
    told = masked_values.handed_on({masked_values.OPTION: {"kinds": ["CNIC", "35202-1234567-1", 7, ["x"]]}})
    assert told == {"kinds": ["CNIC"], "placeholder": True}
