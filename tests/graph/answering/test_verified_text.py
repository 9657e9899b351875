"""What leaves is masked after the last thing was taken out of it, and is checked as it stood before."""

from typing import Any

import pytest

from graph.answering.verified import Verified, shown
from graph.policy import grounding, pii


def evidence(text: str) -> list[Any]:
    return [
        {"n": 1, "doc_id": "d", "filename": "d.md", "title": "D", "tenant_id": "U1", "visibility": "private", "page": None, "sheet": None,
         "section": "", "chunk_id": "d:0", "score": 0.8, "sha256": "0", "start": 0, "edits": [], "withheld": 0,
         "text": text}
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["mobile 0300[1] 1234567", "mobile 03<b></b>00 1234567", "CNIC 352[1]02-1234[2]567-1", "mail we.ld[3]er@example.org",
     "card 4111[1] 1111[2] 1111[3] 1111"],
)  # fmt: skip
def test_personal_data_divided_by_what_is_taken_out_is_masked(text: str) -> None:
    assert shown(text).endswith("[REDACTED]") and not any(c.isdigit() for c in shown(text))


def test_footnotes_between_other_numbers_mask_nothing() -> None:
    text = "In 2019 [1] and 2020 [2], 45 [3] of 1200 [4]; 1234 [5] 5678 [6] 9012 [7]."
    assert pii.mask(text).text == text


def test_a_passage_with_a_link_and_columns_is_one_quote_and_its_link_is_dead() -> None:
    passage = "Ask the desk at https://desk.example.org for a card:\n\n```\nroom:    114\nopen:    9 to 5\n```\n\nBring an id."
    held = Verified(evidence(f"Cards.\n\n{passage}\n\nThe desk is closed in August."), guarded=False)
    (sentence,) = held.add({"text": passage, "sources": [1]})
    assert sentence["text"] == passage.replace("https://", "https[:]//").replace(
        "desk.example.org", "desk[.]example[.]org"
    )
    assert [c["quote"] for c in held.citations] == [passage]


LOANS = "Books are lent for ten days. However, films are lent for three days. It is not allowed to lend maps."


@pytest.mark.parametrize("claims", [True, False], ids=["claims", "one claim"])
def test_a_sentence_that_leans_on_a_dropped_one_goes_with_it(claims: bool) -> None:
    """What follows a false sentence says something else than it did: "however" turns against what nobody reads."""
    false, leaning, alone = (
        "Magazines belong to the director.",
        "However, films are lent for three days.",
        "It is not allowed to lend maps.",
    )
    held = Verified(evidence(LOANS), guarded=False)
    for text in (false, leaning, alone) if claims else (f"{false} {leaning} {alone}",):
        held.add({"text": text, "sources": [1]})
    assert [s["text"] for s in held.sentences] == [alone]
    assert held.dropped == [false, leaning]


def test_a_question_is_no_answer_unless_a_document_asks_it() -> None:
    verified = Verified(evidence(f"{LOANS} Are ten days enough?"), guarded=False, question="How long is a book lent?")
    assert not verified.add({"text": "Books are lent for ten days?", "sources": [1]})
    assert verified.add({"text": "Books are lent for ten days.", "sources": [1]})
    assert verified.add({"text": "Are ten days enough?", "sources": [1]})


def test_a_list_of_names_leaves_where_each_of_them_stands_somewhere() -> None:
    passages: list[Any] = [
        {**evidence(f"## {name} leave\n\nUp to nine weeks of leave are paid.")[0], "n": n, "chunk_id": f"d:{n}"}
        for n, name in enumerate(("Kenya", "Norway", "Peru"), 1)
    ]
    verified = Verified(passages, guarded=False)
    left = verified.add({"text": "Kenya, Norway and Peru", "sources": []})
    assert [one["text"] for one in left] == ["Kenya", "Norway", "Peru"]
    assert [one["citations"] for one in left] == [[1], [2], [3]] and not verified.dropped
    verified = Verified(passages, guarded=False)
    assert not verified.add({"text": "Kenya, Norway, Brazil", "sources": []})
    assert not verified.sentences and not verified.citations and verified.dropped == ["Kenya, Norway, Brazil"]


def test_a_sentence_that_leans_on_one_that_stands_leaves() -> None:
    held = Verified(evidence(LOANS), guarded=False)
    for text in ("Books are lent for ten days.", "However, films are lent for three days."):
        held.add({"text": text, "sources": [1]})
    assert len(held.sentences) == 2 and not held.dropped


# -- the chat model's opinion ---------------------------------------------------------------------------------------

PARAPHRASE = "Borrowers may keep a volume ten days."  # which the embedded check doubts


@pytest.mark.parametrize(
    ("text", "odds", "leaves"),
    [
        (PARAPHRASE, None, False),
        (PARAPHRASE, 4.0, True),
        (PARAPHRASE, -4.0, False),
        ("People may borrow books for up to ten days.", None, True),
        ("People may borrow books for up to ten days.", -4.0, False),
        ("Books may be borrowed for twelve days.", 6.0, False),  # the number stands nowhere
        ("Books are lent for three days.", 6.0, False),  # it stands with another thing
        ("Books are lent for ten days.", -6.0, True),  # word for word
    ],
)
def test_an_opinion_withdraws_what_it_doubts_and_lets_pass_only_what_is_exact(
    text: str, odds: float | None, leaves: bool
) -> None:
    held = Verified(evidence(LOANS), guarded=False, opinion=lambda claim, passage, places: odds)
    held.add({"text": text, "sources": [1]})
    assert bool(held.sentences) is leaves
    assert all(bool(s.get("opinion")) is (text == PARAPHRASE) for s in held.sentences)


def test_what_a_model_says_of_the_sources_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    sure = [grounding.Support(0.9, 0.0, ((0, 10),))]
    monkeypatch.setattr(grounding, "supports", lambda text, passages, encoder: sure * len(passages))
    held = Verified(evidence("The desk lends cards to members for a week."), guarded=False)
    assert held.add({"text": "The sources do not answer this.", "sources": [1]}) == []
    assert held.add({"text": "Members may borrow cards.", "sources": [1]})


def test_words_of_the_instructions_are_no_answer() -> None:
    told = "The librarian copies numbers, units, dates and names of each book."
    held = Verified(evidence("The librarian copies dates, numbers and names and units of each book."), guarded=False)
    assert not held.add({"text": told, "sources": [1]}) and held.dropped == [told]
    own = Verified(evidence(f"{told[:-1]} and below."), guarded=False)
    assert own.add({"text": told, "sources": [1]})
