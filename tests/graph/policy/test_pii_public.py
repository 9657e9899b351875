"""What is public is left: exactly that value, in the spellings it has, and nothing beside it."""

import pytest

from graph.policy import pii
from graph.policy.pii.public import Public, form, of_role, spellings

NUMBER = Public(spellings(form("PHONE", "+44 20 7946 0958")))


@pytest.mark.parametrize(
    "written",
    ["+44 20 7946 0958", "+442079460958", "0044 20 7946 0958", "+44 (0)20 7946 0958", "(020) 7946 0958",
     "020-7946-0958", "call 02079460958", "Tel: +44 20 7946 0958 ext. 12"],
)  # fmt: skip
def test_a_number_is_left_in_every_spelling(written: str) -> None:
    assert pii.mask(written).text != written
    assert pii.mask(written, keep=NUMBER).text == written


@pytest.mark.parametrize(
    "written", ["+44 20 7946 0959", "+1 207 946 0958", "020 7946 09581", "+44 20 7946 095", "CNIC 35202-1234567-1"]
)
def test_another_number_is_masked(written: str) -> None:
    assert pii.mask(written, keep=NUMBER).text == pii.mask(written).text


def test_what_stands_beside_it_is_masked() -> None:
    text = "Call 020 7946 0958 or 020 7946 0123, or write to a@example.org."
    masked = pii.mask(text, keep=NUMBER)
    assert masked.text == "Call 020 7946 0958 or [REDACTED], or write to [REDACTED]."
    assert masked.public == ("02079460958",)
    assert pii.mask(masked.text, keep=NUMBER).text == masked.text
    assert pii.mask(masked.text).text.count("[REDACTED]") == 3


def test_a_domain_leaves_its_role_addresses_alone() -> None:
    keep = Public(frozenset({"@example.org"}))
    text = "info@example.org IT-Support@example.org ann.lee@example.org info@mail.example.org info@example.com"
    left = pii.mask(text, keep=keep).text
    assert left == "info@example.org IT-Support@example.org [REDACTED] [REDACTED] [REDACTED]"


@pytest.mark.parametrize(
    "address", ["info@a.org", "press.office@a.org", "it-support@a.org", "no-reply@a.org", "dpo@a.org"]
)
def test_posts(address: str) -> None:
    assert of_role(address)


@pytest.mark.parametrize(
    "address", ["ann@a.org", "ann.support@a.org", "a.lee@a.org", "info1@a.org", "@a.org", "rose@a.org"]
)
def test_no_posts(address: str) -> None:
    assert not of_role(address)


def test_keys_cards_and_ids_are_never_spared() -> None:
    for value in ("4111 1111 1111 1111", "35202-1234567-1", "GB82WEST12345698765432"):
        keep = Public(frozenset({value, form("PHONE", value)}), roles=True)
        assert "[REDACTED]" in pii.mask(f"It is {value}.", keep=keep).text
