"""Markdown as Pandoc writes it out of Word: tables without frames, names in bold, links that a column divides."""

import pytest

from graph.knowledge.loaders import load
from tests.support.cpu import seconds

SIMPLE = """  **Version**   Date          Comment
  ------------- ------------- ---------------------
  v. 2          18 Sep 2025   [Jo Mill](https://a.example/1)
  v. 1          2 May 2024    First one
"""
BARE = """  ------- ------ --------
  Gate    8-10   Jo Mill
  Yard    9-12
  ------- ------ --------
"""
SEVERAL = """-----------------------------------------
 Place       Hours         Remark
             of opening
----------- ------------- ---------------
Gate         8-10          Shut when the
                           mill rests.

Yard         9-12          Never shut.
-----------------------------------------
"""
PAIRS = """  **Name**      The Mill
  ------------- --------------------
  **Type**      Grain and flour
  **Website**   <https://a.example>
"""


def read(markdown: str) -> str:
    return load(markdown.encode(), "a.md").text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        (SIMPLE, "Version: v. 2; Date: 18 Sep 2025; Comment: Jo Mill\nVersion: v. 1; Date: 2 May 2024; Comment: First one"),
        (BARE, "Gate; 8-10; Jo Mill\nYard; 9-12"),
        (SEVERAL, "Place: Gate; Hours of opening: 8-10; Remark: Shut when the mill rests.\nPlace: Yard; Hours of opening: 9-12; Remark: Never shut."),
        (PAIRS, "Name: The Mill\nType: Grain and flour\nWebsite: https://a.example"),
    ],
)  # fmt: skip
def test_tables_below_groups_of_dashes(markdown: str, text: str) -> None:
    assert read(f"Above.\n\n{markdown}\nBelow.") == f"Above.\n\n{text}\n\nBelow."


@pytest.mark.parametrize(
    "markdown", ["Rules\n-----\n\nText.", "One\n\n---\n\nTwo", "a -- b\n\n-- --\n\nc", "- one\n- two --- three"]
)
def test_dashes_that_make_no_table(markdown: str) -> None:
    assert not [block for block in load(markdown.encode(), "a.md").blocks if block.kind == "row"]


def test_names_in_bold_are_those_of_all_rows_though_markdown_has_no_table_without_headings() -> None:
    assert read("| **Owner** | Jo Mill |\n|---|---|\n| **Status** | In force |") == "Owner: Jo Mill\nStatus: In force"
    assert read("| **Owner** | **Since** |\n|---|---|\n| **Jo** | 2024 |") == "Owner: Jo; Since: 2024"


def test_a_link_that_a_column_divides_is_one() -> None:
    grid = (
        "+----------+---------------+\n| **Name** | [Jo           |\n|          | Mill](https   |\n"
        "|          | ://a.example/ |\n|          | people/7)     |\n+==========+===============+\n"
        "| **Post** | Warden        |\n+----------+---------------+\n"
    )
    assert read(grid) == "Name: Jo Mill\nPost: Warden"


def test_what_stands_between_two_lists_is_no_code() -> None:
    assert read("1. One\n2. Two\n\n    <!-- -->\n\n1. Three\n2. Four") == "1. One\n2. Two\n\n1. Three\n2. Four"
    assert read("1. One\n\n```{=html}\n<!-- -->\n```\n\n1. Two") == "1. One\n\n1. Two"
    assert read("```html\n<i>\n<!-- -->\n```\n") == "```\n<i>\n<!-- -->\n```"


@pytest.mark.parametrize("part", ["--- ---\nab cd\n", "--------\nab\n\n", "ab cd\n--- ---\n"])
def test_broken_tables_take_linear_time(part: str) -> None:
    def spent(times: int) -> float:
        return seconds(lambda: load((part * times).encode(), "a.md"))

    assert spent(4_000) < 40 * max(spent(400), 0.01)
