"""What a sentence adds to the question is looked for where the evidence answers it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from graph.answering.verified import Verified

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


def left(question: str, claim: str, read: Mapping[str, float], *texts: str, opinion: float | None = -9.0) -> list[str]:
    """What leaves of a claim. The model's opinion is against it, so that the place alone lets it through."""
    verified = Verified(
        evidence(*texts), guarded=False, question=question, reader=Reader(read), opinion=lambda *given: opinion
    )
    verified.add({"text": claim, "sources": [1]})
    assert all(sentence["support"] <= 1 and sentence["citations"] for sentence in verified.sentences)
    return [sentence["text"] for sentence in verified.sentences]


BILL = "We got the bill for the workshop. How long do we have to settle it?"
OWN = "You have 30 days to settle the bill."


def test_a_sentence_in_the_words_of_the_question_leaves_where_the_documents_answer_so() -> None:
    assert left(BILL, OWN, {"Payment": 1.5}, DUE) == [OWN]
    assert left(BILL, OWN, {"Payment": -4.0}, DUE) == []  # it stands there, and answers nothing
    assert left(BILL, OWN, {"Payment": 1.5, "The": 8.0}, DUE, "The bill is settled in 14 days.") == []
    assert left(BILL, "You have 31 days to settle the bill.", {"Payment": 1.5}, DUE) == []


@pytest.mark.parametrize(("question", "claim"), [
    ("As all fees are waived, how much do members pay?", "All fees are waived, and members pay 30 euros."),
    ("How much do members in Berlin pay?", "Members in Berlin pay 30 euros."),
    ("How much do 12 members pay?", "The 12 members pay 30 euros."),
    ("What do retired members without income or savings pay?", "Retired members without income or savings pay 30 euros."),
])  # fmt: skip
def test_what_the_question_takes_for_granted_is_not_supported(question: str, claim: str) -> None:
    passage = "The boat costs 30 euros."
    assert left(question, claim, {"The boat": 3.0}, passage) == []
    assert left("How much do members pay?", "Members pay 30 euros.", {"The boat": 3.0}, passage) != []


def test_a_condition_follows_what_holds_under_it() -> None:
    question, own = "I am ill. Is there something I have to file?", "Yes, you may have to file a disability claim."
    assert left(question, own, {"If you": 1.0}, FILE) == [own, FILE]
    assert left(question, f"{own[:-1]} if you are away.", {"If you": 1.0}, FILE)[1:] == []


@pytest.mark.parametrize(("question", "claim", "passage"), [
    ("May I take leave along into next year?", "Yes, five days may be taken along.", CARRY),
    ("How long may students borrow a book?", "Students may borrow it for ten days.", TERMS),
    ("Is a badge needed?", "Yes, it is needed.", "A badge is worn by all."),
])  # fmt: skip
def test_what_is_against_it_or_another_value_or_adds_nothing_is_no_answer(
    question: str, claim: str, passage: str
) -> None:
    assert left(question, claim, {passage[:6]: 3.0}, passage) == []


def test_a_number_of_another_thing_does_not_leave() -> None:
    question, claim = "How many weeks' notice do I have to give?", "You have to give 1 year's notice."
    passage = "Who is with us for less than 1 year gets a notice and a sum of four weeks' pay to give."
    assert left(question, claim, {"Who": 0.5}, passage, opinion=0.1) == [claim]
    assert left(question, claim, {"Who": -2.8}, passage, opinion=0.1) == []


def test_a_value_of_another_row_does_not_leave_alone() -> None:
    question, rows = "What does cover for the whole family cost?", ("Partner: $197.27", "Everybody at home: $287.65")
    one = rows[0].rpartition(" ")[2]
    assert left(question, one, {"Partner": 1.0, "Everybody": 2.5}, *rows, opinion=None) == [one]
    assert left(question, one, {"Partner": -0.6, "Everybody": 1.5}, *rows, opinion=None) == []
    assert left(question, one, {"Partner": -0.6, "No": 1.5}, rows[0], "No cover is free.", opinion=None) == [one]


def test_a_value_of_one_row_is_no_difference() -> None:
    rows = ("Partner: $197.27", "Alone: $96.05")
    read = {"Partner": 2.0, "Alone": 1.9}
    assert left("What is taken off for a partner?", "$197.27", read, *rows, opinion=None) == ["$197.27"]
    for question in ("How much more is taken off for a partner than alone?", "What is the difference between the two?"):
        assert left(question, "$197.27", read, *rows, opinion=None) == []
        assert left(question, rows[0], read, *rows, opinion=None) == [rows[0]]


def test_a_yes_against_which_the_answer_stands_does_not_leave() -> None:
    question, claim = (
        "Will my co-pilot check my code for mistakes?",
        "Yes, your co-pilot will check your code for mistakes.",
    )
    passage = "Co-pilots answer questions but will not check your code."
    assert left(question, claim, {"Co-pilots": -3.0}, passage, opinion=1.5) == [claim]  # nothing answers: as before
    assert left(question, claim, {"Co-pilots": 2.0}, passage, opinion=1.5) == []


def test_a_part_that_is_a_question_of_its_own_is_looked_for_by_itself() -> None:
    class PartReader(Reader):
        def scores(self, question: str, passages: Sequence[tuple[str, str]]) -> np.ndarray:
            return super().scores(question, passages) if question.startswith("how") else np.full(len(passages), -5.0)

    passage = "The pause is two weeks."
    for question, leaves in (
        ("When does it begin, and how long is a pause?", True),
        ("When is it, and how long is it?", False),
    ):
        verified = Verified(
            evidence(passage), guarded=False, question=question, reader=PartReader({"The": 2.0}),
            opinion=lambda *given: -9.0,
        )  # fmt: skip
        assert bool(verified.add({"text": "A pause is two weeks long.", "sources": [1]})) == leaves


def test_the_reader_is_not_asked_about_what_is_clearly_supported() -> None:
    class Never:
        def scores(self, question: str, passages: Any) -> np.ndarray:
            raise AssertionError

    verified = Verified(evidence(DUE), guarded=False, question=BILL, reader=Never())
    assert len(verified.add({"text": DUE, "sources": [1]})) == 1
