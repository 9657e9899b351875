"""A question for an amount or a price is answered by what says one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.extractive import answerer, candidates

CLUB = """# Members of the sailing club

## Kinds of members

Gold members are eligible for 4 outings per year, and for two courses. Silver members are eligible for 2 outings per year.

## Trademarks

The founders made all decisions and paid all fees for the filing of the club's trademark, including those of the lawyer.

The club paid the founders the amount of $9,500 for the filing of the trademark in May.
"""


@pytest.fixture
def club(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent, file = opened(), tmp_path / "club.md"
    file.write_text(CLUB, encoding="utf-8")
    agent.ingest(file, tenant_id="U1")
    return agent


def test_no_price_is_made_of_another_number(club: Agent) -> None:
    assert "outings" not in club.ask("What does a gold membership cost per year?", tenant_id="U1")["answer"]
    assert "4 outings" in club.ask("How many outings do gold members get a year?", tenant_id="U1")["answer"]


@pytest.mark.parametrize(("ahead", "amount"), [(1.0, True), (3.0, False)])
def test_what_says_the_amount_goes_before_what_is_a_little_better(
    club: Agent, monkeypatch: pytest.MonkeyPatch, ahead: float, amount: bool
) -> None:
    score = candidates.score

    def scored(question: str, *more: Any) -> list[candidates.Candidate]:
        found = score(question, *more)
        for one in found:
            one.score = 5.0 + ahead if "all fees" in one.text else 5.0 if "$9,500" in one.text else one.score - 9
        return sorted(found, key=lambda one: -one.score)

    monkeypatch.setattr(answerer, "score", scored)
    monkeypatch.setattr(answerer, "choose", lambda query, found, *_: [(found[0].n, found[0].text)])
    reply = club.ask("How much was paid to the founders for the filing of the trademark?", tenant_id="U1")
    assert ("$9,500" in reply["answer"]) is amount


@pytest.mark.parametrize(
    ("text", "price", "amount"),
    [
        ("Entrance: 12 euros", True, True),
        ("The guide is free of charge.", True, True),
        ("Rate for guests: 40 a night", True, True),
        ("Gold members are eligible for 4 outings", False, True),
        ("4.2.1. The board decides about the fee.", False, False),  # the number is that of the clause
    ],
)
def test_prices_and_amounts(text: str, price: bool, amount: bool) -> None:
    assert (answerer._has_price(text), answerer._has_amount(text)) == (price, amount)
