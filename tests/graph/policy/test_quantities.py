"""What cells of tables measure."""

import pytest

from graph.policy.text.quantities import cells, quantity


@pytest.mark.parametrize(
    ("text", "kind", "number"),
    [
        ("1,250.50", "number", 1250.5),
        ("$1.2 million", "money", 1_200_000),
        ("EUR 1,500.00", "money", 1500),
        ("15 working days", "time", 15),
        ("3 months", "time", 91.2),
        ("90 minutes", "time", 0.0625),
        ("2024-05-03", "date", 739009),
        ("3 May 2024", "date", 739009),
        ("May 3, 2024", "date", 739009),
        ("Moderate", "step", 2),
        ("**High**", "step", 4),
    ],
)
def test_a_cell_measures_an_amount_a_time_a_date_or_a_step(text: str, kind: str, number: float) -> None:
    found = quantity(text)
    assert found is not None and found.kind == kind and found.number == pytest.approx(number, abs=0.01)


@pytest.mark.parametrize("text", ["", "the hall", "31 February 2024", "x" * 200 + " 5"])
def test_other_cells_measure_nothing(text: str) -> None:
    assert quantity(text) is None


def test_the_name_of_a_row_is_a_cell_without_a_heading() -> None:
    assert cells("Boat tour; Cost: $52; Days: 2") == (("", "Boat tour"), ("Cost", "$52"), ("Days", "2"))
    assert cells("no cells here") == ()


def test_a_colon_inside_a_heading_or_value_ends_neither() -> None:
    row = "Events: 191; Patients (1:1 matching)*: 26021; Opens: 10:30"
    assert cells(row) == (("Events", "191"), ("Patients (1:1 matching)*", "26021"), ("Opens", "10:30"))
