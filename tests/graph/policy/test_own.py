"""What a door that masks tells of a question."""

from typing import Any

import pytest

from graph.policy import own, pii

QUESTION = "My CNIC is 35202-1234567-1 and my mail is a.b@example.org."


def test_what_is_given_is_told() -> None:
    given = own.given(QUESTION, pii.find(QUESTION))
    assert given == {"kinds": ["CNIC", "EMAIL"], "placeholder": False}
    assert own.told({own.TOLD: given}) == given
    assert own.given("What stands under [REDACTED]?", [])["placeholder"]


@pytest.mark.parametrize(
    "options", [None, "x", {}, {own.TOLD: None}, {own.TOLD: {"kinds": "CNIC"}}, {own.TOLD: ["CNIC"]}]
)
def test_anything_else_is_nothing_told(options: Any) -> None:
    assert own.told(options) is None


def test_what_is_no_kind_is_dropped_and_a_placeholder_is_assumed() -> None:
    told = own.told({own.TOLD: {"kinds": ["CNIC", "35202-1234567-1", 7, ["x"]]}})
    assert told == {"kinds": ["CNIC"], "placeholder": True}
