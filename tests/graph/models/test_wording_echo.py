"""A statement that only says the question again answers nothing."""

import pytest

from graph.models.wording import echoes


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The Platinum membership costs a company.", "How much does a Platinum membership cost a company?"),
        ("We ask about its open source tooling.", "What do we ask about its open source tooling?"),
        ("The freezer is opened by those who may open it.", "Who may open the freezer?"),
    ],
)
def test_the_question_as_a_statement_is_an_echo(text: str, question: str) -> None:
    assert echoes(text, question)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (
            "The Platinum membership costs a company 500,000 dollars.",
            "How much does a Platinum membership cost a company?",
        ),
        ("The membership costs a company.", "Does the membership cost a company?"),
        ("The steward opens the freezer.", "Who may open the freezer?"),
        ("No, it is not opened.", "Who may open the freezer?"),
    ],
)
def test_a_word_or_a_number_of_its_own_is_none(text: str, question: str) -> None:
    assert not echoes(text, question)
