"""What an answer may quote."""

from graph.models.units import units

TEXT = """Patterns to avoid

Long essays. Tests without supervision.

- Alpha
- Beta

Workload

Not more than four pieces. It may be fewer."""


def quotable(text: str) -> list[str]:
    return [text[a:b] for a, b in units(text)]


def test_what_a_heading_turns_round_is_quoted_with_it() -> None:
    found = quotable(TEXT)
    assert "Patterns to avoid\n\nLong essays." in found
    assert "Long essays." not in found


def test_other_headings_are_left_out() -> None:
    assert quotable(TEXT)[-2:] == ["Not more than four pieces.", "Not more than four pieces. It may be fewer."]


def test_a_heading_reaches_no_further_than_its_paragraph() -> None:
    assert quotable("What not to do\n\nRun.\n\nOpening hours\n\nWe open at 9.")[-1] == "We open at 9."


def test_a_sentence_that_only_refers_is_quoted_with_the_one_before() -> None:
    assert quotable("Tools are never authors. See the policy for more.")[-1] == (
        "Tools are never authors. See the policy for more."
    )
