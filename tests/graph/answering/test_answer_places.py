"""What a sentence adds to the question is looked for where the evidence answers it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

from graph.answering.verified import Verified
from graph.policy import grounding

DUE = "Payment is due within 30 days of the invoice."
FILE = "If you are away for more than 7 work days, you may be required to file a disability claim."
CARRY = "Unused leave of five days cannot be carried over."
TERMS = "Members are lent books for ten days, students for three days."


class Reader:
    """Scores by how a passage begins; what it does not know answers nothing."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self._scores = scores

    def scores(self, question: str, passages: Sequence[tuple[str, str]]) -> np.ndarray:
        return np.array(
            [next((s for begin, s in self._scores.items() if text.startswith(begin)), -8.0) for _, text in passages],
            np.float32,
        )


def evidence(*texts: str) -> list[Any]:
    return [
        {"n": n, "doc_id": f"d{n}", "filename": f"d{n}.md", "title": "Terms", "tenant_id": "U1", "visibility": "private",
         "page": None, "sheet": None, "section": "", "chunk_id": f"d{n}:0", "score": 0.8, "sha256": "0", "start": 0,
         "edits": [], "withheld": 0, "text": text}
        for n, text in enumerate(texts, 1)
    ]  # fmt: skip


def left(
    question: str,
    claim: str,
    read: Mapping[str, float],
    *texts: str,
    support: float | None = 0.3,
    opinion: float | None = None,
) -> list[str]:
    """What leaves of a claim that the embedded check gives this `support`; None: what it really gives."""

    def judged(text: str, passages: Sequence[str], encoder: Any) -> list[grounding.Support]:
        return [
            one if support is None or text != claim else replace(one, score=support) for one in judge(text, passages)
        ]

    judge = grounding.supports
    verified = Verified(
        evidence(*texts), guarded=False, question=question, reader=Reader(read), opinion=lambda *given: opinion
    )
    with patch.object(grounding, "supports", judged):
        verified.add({"text": claim, "sources": [1]})
    assert all(sentence["support"] <= 1 and sentence["citations"] for sentence in verified.sentences)
    return [sentence["text"] for sentence in verified.sentences]


BILL, OWN = "How long do we have until we pay?", "The payment is due within 30 days."


def test_a_sentence_leaves_where_the_clause_that_answers_has_all_its_words() -> None:
    assert left(BILL, OWN, {"Payment": 1.5}, DUE) == [OWN]
    assert left(BILL, OWN, {"Payment": -4.0}, DUE) == []  # it stands there, and answers nothing
    assert left(BILL, OWN, {"Payment": 1.5, "The": 8.0}, DUE, "The bill is settled in 14 days.") == []
    assert left(BILL, OWN.replace("30", "31"), {"Payment": 1.5}, DUE) == []
    assert left(BILL, OWN, {"Payment": 1.5}, DUE, opinion=-0.5) == [OWN]
    assert left(BILL, OWN, {"Payment": 1.5}, DUE, opinion=-4.0) == []  # the model itself does not believe it


def test_a_condition_follows_what_holds_under_it() -> None:
    question, own = "I am ill. Is there something I have to file?", "Yes, you may have to file a disability claim."
    assert left(question, own, {"If you": 1.0}, FILE) == [own, FILE]
    assert left(question, f"{own[:-1]} if you are away.", {"If you": 1.0}, FILE)[1:] == []


@pytest.mark.parametrize(("question", "claim", "passage"), [
    ("May I take leave along into next year?", "Yes, five days of leave are carried over.", CARRY),
    ("How long may students borrow a book?", "Students are lent books for ten days.", TERMS),
    ("Is a badge needed?", "Yes, it is needed.", "A badge is worn by all."),
    ("How much do members in Berlin pay?", "Members in Berlin pay 30 euros.", "The boat costs members 30 euros."),
    ("As fees are waived, what do members pay?", "Fees are waived, and members pay 30 euros.", "Members pay 30 euros."),
    ("When do contractors hand in sheets?", "Contractors hand in sheets within 5 days.", "Employees hand in sheets within 5 days."),
    ("Who repairs the roof?", "The tenant repairs the roof.", "The landlord repairs the roof; the tenant repairs the windows."),
    ("Can the buffer be reused?", "The gel can be reused twice.", "The buffer can be reused twice, but the gel only once."),
    ("Is food permitted?", "Food is permitted in the lobby.", "Food is permitted in the lobby only."),
    ("Do I have to wear goggles?", "Goggles must be worn on request.", "Goggles may be worn on request."),
    ("Is a private laptop of use?", "Private laptops are of use.", "The use of private laptops is refused."),
    ("What is paid to adoptive parents?", "Adoptive mothers take 16 weeks of leave.", "Birth mothers take 16 weeks of leave."),
])  # fmt: skip
def test_what_is_against_it_or_of_another_thing_is_no_answer(question: str, claim: str, passage: str) -> None:
    assert left(question, claim, {passage[:6]: 3.0}, passage) == []


def test_a_number_of_another_thing_does_not_leave() -> None:
    question, claim = "How many weeks' notice do I have to give?", "You have to give 1 year's notice."
    passage = "Who is with us for less than 1 year gets a notice and a sum of four weeks' pay to give."
    assert left(question, claim, {"Who": 0.5}, passage, support=0.7) == [claim]
    assert left(question, claim, {"Who": -2.8}, passage, support=0.7) == []


def test_a_value_of_another_row_does_not_leave_alone() -> None:
    question, rows = "What does cover for the whole family cost?", ("Partner: $197.27", "Everybody at home: $287.65")
    one = rows[0].rpartition(" ")[2]
    assert left(question, one, {"Partner": 1.0, "Everybody": 2.5}, *rows, support=None) == [one]
    assert left(question, one, {"Partner": -0.6, "Everybody": 1.5}, *rows, support=None) == []
    assert left(question, one, {"Partner": -0.6, "No": 1.5}, rows[0], "No cover is free.", support=None) == [one]


def test_a_value_of_another_row_than_the_one_with_the_number_that_is_asked_for_does_not_leave() -> None:
    table = "Rate: +300; Least: 6%\nRate: +200; Least: 8%\nRate: 0; Least: 11%\n"
    question = "What is the least share if rates go up by 300 points?"
    assert left(question, "8%", {"Rate": 1.0}, table, support=None) == []
    assert left(question, "6%", {"Rate": 1.0}, table, support=None) == ["6%"]
    assert left("What is the least share in 2030?", "8%", {"Rate": 1.0}, table, support=None) == ["8%"]


def test_a_value_of_the_row_of_another_code_does_not_leave() -> None:
    table = "Animal: P0401; Copies: 1901575\nAnimal: P0402; Copies: 3321024\n"
    question = "How many copies did animal P0402 have on day 169?"
    assert left(question, "1901575", {"Animal": 1.0}, table, support=None) == []
    assert left(question, "3321024", {"Animal": 1.0}, table, support=None) == ["3321024"]
    assert left(question.replace("P0402", "P0499"), "1901575", {"Animal": 1.0}, table, support=None) == ["1901575"]


def test_what_is_said_of_other_numbers_of_a_thing_does_not_leave() -> None:
    first, second = "Visits 1, 2 and 7-9 are within 3 days.", "Visits 10 and 12 are within 4 days."
    question = "How many days off may visit {} be?"
    for number, value, leaves in (
        (10, "3 days", False),
        (10, "4 days", True),
        (8, "3 days", True),
        (8, "4 days", False),
    ):
        sent = left(question.format(number), value, {"Visits": 1.0}, first, second, support=None)
        assert sent == ([value] if leaves else []), (number, value)
    assert left(question.format(40), "3 days", {"Visits": 1.0}, first, second, support=None) == ["3 days"]


def test_a_value_of_one_row_is_no_difference() -> None:
    rows = ("Partner: $197.27", "Alone: $96.05")
    read = {"Partner": 2.0, "Alone": 1.9}
    assert left("What is taken off for a partner?", "$197.27", read, *rows, support=None) == ["$197.27"]
    for question in ("How much more is taken off for a partner than alone?", "What is the difference between the two?"):
        assert left(question, "$197.27", read, *rows, support=None) == []
        assert left(question, rows[0], read, *rows, support=None) == [rows[0]]
    than = "Partners pay two days more than others."
    assert left("How many more days do partners pay than others?", "two days", {"Partners": 2.0}, than, support=None)


def test_a_yes_against_which_the_answer_stands_does_not_leave() -> None:
    question, claim = (
        "Will my co-pilot check my code for mistakes?",
        "Yes, your co-pilot will check your code for mistakes.",
    )
    passage = "Co-pilots answer questions but will not check your code."
    agrees = "Co-pilots will check your code, which costs nothing."
    assert left(question, claim, {"Co-pilots": -3.0}, passage, support=0.7) == [claim]  # nothing answers: as before
    assert left(question, claim, {"Co-pilots": 2.0}, passage, support=0.7) == []
    assert left(question, claim, {"Co-pilots": 2.0}, passage, support=0.9) == [claim]
    assert left(question, claim, {"Co-pilots": 2.0}, agrees, support=0.7) == [claim]


@pytest.mark.parametrize(("question", "claim", "passage", "leaves"), [
    ("Is the shuttle free?", "Yes, the shuttle is free.", "The shuttle is free, no ticket is needed.", True),
    ("Is overtime paid?", "No, overtime is not paid.", "Overtime is not paid but compensated.", True),
    ("Is smoking allowed?", "No, smoking is not allowed.", "Smoking is prohibited in all laboratories.", True),
    ("Is a deposit required?", "Yes, a deposit is required.", "A deposit is required, except for members.", True),
    ("Is smoking allowed?", "Yes, smoking is allowed.", "Smoking is prohibited in all laboratories.", False),
    ("May students print?", "Yes, students may print.", "Only staff may print; students may not.", False),
    ("Is overtime paid?", "No, overtime is not paid.", "Overtime is paid in March.", False),
])  # fmt: skip
def test_which_answers_stand_against_a_yes_or_no(question: str, claim: str, passage: str, leaves: bool) -> None:
    assert bool(left(question, claim, {passage[:6]: 2.0}, passage, support=0.7)) == leaves


def test_another_subject_in_the_words_of_the_passage_does_not_leave() -> None:
    question, passage = "When do contractors submit timesheets?", "Employees must submit timesheets within 5 days."
    claim, read = "Contractors must submit timesheets within 5 days.", {"Employees": 2.0}
    assert left(question, claim, read, passage, support=0.7) == []
    assert left(question, claim, read, passage, "Contractors are employees, too.", support=0.7) == [claim]
    about = "To submit timesheets, contractors must submit within 5 days."
    assert left(question, about, read, passage, support=0.7) == [about]


def test_a_row_is_not_judged_by_a_reader_of_sentences() -> None:
    table = "Plan: Basic; Price: 10 EUR\nPlan: Plus; Price: 20 EUR\n"
    question, claim = "Which plan costs least?", "Basic costs least, at 10 EUR."
    assert left(question, claim, {}, table, support=0.7) == [claim]


def test_a_part_that_is_a_question_of_its_own_is_looked_for_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    class PartReader(Reader):
        def scores(self, question: str, passages: Sequence[tuple[str, str]]) -> np.ndarray:
            return super().scores(question, passages) if question.startswith("how") else np.full(len(passages), -5.0)

    passage = "The pause is two weeks."
    for question, leaves in (
        ("When does the next course begin, and how long is the summer pause?", True),
        ("When does the next course begin, and how long is it?", False),
    ):
        verified = Verified(
            evidence(passage), guarded=False, question=question, reader=PartReader({"The": 2.0}),
        )  # fmt: skip
        monkeypatch.setattr(grounding, "supports", lambda text, passages, *_: [grounding.Support(0.3)] * len(passages))
        assert bool(verified.add({"text": "The pause is two weeks.", "sources": [1]})) == leaves


def test_the_reader_is_not_asked_about_what_is_clearly_supported() -> None:
    class Never:
        def scores(self, question: str, passages: Any) -> np.ndarray:
            raise AssertionError

    verified = Verified(evidence(DUE), guarded=False, question=BILL, reader=Never())
    assert len(verified.add({"text": DUE, "sources": [1]})) == 1


def test_two_denials_agree() -> None:
    assert grounding.agrees("Private laptops are refused.", "The use of private laptops is refused.")
    assert grounding.agrees("Private laptops are not allowed.", "The use of private laptops is refused.")
    assert not grounding.agrees("Private laptops are used.", "The use of private laptops is refused.")


FEES = "Course: Baker; Length: 26 weeks; Cost: $8,864\nCourse: Cook; Length: 31 weeks; Cost: $11,913"


def test_a_value_of_a_row_without_a_word_of_the_question_is_of_another_thing() -> None:
    assert left("What do guests pay for parking?", "$8,864", {"Course": 1.0}, FEES, support=1.0) == []
    assert left("What does the baker course cost?", "$8,864", {"Course": 1.0}, FEES, support=1.0) == ["$8,864"]


def test_a_number_that_a_parallel_document_has_of_another_thing_does_not_leave() -> None:
    plain = "For the grade with honours a student has a mean of 90% and no mark below 60%."
    full = "For the grade with full honours a student has a mean of 90% and no mark below 85%."
    question = "What do honours and full honours ask for?"
    swapped = "The grade with full honours asks for a mean of 90% and no mark below 60%."
    assert left(question, swapped, {"For": 2.0}, plain, full, support=0.9) == []
    right = swapped.replace("60", "85")
    assert left(question, right, {"For": 2.0}, plain, full, support=0.9) == [right]
