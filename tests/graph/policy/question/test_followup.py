"""A follow-up is completed from the question before it, and a question that is whole is left alone."""

import pytest

from graph.policy.question.followup import antecedent, complete

LEAVE = "How many days of annual leave do employees get in Karachi?"
VISITORS = "How many visitors did the museum have in 2023?"
TRIAL = "How long is the trial period of a new contract?"


@pytest.mark.parametrize(
    ("earlier", "question", "whole"),
    [
        # a fragment keeps the verb and frame, and takes the place of what it is another one of
        (LEAVE, "And in Lahore?", "How many days of annual leave do employees get in Lahore?"),
        (LEAVE, "what about in Lahore then?", "How many days of annual leave do employees get in Lahore?"),
        (LEAVE, "and for contractors?", "How many days of annual leave do employees get in Karachi for contractors?"),
        ("Who signs the purchase of the small microscope?", "And the large microscope?", "Who signs the large microscope?"),
        ("Does the fund pay for flights and hotel?", "What about food then?", "Does the fund pay for food?"),
        ("What contrast should small text have?", "and for big text?", "What contrast should big text have?"),
        # a time stays where something else is put
        (VISITORS, "and the income?", "What was the income in 2023?"),
        (VISITORS, "what about the costs?", "What were the costs in 2023?"),
        (VISITORS, "and the library?", "How many visitors did the library have in 2023?"),
        (VISITORS, "and in 2022?", "How many visitors did the museum have in 2022?"),
        ("When does the library close on Sundays?", "and the workshop?", "When does the workshop close on Sundays?"),
        ("What was the turnover of the shop in 2021?", "and the profit?", "What was the profit of the shop in 2021?"),
        ("What was the turnover of the shop in May?", "and of the café?", "What was the turnover of the café in May?"),
        ("How much rain fell in May?", "and in June?", "How much rain fell in June?"),
        # a name takes the place of the only other one
        ("When does the Karachi office close?", "and from Lahore?", "When does the Lahore office close?"),
        ("Which days off does Maria get?", "And in Lahore?", "Which days off does Maria get in Lahore?"),
        ("When does the Karachi office close?", "and from Monday?", "When does the Karachi office close from Monday?"),
        # "there" is the place
        ("What does a room at Quay House cost?", "and how many beds do they have there?",
         "How many beds do they have at Quay House?"),
        # a pronoun stands for the noun phrase
        (TRIAL, "Who can extend it?", "Who can extend the trial period of a new contract?"),
        (TRIAL, "and what are its conditions?", "What are the trial period of a new contract's conditions?"),
        ("Who keeps the freezer log?", "Where is that kept?", "Where is the freezer log kept?"),
        ("Does the drying tube of the gas analyzer need replacing?", "when exactly does it have to be swapped?",
         "When exactly does the drying tube of the gas analyzer have to be swapped?"),
        ("How long does a guest account run by default?", "What are my options when it runs out?",
         "What are my options when a guest account runs out?"),
        # something's exceptions: whose is said before
        (TRIAL, "What are the exceptions?", "What are the exceptions of the trial period of a new contract?"),
        # a clause that goes on from the last one
        (TRIAL, "And what if I want to leave earlier?",
         "About the trial period of a new contract: what if I want to leave earlier?"),
    ],
)  # fmt: skip
def test_a_follow_up_is_completed(earlier: str, question: str, whole: str) -> None:
    assert complete(question, earlier, antecedent(earlier))[0] == whole


FIX = "How long do we have to fix a serious hole?"
RISK = "How big can the deposit of a low risk business be?"


@pytest.mark.parametrize(
    ("earlier", "question", "whole"),
    [
        # a correction
        (VISITORS, "Sorry, I meant 2022", "How many visitors did the museum have in 2022?"),
        (VISITORS, "No, I mean the library", "How many visitors did the library have in 2023?"),
        ("Who elects the chair of the board?", "not the board, the council", "Who elects the chair of the council?"),
        ("How long do we keep the list of what was in a box?", "no, I meant the log of who went in",
         "How long do we keep the log of who went in?"),
        ("How fast do we react to a P1 incident?", "sorry, I meant P2", "How fast do we react to a P2 incident?"),
        (RISK, "And moderate?", "How big can the deposit of a moderate risk business be?"),
        # a condition
        (FIX, "Even if it's already in use?", "How long do we have to fix a serious hole if it's already in use?"),
        (FIX, "and unless they ask?", "How long do we have to fix a serious hole unless they ask?"),
        (FIX, "What if they are off?", "How long do we have to fix a serious hole if they are off?"),
        (LEAVE, "Only for contractors?", "How many days of annual leave do employees get in Karachi for contractors?"),
        # another form
        (FIX, "Say that in one sentence", "How long do we have to fix a serious hole, in one sentence?"),
        (FIX, "In one short sentence, please", "How long do we have to fix a serious hole, in one short sentence?"),
        (FIX, "as a list please", "How long do we have to fix a serious hole, as a list?"),
        (FIX, "shorter please", FIX),
        ("How many labs have a hood?", "Which ones?", "Which labs have a hood?"),
        # what was asked about is done, or is one of several
        ("How fast do we react to a P2 incident?", "Who has to be told?", "Who has to be told (a P2 incident)?"),
        ("How often is the access of admins reviewed?", "Who does that?", "Who does that (the access of admins)?"),
        ("How often do we send staff fake mails?", "What happens to people who fall for one?",
         "What happens to people who fall for one (staff fake mails)?"),
        ("Where are the three places for data on Farm?", "Which one is for raw reads?",
         "Which one is for raw reads (the three places, data, Farm)?"),
        ("What is the difference between ISO 5230 and ISO 18974?", "Which one is about security?",
         "Which one is about security (ISO 5230 and ISO 18974)?"),
        ("Which Annex A controls are excluded in the statement?", "why were those left out?",
         "why were those left out (Annex A controls, the statement)?"),
        # which of two things "it" is, nobody knows
        ("How many cells in the glovebox died?", "Who cleans it?", "Who cleans it (cells, the glovebox)?"),
        ("Who can throw a member out of the club?", "How long do they have to ask again?",
         "How long do they have to ask again (a member, the club)?"),
    ],
)  # fmt: skip
def test_a_turn_that_leans_on_the_last_takes_along_what_it_was_about(earlier: str, question: str, whole: str) -> None:
    assert complete(question, earlier, antecedent(earlier))[0] == whole


@pytest.mark.parametrize(
    "question",
    [
        "When an audit is late, after how many days is the head told?",
        "I want somebody removed from our list, how is that done?",
        "What contrast does normal text need against its background?",
        "If a page is wrong, who mends it?",
        "List the rooms with a hood.",
        "When does the office open?",
        "Who orders liquid nitrogen?",
        "What is a risk assessment and why is it needed?",
        "If a student misses the exam, can they sit it again?",
        "Is it allowed to eat in the laboratory?",
        "How long does it take to order a printer?",
        "Are there lockers, and how many are there?",
        "How do departments pay their guests?",
        "Who leads the team this year?",
        "What happens to people that work at night?",
    ],
)
def test_a_question_with_a_subject_of_its_own_is_left_alone(question: str) -> None:
    assert complete(question, TRIAL, antecedent(TRIAL)) == (question, "")


def test_without_a_subject_in_the_question_the_answer_gives_it() -> None:
    assert antecedent("And who is it?", "Dr Amina Malik chairs the ethics board.") == "Dr Amina Malik"


def test_a_long_question_and_an_empty_past_are_left_alone() -> None:
    long = "and " + "please tell me " * 20 + "about it?"
    assert complete(long, TRIAL, "the trial period")[0] == long
    assert complete("How long does it last?", "", "") == ("How long does it last?", "")
