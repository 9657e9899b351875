"""Names that stand once for a group of rows, as in an export of a sheet with merged cells."""

from collections.abc import Sequence

from graph.knowledge.loaders import table

_TEAMS = [
    ["", "Team", "Name", "Firm"],
    ["Active", "Kiln", "Ann Lee", "Acme"],
    ["", "", "Bo Li", "Beta"],
    ["", "", "Cy Ro", "Acme"],
    ["", "Loom", "Di Po", "Acme"],
    ["", "", "Ed Vu", "Beta"],
    ["At rest", "Forge", "Fi Wo", "Beta"],
    ["", "", "Gu Xi", "Acme"],
]


def _rows(rows: Sequence[Sequence[str]]) -> list[str]:
    return [text for _, text in table.sentences(rows)]


def test_each_row_has_the_names_of_its_groups() -> None:
    rows = _rows(_TEAMS)
    assert rows[2] == "Active; Team: Kiln; Name: Cy Ro; Firm: Acme"
    assert rows[4] == "Active; Team: Loom; Name: Ed Vu; Firm: Beta"
    assert rows[6] == "At rest; Team: Forge; Name: Gu Xi; Firm: Acme"


def test_groups_go_on_behind_a_blank_row() -> None:
    rows = _rows([*_TEAMS, ["", "", "", ""], ["", "", "Ha Yu", "Beta"], ["", "Mill", "Io Za", "Beta"]])
    assert rows[-2:] == [
        "At rest; Team: Forge; Name: Ha Yu; Firm: Beta",
        "At rest; Team: Mill; Name: Io Za; Firm: Beta",
    ]


def test_a_name_further_out_ends_the_one_inside_it() -> None:
    assert _rows([*_TEAMS, ["Gone", "", "Ha Yu", "Beta"]])[-1] == "Gone; Name: Ha Yu; Firm: Beta"


def test_a_role_is_that_of_its_own_row() -> None:
    roles = ["Chair", "Secretary", "", "", ""]
    rows = _rows(
        [["Role", "Name"], *([role, name] for role, name in zip(roles, "Ann Bo Cy Di Ed".split(), strict=True))]
    )
    assert rows[2:] == ["Name: Cy", "Name: Di", "Name: Ed"]


def test_marks_and_numbers_name_no_group() -> None:
    marks = ["x", "", "x", "", "x", ""]
    rows = _rows([["Paid", "Name", "City"], *([mark, f"N{at} Lee", "Bern"] for at, mark in enumerate(marks))])
    assert rows[1] == "Name: N1 Lee; City: Bern"
    numbers = ["12", "", "14", "", "16", ""]
    rows = _rows([["Fee", "Name", "City"], *([fee, f"N{at} Lee", "Bern"] for at, fee in enumerate(numbers))])
    assert rows[1] == "Name: N1 Lee; City: Bern"
