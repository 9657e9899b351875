"""Documents that a question picks by their dates."""

from datetime import date

import pytest

from graph.knowledge import dated, mentions

TODAY = date(2026, 6, 1)
DOCUMENTS = [
    mentions.name("Badge policy", "badges.pdf", [["Last revised", "March 3, 2024"], ["Review date", "2026-03-01"]]),
    mentions.name("Clock policy", "clocks.pdf", [["Last updated", "4 May 2026"], ["Review date", "2026-09-01"]]),
    mentions.name(
        "Door policy", "doors.pdf", [["Last revised", "4 May 2026 by the board"], ["Approved", "2019-01-01"]]
    ),
    mentions.name("Kiln procedure", "kiln.pdf", [["Approved", "2020-02-02"], ["Next review", "2025-01-31"]]),
    mentions.name("Loom procedure", "loom.pdf", [["Approved", "2023-02-02"]]),
]


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Which policy was updated last?", ["Clock policy", "Door policy"]),
        ("Which of our policies was changed most recently, and on what date?", ["Clock policy", "Door policy"]),
        ("What is our oldest policy?", ["Badge policy"]),
        ("Which procedure is the newest?", ["Loom procedure"]),
        ("Which document was approved earliest?", ["Door policy"]),
        ("Which policies are overdue for review?", ["Badge policy"]),
        ("Which documents are past their review date?", ["Badge policy", "Kiln procedure"]),
        ("Which policy has the latest review date?", ["Clock policy"]),
        ("Which policy was last updated by the board?", []),  # says more than a kind and a date
        ("What is the latest time to leave?", []),
        ("What is the last step of the kiln procedure?", []),
        ("When was the badge policy last revised?", []),
        ("Which newsletter is the latest?", []),  # there is none
    ],
)
def test_they_are_picked_by_their_dates(question: str, titles: list[str]) -> None:
    assert [DOCUMENTS[at].title for at in dated.picked(question, DOCUMENTS, TODAY)] == titles


def test_the_line_with_the_date() -> None:
    lines = ["Approved: 2 May 2020", "", "# Doors", "Last revised: 4 May 2026", "Review: yearly"]
    assert dated.line_of("Which policy was updated last?", lines) == 3
    assert dated.line_of("Which policy was approved last?", lines) == 0
    assert dated.line_of("Which policies are overdue for review?", lines) is None
