"""What of the passages a small model is shown."""

from typing import Any

from graph.models.excerpts import GAP, excerpts
from graph.models.reader import shared

FILLER = (
    "The corridor is swept on Mondays and the lamps are changed when they fail, as every house keeper knows well. " * 4
)


def passage(n: int, text: str) -> Any:
    return {
        "n": n,
        "text": text,
        "title": "House rules",
        "section": "",
        "score": 0.6,
        "start": 0,
        "doc_id": f"d{n}",
        "filename": f"{n}.md",
    }


WANTED = "The freezer alarm is answered within ten minutes."
PASSAGES = [passage(1, f"{FILLER}\n\n{FILLER}"), passage(2, f"{FILLER}\n\n{WANTED}\n\n{FILLER}")]
QUESTION = "How quickly is the freezer alarm answered?"


def test_what_answers_is_shown_first_and_not_more_words_than_asked_for() -> None:
    found = excerpts(QUESTION, PASSAGES, shared(), 80)
    assert found[0]["n"] == 2 and WANTED in found[0]["text"]
    assert sum(len(item["text"].split()) for item in found) <= 140  # a unit is never cut
    for item in found:
        whole = PASSAGES[item["n"] - 1]["text"]
        assert all(part in whole for part in item["text"].split(GAP))


def test_few_words_are_shown_whole() -> None:
    short = [passage(1, WANTED), passage(2, "It rings in the corridor.")]
    assert excerpts(QUESTION, short, shared(), 80) == short


def test_what_nothing_can_be_ranked_in_is_shown_whole() -> None:
    nothing = [passage(1, "- - - " * 60)]
    assert excerpts(QUESTION, nothing, shared(), 20) == nothing


def test_lines_that_stand_beside_one_another_are_one_part() -> None:
    lines = "\n".join(f"Rule {n}: the alarm of freezer {n} is answered within {n} minutes." for n in range(2, 30))
    (found,) = excerpts("When is the alarm of freezer 7 answered?", [passage(1, lines)], shared(), 60)
    assert "Rule 7:" in found["text"] and found["text"].count(GAP) < len(found["text"].splitlines())
