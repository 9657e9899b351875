"""What leaves is masked after the last thing was taken out of it."""

import pytest

from graph.answering.verified import shown
from graph.policy import pii


@pytest.mark.parametrize(
    "text",
    ["mobile 0300[1] 1234567", "mobile 03<b></b>00 1234567", "CNIC 352[1]02-1234[2]567-1", "mail we.ld[3]er@example.org",
     "card 4111[1] 1111[2] 1111[3] 1111"],
)  # fmt: skip
def test_personal_data_divided_by_what_is_taken_out_is_masked(text: str) -> None:
    assert shown(text).endswith("[REDACTED]") and not any(c.isdigit() for c in shown(text))


def test_footnotes_between_other_numbers_mask_nothing() -> None:
    text = "In 2019 [1] and 2020 [2], 45 [3] of 1200 [4]; 1234 [5] 5678 [6] 9012 [7]."
    assert pii.mask(text).text == text
