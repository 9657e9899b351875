"""What of the passages a small model is shown."""

from typing import Any

from graph.extractive.excerpts import GAP, around, excerpts
from graph.extractive.reader import shared

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


def test_an_item_is_shown_with_its_list_and_what_introduces_it() -> None:
    """Three lists of conditions, each for another thing: an item alone would be a condition of anything."""
    text = (
        f"{FILLER}\n\n## Requests\n\nRequests that change no rule are merged when these conditions are met:\n\n"
        f"- Two members approve them.\n- They have been open for 72 hours.\n\n{FILLER}\n\n"
        f"Requests that change the charter need this as well:\n\n- They have been open for 14 days.\n\n{FILLER}"
    )
    (found,) = excerpts("How long must a request stay open before it is merged?", [passage(1, text)], shared(), 60)
    shown = found["text"]
    assert "## Requests" in shown or shown.startswith("Requests")
    assert shown.index("change no rule") < shown.index("Two members") < shown.index("72 hours")
    assert "14 days" not in shown or shown.index("change the charter") < shown.index("14 days")


def test_a_sentence_that_introduces_steps_is_shown_with_them() -> None:
    text = f"{FILLER}\n\nIn an emergency, call the desk at any hour.\n\n1. Fill out the form.\n2. Set how urgent it is.\n\n{FILLER}"
    (found,) = excerpts("What do we do in an emergency?", [passage(1, text)], shared(), 60)
    assert "call the desk" in found["text"] and "Set how urgent it is." in found["text"]


def test_the_lines_around_a_place() -> None:
    text = "\n\n".join(f"Line {n} has five words." for n in range(9))
    at = text.index("Line 4")
    assert (
        around(text, [(at, at + 4)], 15) == "Line 3 has five words.\n\nLine 4 has five words.\n\nLine 5 has five words."
    )
    assert around(text, [], 10).startswith("Line 0") and GAP in around(text, [(0, 4), (len(text) - 4, len(text))], 10)
