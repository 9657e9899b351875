"""Wishes for another form are told from what is asked."""

import pytest

from graph.policy.question import wishes


@pytest.mark.parametrize(
    ("question", "bare"),
    [
        ("Explain sick leave in one sentence.", "Explain sick leave ."),
        ("Explain like I am five how sick leave works", "Explain how sick leave works"),
        ("Give me a one-sentence summary of the IT guide", "Give me a summary of the IT guide"),
        ("Translate the leave policy into German.", "summarise the leave policy ."),
        ("What are the fees, in simple words?", "What are the fees ?"),
        ("Show the fees as a table", "Show the fees"),
    ],
)
def test_a_wish_is_left_out_of_what_is_looked_for(question: str, bare: str) -> None:
    assert wishes.bare(question) == bare and wishes.wished(question)


@pytest.mark.parametrize(
    "question",
    [
        "When is leave taken in two parts?",
        "May I answer in German in the exam at the institute?",
        "Which rooms are in the hall?",
        "Who translates the leave policy?",
        "Is the form filled in as a letter of intent says?",
    ],
)
def test_other_questions_are_left_as_they_are(question: str) -> None:
    assert not wishes.wished(question)
