"""How the sentences of an answer stand beside each other."""

import pytest

from graph.policy.answer import prose


@pytest.mark.parametrize(
    ("before", "text", "apart"),
    [
        ("The hall is open.", "It closes at six.", False),
        ("The hall is open (not fully confirmed by the source)", "It closes at six.", True),
        ("The hall is open. (not fully confirmed by the source)", "It closes at six.", False),
        ("30 days", "Books are lent for 30 days.", True),
        ("Hall: 12; Attic: 4", "Hall: 30; Attic: 9", True),
        ("- a\n- b", "It closes at six.", True),
        ("It closes at six.", "- a\n- b", True),
        ("Er sagte: „Ja.”", "Dann ging er.", False),
    ],
)
def test_a_value_a_row_and_a_list_stand_apart(before: str, text: str, apart: bool) -> None:
    assert prose.gap(before, text) == ("\n\n" if apart else " ")
    both = [{"text": before, "citations": [1]}, {"text": text, "citations": [2]}]
    assert prose.joined(both, "concise") == f"{before} [1]{prose.gap(before, text)}{text} [2]"
