"""The structure of a document, read back from its text."""

import pytest

from graph.knowledge.loaders import load
from graph.policy.text import structure

SAMPLE = """# Manual

Before you start:

- gloves
  1. thin ones
- goggles

  which fit

## Storage

| Room | Rate |
|---|---|
| A | 1 |
| B | 2 |

```
# no heading

- no item
```

\\# no heading either
"""


def read(text: str) -> list[tuple[str, int, str]]:
    return [(line.kind, line.level, text[line.start : line.end]) for line in structure.lines(text)]


def test_what_a_loader_marks_is_read_back() -> None:
    assert read(load(SAMPLE.encode(), "a.md").text) == [
        ("heading", 1, "Manual"),
        ("text", 0, "Before you start:"),
        ("item", 0, "- gloves"),
        ("item", 1, "1. thin ones"),
        ("item", 0, "- goggles"),
        ("text", 1, "which fit"),
        ("heading", 2, "Storage"),
        ("text", 0, "Room: A; Rate: 1"),
        ("text", 0, "Room: B; Rate: 2"),
        ("code", 0, "# no heading"),
        ("code", 0, "- no item"),
        ("text", 0, "#no heading either"),
    ]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("Room: A; Rate: 1\nRoom: B; Rate: 2", True),
        ("Name: a\nName: b", True),
        ("Room: A; Rate: 1", True),
        ("Phone: 1\nFax: 2", False),
        ("We need two things: time; and money: much of it.", False),
        ("Plain words.", False),
    ],
)
def test_rows_of_a_table_are_told_from_sentences(text: str, rows: bool) -> None:
    [block] = structure.blocks(text)
    assert structure.tabular(text, block) is rows


def test_a_part_that_begins_inside_code_is_code_up_to_the_fence() -> None:
    assert read("make x\n# y\n```\n\n# After") == [("code", 0, "make x"), ("code", 0, "# y"), ("heading", 1, "After")]
    assert read("Text.\n\n```\nmake x\n```")[-1] == ("code", 0, "make x")


TEXT = "One.\n\n## Rules\n\nTwo.\n\n### Gloves\n\n```\n# code\n```\n\nThree.\n\n# End\n\nFour."


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("One.", "A > B"),
        ("Two.", "A > Rules"),
        ("Three.", "A > Rules > Gloves"),
        ("Four.", "End"),
        ("## Rules", "A > Rules"),
    ],
)
def test_a_place_is_in_the_section_of_the_headings_before_it(words: str, expected: str) -> None:
    assert structure.section("A > B", TEXT, TEXT.index(words)) == expected


def test_every_chunk_and_place_has_the_section_of_its_block() -> None:
    from graph.knowledge.chunking import chunk

    parts = "\n\n".join(
        f"{'#' * (1 + n % 5)} Part {n}\n\nText {n} is here. " + "word " * (n % 7 * 9) for n in range(80)
    )
    document = load(parts.encode(), "a.md")
    for part in chunk(document, lambda text: len(text.split()), size=60, overlap=10):
        text = document.text[part.start : part.end]
        for block in document.blocks:
            if block.kind == "paragraph" and part.start <= block.start < part.end:
                assert structure.section(part.section, text, block.start - part.start) == block.section


def test_words_are_searched_without_marks() -> None:
    text = load(SAMPLE.encode(), "a.md").text
    bare = structure.without_marks(text)
    assert "#" not in bare.replace("# no heading", "").replace("#no", "") and "```" not in bare
    assert [w for w in text.split() if w.strip("#`")] == bare.split()


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("regex = 1", "```\nregex = 1\n```"),
        ("Now our builds.", "Now our builds."),
        ("[package]", "```\n[package]\n```"),
        ("It will write that out.", "It will write that out."),
    ],
)
def test_what_is_quoted_of_a_part_that_begins_inside_code_is_code_where_it_was(words: str, shown: str) -> None:
    part = "regex = 1\n```\n\nNow our builds.\n\n```\n[package]\n```\n\nIt will write that out.\n"
    start = part.index(words)
    assert structure.quoted(part, start, start + len(words)) == shown
