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


def test_the_reader_is_not_asked_about_what_is_clearly_supported() -> None:
    class Never:
        def scores(self, question: str, passages: Any) -> np.ndarray:
            raise AssertionError

    verified = Verified(evidence(DUE), guarded=False, question=BILL, reader=Never())
    assert len(verified.add({"text": DUE, "sources": [1]})) == 1
