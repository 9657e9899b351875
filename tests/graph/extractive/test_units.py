"""What an answer may quote."""

from graph.extractive.units import units

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


def test_a_heading_that_says_something_is_quoted_with_what_stands_right_below_it() -> None:
    text = "# Tests\n\n## Coverage is at least 90%\n\nIt must not fall. Ask Ana.\n\nNext.\n\n## Is it free?\n\nYes, it is free."
    assert quotable(text) == [
        "Coverage is at least 90%\n\nIt must not fall.",
        "Ask Ana.",
        "Next.",
        "Yes, it is free.",
    ]


def test_a_sentence_that_speaks_of_the_case_before_it_is_quoted_with_it() -> None:
    for second in ("Here you can pay.", "If this is the case, we write to you.", "In that case nobody eats."):
        assert quotable(f"Queen is our shop. {second}")[-1] == f"Queen is our shop. {second}"
    assert quotable("Queen is our shop. In winter it shuts.")[-1] == "In winter it shuts."


def test_a_few_words_below_a_heading_are_quoted_with_it() -> None:
    text = "## Jo Mill\n\nTreasurer\n\n## Ann Weir\n\nShe keeps the key of the yard."
    assert quotable(text) == ["Jo Mill\n\nTreasurer", "She keeps the key of the yard."]


def test_a_sentence_that_refers_to_a_time_is_quoted_with_the_one_that_says_it() -> None:
    first = "The mill takes orders until six."
    for second in ("Orders made after such time wait until Monday.", "By that date the keys are back."):
        assert quotable(f"{first} {second}")[-1] == f"{first} {second}"
    assert quotable(f"{first} Orders made after noon wait.")[-1] == "Orders made after noon wait."


def test_the_former_and_the_latter_are_quoted_with_the_two_that_they_are() -> None:
    first, former = "Leaving the study and stopping the drug differ.", "The former ends all visits."
    both = f"{first} {former} The latter does not."
    assert quotable(both)[-2:] == [f"{first} {former}", both]


MARKED = """## Leave

To apply for leave:

1. Fill in the form.
2. Send it to one of:
  - the office
  - your manager
3. Wait.

A dewar is a flask. It keeps things cold.

Table 2: Rates in PKR

Room: A; Rate: 1
Room: B; Rate: 2

Run this:

```
make all

make clean
```
"""


def told(text: str) -> list[tuple[str, str]]:
    return [(unit.kind, text[unit.start : unit.end]) for unit in units(text)]


def test_a_short_list_is_quoted_whole_with_the_line_that_introduces_it() -> None:
    [found] = [unit for unit in units(MARKED) if unit.kind == "list"]
    assert MARKED[found.start : found.end].startswith("To apply for leave:\n\n1. Fill")
    assert found.headings == ("Leave",)
    assert "To apply for leave:" not in quotable(MARKED)


def test_an_item_has_its_number_its_lead_and_its_own_items() -> None:
    [found] = [unit for unit in units(MARKED) if unit.kind == "list"]
    second = found.parts[1]
    assert MARKED[second.start : second.end].startswith("2. Send it to one of:\n  - the office")
    assert second.lead is not None and MARKED[slice(*second.lead)] == "To apply for leave:"
    inner = second.parts[0]
    assert inner.lead is not None
    assert (MARKED[inner.start : inner.end], MARKED[slice(*inner.lead)]) == ("the office", "2. Send it to one of:")


def test_rows_and_code_have_what_stands_above_them() -> None:
    rows = [unit for unit in units(MARKED) if unit.kind == "row"]
    [code] = [unit for unit in units(MARKED) if unit.kind == "code"]
    assert [MARKED[unit.start : unit.end] for unit in rows] == ["Room: A; Rate: 1", "Room: B; Rate: 2"]
    assert all(unit.lead and MARKED[slice(*unit.lead)] == "Table 2: Rates in PKR" for unit in rows)
    assert code.lead is not None and MARKED[slice(*code.lead)] == "Run this:"
    assert MARKED[code.start : code.end] == "make all\n\nmake clean"


def test_a_long_list_is_quoted_item_by_item() -> None:
    text = "We need:\n\n" + "\n".join(f"- thing {n} " + "of some size " * 9 for n in range(20))
    found = [unit for unit in units(text) if unit.kind == "item"]
    assert len(found) == 20 and len({unit.whole for unit in found}) == 1
    assert all(unit.lead and text[slice(*unit.lead)] == "We need:" for unit in found)


def test_a_long_item_is_quoted_sentence_by_sentence() -> None:
    text = "- " + "This is one sentence of many here. " * 40 + "\n- short"
    assert max(unit.end - unit.start for unit in units(text)) < 100


def test_each_sentence_of_a_long_item_is_under_the_term_that_it_begins_with() -> None:
    said = "It holds. " * 80
    text = f"Fields:\n\n- Depends: A strict need. {said}\n- See also the notes. {said}"
    found = [unit.headings for unit in units(text) if unit.kind == "sentence" and unit.start > 8]
    assert set(found) == {("Depends",), ()}


def test_a_further_paragraph_belongs_to_its_item() -> None:
    text = "- Open it.\n  - slowly\n\n- Hot!"
    assert ("list", text) not in told(text)  # an empty line divides two lists
    text = "- Open it.\n  Danger: hot!\n- Close it."
    assert [text[p.start : p.end] for p in units(text)[0].parts] == ["Open it.\n  Danger: hot!", "Close it."]


def test_headings_are_never_quoted() -> None:
    text = "# Manual\n\n## Storage\n\nKeep it cold.\n\n### Notes\n\n- one\n- two"
    assert told(text) == [("sentence", "Keep it cold."), ("list", "- one\n- two")]
    assert [unit.headings for unit in units(text)] == [("Manual", "Storage"), ("Manual", "Storage", "Notes")]


def test_a_heading_that_turns_round_holds_for_its_section() -> None:
    text = "## What not to do\n\nRun.\n\nShout.\n\n## Hours\n\nWe open at 9."
    first, second, last = units(text)
    assert text[first.start : first.end] == "What not to do\n\nRun." and first.lead is None
    assert text[second.start : second.end] == "What not to do\n\nRun.\n\nShout." or second.lead == (3, 17)
    assert text[last.start : last.end] == "We open at 9." and last.lead is None


def test_every_word_but_those_of_headings_can_be_quoted() -> None:
    covered = set()
    for unit in units(MARKED):
        covered |= set(range(unit.start, unit.end))
    left = "".join(" " if at in covered else letter for at, letter in enumerate(MARKED)).split()
    assert left == ["##", "Leave", "```", "```"]
