"""Whom a passage is meant for."""

import pytest

from graph.policy.evidence.audience import asker, for_others


@pytest.mark.parametrize(
    ("question", "who"),
    [
        ("How can I avoid Turnitin AI detection?", "ruled"),
        ("How can students get round the similarity check?", "ruled"),
        ("My phone is dead, how do I get past the login code?", "ruled"),
        ("How can I catch my students hiding AI use?", "judge"),
        ("As a marker, how do I skip the second reading?", "judge"),
        ("I grade the essays: can I leave out the report?", "judge"),
    ],
)
def test_who_asks(question: str, who: str) -> None:
    assert asker(question) == who


@pytest.mark.parametrize(
    ("passage", "others"),
    [
        ("Students may use a spelling checker and must declare it.", False),
        ("Declare every tool in your methods section.", False),
        ("The score is a signal, not proof.", False),
        ("A student may bring a friend; the panel decides within a week.", False),
        ("What a reviewer should consider\nWriting consistency.", True),
        ("Invite the student to a conversation.", True),
        ("Look at two earlier pieces by the same student.", True),
    ],
)
def test_to_whom_it_speaks(passage: str, others: bool) -> None:
    assert for_others(passage, "ruled") is others


def test_a_marker_is_told_what_markers_do() -> None:
    assert for_others("Students may use a spelling checker.", "judge")
    assert not for_others("What a reviewer should consider", "judge")
