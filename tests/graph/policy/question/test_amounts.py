"""Amounts are one whatever marks, currency names and words for thousands they are written with."""

from decimal import Decimal

import pytest

from graph.policy.question import amounts


@pytest.mark.parametrize(
    ("text", "value", "currency"),
    [
        ("1500 euros", "1500", "EUR"),
        ("EUR 1,500.00", "1500", "EUR"),
        ("1.500,00 €", "1500", "EUR"),
        ("CHF 1'500", "1500", "CHF"),
        ("35 000 kr", "35000", "SEK"),
        ("$2.5 million", "2500000", "USD"),
        ("250k EUR", "250000", "EUR"),
        ("Rs. 64,500", "64500", "PKR"),
        ("52,110", "52110", ""),
    ],
)
def test_value_and_currency(text: str, value: str, currency: str) -> None:
    [found] = amounts.find(f"It is {text} in all.")
    assert found.value == Decimal(value) and (currency in found.currencies if currency else not found.currencies)
    assert found.written == text


@pytest.mark.parametrize("text", ["version 2.3.1", "0300-1234567", "2024-05-03", "10:15", "Article 33(1)/2", "5 µm2"])
def test_other_numbers_are_no_amounts_to_look_for(text: str) -> None:
    assert amounts.asked(f"What about {text}?") == []


def test_a_year_and_a_small_number_are_not_looked_for() -> None:
    assert amounts.asked("What was built in 2024 for 20 people on 3 m?") == []
    assert [one.written for one in amounts.asked("What costs 20 crowns?")] == ["20 crowns"]
