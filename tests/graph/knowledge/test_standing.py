"""What a text says of what is in force."""

from datetime import date

import pytest

from graph.knowledge import mentions, standing

TODAY = date(2026, 11, 27).toordinal()
REVOKED = "# Directive 7\n\nThis directive has been revoked. It is superseded by Directive 12.\n\nFix it in 30 days."


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (REVOKED, "This directive has been revoked. It is superseded by Directive 12."),
        ("# Old SOP\n\nThis SOP is no longer valid.\n\nWear gloves.", "This SOP is no longer valid."),
        ("# Plan\n\nStatus: Superseded\n\nWe build.", "Status: Superseded"),
        ("# Plan\n\nSuperseded by: plan 2025\n\nWe build.", "Superseded by: plan 2025"),
        ("**WITHDRAWN**\n\nWe build.", "**WITHDRAWN**"),
        (
            "# Travel\n\nThe present policy was replaced on 1 May 2024 by FIN-12.",
            "The present policy was replaced on 1 May 2024 by FIN-12.",
        ),
    ],
)
def test_a_document_says_that_it_is_no_longer_in_force(text: str, sentence: str) -> None:
    assert standing.lapse(text, TODAY) == sentence
    assert (mentions.LAPSED, sentence) in [*standing.fields(text)]


@pytest.mark.parametrize(
    "text",
    [
        "This directive has not been revoked.",
        "If this policy is replaced, staff are told.",
        "This policy will be replaced in May.",
        "This policy is valid until it has been revoked.",
        "The filter is replaced every week.",
        "Passwords are revoked when people leave.",
        "Status: In force",
        "- Replaced by: https://example.org/pull/56",
        "Withdrawn samples are kept in FZ-02.",
        "We mend what breaks.\n\n" + "The mill turns. " * 80 + "\n\nReplaced by Ben in May, the pump runs.",
        "Expiry date: 2024-05-01; Reagent: ethanol; Room: 4",
        "This paper is about obsolete tools.",
        "This form was replaced in the folder by the porter, and " + "many words " * 60,
    ],
)
def test_other_sentences_say_nothing_of_the_kind(text: str) -> None:
    assert standing.lapse(f"# Rules\n\n{text}\n", TODAY) == ""


@pytest.mark.parametrize(
    ("text", "over"),
    [
        ("Valid until: 31 December 2024", True),
        ("Valid until: 31 December 2027", False),
        ("Expiry date: 2026-11-26", True),
        ("Expires on 27 November 2026", False),
        ("This policy is valid from 1 January 2024 until 31 December 2025.", True),
        ("This procedure applies until 1 May 2030.", False),
        ("Bookings are open until 31 December 2024.", False),
        ("This policy was reviewed on 1 May 2024.", False),
        ("This policy is effective on 1 January 2024.", False),
        ("This policy is in force since 1 January 2024.", False),
        ("This form expired on 1 January 2024.", True),
        ("Valid until further notice", False),
    ],
)
def test_a_document_may_say_until_when_it_is_in_force(text: str, over: bool) -> None:
    assert standing.lapse(f"# Rules\n\n{text}\n", TODAY) == (text if over else "")


def test_what_is_limited_is_noted_before_it_is_over() -> None:
    assert [*standing.fields("# Plan\n\nValid until: 2090-01-01\n")] == [(mentions.LIMITED, "Valid until: 2090-01-01")]


def test_only_the_opening_says_it_of_the_document() -> None:
    assert not [*standing.fields("word " * standing.OPENING + REVOKED)]


@pytest.mark.parametrize(
    ("text", "title", "filename"),
    [
        ("This directive supersedes BOD 15-01, Critical Fixes (May 2015), which is hereby revoked.", "Binding Operational Directive 15-01", "a.md"),
        ("This directive supersedes BOD 15-01, Critical Fixes.", "Critical fixes", "bod-15-01.pdf"),
        ("This policy replaces the Data Protection Policy of 2019.", "Data Protection Policy 2019", "dp.docx"),
        ("This travel policy hereby replaces and supersedes FIN-12.", "Travel abroad", "FIN-12.pdf"),
        ("Supersedes: SOP 14 version 2", "SOP 14, version 2", "sop14.md"),
    ],
)  # fmt: skip
def test_a_later_document_says_what_it_replaces(text: str, title: str, filename: str) -> None:
    [one] = standing.replaced(f"# New\n\n{text}\n\nMore.")
    assert one.sentence == text
    assert standing.speaks_of(one.words, mentions.name(title, filename))
    assert not standing.speaks_of(one.words, mentions.name("Binding Operational Directive 16-01", "bod-16-01.pdf"))


@pytest.mark.parametrize(
    "text",
    [
        "This policy replaces all previous versions.",
        "This document supersedes any earlier agreement.",
        "The new pump replaces the old one.",
        "If this policy replaces the Data Protection Policy, staff are told.",
    ],
)
def test_what_is_not_named_is_not_replaced(text: str) -> None:
    assert not [*standing.replaced(text)]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What did BOD 15-01 require?", True),
        ("What did bod-15-01 require?", True),
        ("What was required before?", True),
        ("In how many days must it be fixed?", False),
        ("Is it 30 days since 2015?", False),
        ("What does BOD 16-01 require?", False),
    ],
)
def test_a_question_may_ask_for_what_is_no_longer_in_force(question: str, asked: bool) -> None:
    old = {
        "n": 1,
        "where": "p",
        "doc_id": "d",
        "start": 0,
        "title": "Directive 15-01",
        "filename": "bod-15-01.md",
        "text": REVOKED,
    }
    assert standing.asked_for(question, [old]) is asked
