"""A count and a sum are counted again wherever they are checked."""

import pytest

from graph.policy.answer import counted

ROWS = ["Item: Boat; Cost: $52", "Item: Hotel; Cost: $372.50"]


def test_a_count_is_read_back_only_with_the_right_number() -> None:
    said = counted.count(["FZ-01", "FZ-02"])
    assert said == "2 in all:\n- FZ-01\n- FZ-02"
    assert counted.lines(said) == ["FZ-01", "FZ-02"]
    assert counted.lines(said.replace("2 in all", "3 in all")) == []
    assert counted.lines("The freezers are two in all.") == []


def test_a_sum_is_added_up_again() -> None:
    said = counted.total(ROWS, "Cost")
    assert said.startswith("$424.5 in all (Cost, 2 rows):\n- Item: Boat")
    assert counted.lines(said) == ROWS
    assert counted.lines(said.replace("424.5", "425")) == []
    assert counted.lines(said.replace("(Cost, 2", "(Item, 2")) == []


def test_a_row_without_an_amount_cannot_be_added() -> None:
    assert counted.total([*ROWS, "Item: Food; Cost: unknown"], "Cost") == ""


def test_each_line_has_a_place_of_its_own() -> None:
    assert counted.places(["a mouse", "a mouse"], ["- a mouse\n- a mouse"]) == [[(2, 19)]]
    assert counted.places(["a mouse", "a mouse"], ["- a mouse", "- a mouse"]) == [[(2, 9)], [(2, 9)]]
    assert counted.places(["a mouse", "a mouse", "a mouse"], ["- a mouse\n- a mouse"]) is None
    assert counted.places(["Attic"], ["## Attic\n\nIt has 4 seats."]) == [[(3, 8)]]
    assert counted.places(["mouse"], ["- a mouse\n- a mouse"]) is None  # no line of its own
    assert counted.places(["a"], ["- a mouse"]) == [[(2, 3)]]
    assert counted.places(["Memo 4"], ["Title: Memo 4\nIt rains."]) == [[(7, 13)]]
    assert counted.places(["a mou"], ["- a mouse"]) is None


@pytest.mark.parametrize("head", ["1 in all", "99 in all", "$3 in all (Cost, 2 rows)"])
def test_a_wrong_number_is_no_count(head: str) -> None:
    assert counted.lines(f"{head}:\n- Item: Boat; Cost: $52\n- Item: Hotel; Cost: $372") == []


def test_a_count_of_very_many_is_none() -> None:
    assert counted.lines(counted.count(["same"] * counted.MOST))
    assert counted.lines(counted.count(["same"] * (counted.MOST + 1))) == []
