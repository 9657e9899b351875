"""Which documents speak of something: what is looked for, and in which kind of document."""

import pytest

from graph.policy.question import intent, mentioning
from graph.policy.question.mentioning import Mentioning


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which documents mention hydrofluoric acid?", Mentioning("hydrofluoric acid", "")),
        ("How many policies refer to ISO 27001?", Mentioning("ISO 27001", "policy")),
        ("List all reports that talk about the crane.", Mentioning("the crane", "report")),
        ("Which directives mention encryption?", Mentioning("encryption", "directive")),
        ("Which plan covers dental care?", None),
        ("Where is the crane mentioned?", Mentioning("the crane", "")),
        ("In which contracts does the word indemnity appear?", Mentioning("indemnity", "contract")),
        ("Which documents do you have about travel?", Mentioning("travel", "")),
        ("Which documents do I have to sign?", None),
        ("Which chapter mentions the crane?", None),
        ("Who mentioned the crane?", None),
        ("Where is the crane?", None),
    ],
)
def test_what_is_looked_for(question: str, expected: Mentioning | None) -> None:
    assert mentioning.find(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "Which reports do I have to sign in May?",
        "Which documents can I shred and which must stay ten years?",
        "Which policies have an owner named legal?",
        "Which documents are public for every group?",
    ],
)
def test_a_condition_makes_it_no_list_of_all(question: str) -> None:
    assert intent.inventory(question) == ""


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which directives are no longer in force?", "directive"),
        ("Which policies have been superseded by a newer one?", "policy"),
        ("Are there any documents that have expired?", ""),
        ("List all withdrawn standards.", "standard"),
        ("Do we have any outdated SOPs?", "sop"),
        ("How many documents no longer apply?", ""),
        ("Which directives are in force?", None),
        ("Which policies are not in force for contractors?", None),
        ("Which directive superseded BOD 15-01?", None),
        ("Which documents have to be withdrawn by the author?", None),
        ("Is the travel policy no longer valid?", None),
    ],
)
def test_which_are_no_longer_in_force(question: str, kind: str | None) -> None:
    assert mentioning.no_longer_in_force(question) == kind
