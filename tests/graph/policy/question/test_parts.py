"""Two questions in one are told apart; what leans on the question before it is none of its own."""

import pytest

from graph.policy.question.parts import parts


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Who keeps the keys of the archive, and what does a parking permit cost?",
            ["Who keeps the keys of the archive?", "what does a parking permit cost?"],
        ),
        (
            "When is the annual audit? How many printers does the library own?",
            ["When is the annual audit?", "How many printers does the library own?"],
        ),
        (
            "From what month on are the logs stored, and what time zone are the clocks in?",
            ["From what month on are the logs stored?", "what time zone are the clocks in?"],
        ),
        (
            "In the cold store, how much do the crates weigh, and by how much may the temperature rise?",
            [
                "In the cold store, how much do the crates weigh?",
                "In the cold store, by how much may the temperature rise?",
            ],
        ),
        (
            "When do we write off a small unpaid loan, and how fast must we write off an account after a bankruptcy?",
            ["When do we write off a small unpaid loan?", "how fast must we write off an account after a bankruptcy?"],
        ),
        (
            "How much buffer goes into a tube and how long do the tubes stand before I read them?",
            ["How much buffer goes into a tube?", "how long do the tubes stand before I read them?"],
        ),
        (
            "Memo RRA-21430: when does the collection of data begin and when is the final report due?",
            [
                "Memo RRA-21430, when does the collection of data begin?",
                "Memo RRA-21430, when is the final report due?",
            ],
        ),
        ("May data be kept longer, and under which safeguards?", []),
        ("How do I get an account and how long does it take?", []),
        ("When did the board meet and where?", []),
        ("What did the board decide, and who wrote the minutes of the board?", []),  # both about the board
        ("How many weeks of medical leave are paid and how many are unpaid?", []),
        ("Which is longer, and why is the sick leave shorter than the annual leave?", []),
        ("The door is locked and the guard is away.", []),
        ("Who signs the travel request?", []),
        (
            "Camden circuits: what height, and which way round?",
            ["Camden circuits, what height?", "Camden circuits, which way round?"],
        ),
    ],
)
def test_parts(question: str, expected: list[str]) -> None:
    assert parts(question) == expected


def test_a_long_text_of_questions_is_one() -> None:
    assert parts("What costs the blue permit? " * 500) == []
