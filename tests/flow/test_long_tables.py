"""A table of more rows than are read with a question: the rows that count are looked up in all of it."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.extractive import long_tables
from graph.stores.spaces import StoredChunk
from tests.support.models import Scripted

_HALLS = ("North hall", "South hall", "Old kiln")
_OWNERS = ("Workshop", "Archive", "Museum shop", "Library", "Laundry", "Garage", "Bakery")
ROWS = 600


def _crates() -> list[tuple[str, str, str, int]]:
    return [
        (f"CR-{at:04}", _HALLS[at % 3], "Ferry desk" if at % 151 == 7 else _OWNERS[at * 13 % 7], 100 + at * 37 % 5_000)
        for at in range(ROWS)
    ]


@pytest.fixture
def stock(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    return _with_stock(opened(), tmp_path)


def _with_stock(agent: Agent, tmp_path: Path, **to: Any) -> Agent:
    file = tmp_path / "crates.csv"
    rows = [f"{code},{hall},{owner},{value}" for code, hall, owner, value in _crates()]
    file.write_text("\n".join(["Crate,Store,Owner,Insured value", *rows, ""]), encoding="utf-8")
    (outcome,) = agent.ingest(file, **({"tenant_id": "U1"} | to))
    assert outcome.status == "indexed"
    return agent


def test_a_count_with_a_condition_is_of_all_rows(stock: Agent) -> None:
    reply = stock.ask("How many crates have the owner Ferry desk?", tenant_id="U1")
    wanted = [code for code, _, owner, _ in _crates() if owner == "Ferry desk"]
    assert reply["answer"].startswith(f"{len(wanted)} in all:")
    assert all(code in reply["answer"] for code in wanted)
    assert "partial" not in reply["safety_flags"]
    assert f"All {ROWS} rows of the table were looked through." in reply["answer"]


def test_two_conditions_hold_together(stock: Agent) -> None:
    reply = stock.ask("Which crates in the Old kiln have the owner Ferry desk?", tenant_id="U1")
    wanted = [code for code, hall, owner, _ in _crates() if (hall, owner) == ("Old kiln", "Ferry desk")]
    assert 0 < len(wanted) < 4
    assert [code for code, *_ in _crates() if code in reply["answer"]] == wanted


def test_the_highest_of_all_rows(stock: Agent) -> None:
    reply = stock.ask("Which crate has the highest insured value?", tenant_id="U1")
    (best,) = [code for code, *_, value in _crates() if value == max(one[3] for one in _crates())]
    assert best in reply["answer"]
    assert "partial" not in reply["safety_flags"]


def test_more_rows_than_are_shown_are_a_part(stock: Agent) -> None:
    for question in ("List the crates in the South hall", "How many crates are in the South hall?"):
        reply = stock.ask(question, tenant_id="U1")
        assert "partial" in reply["safety_flags"]
        assert f"{ROWS // 3} of the {ROWS} rows of the table fit; here is a part of them." in reply["answer"]
        assert "in all" not in reply["answer"] and "looked through" not in reply["answer"]


def test_how_many_rows_a_table_has(stock: Agent) -> None:
    reply = stock.ask("How many crates are there?", tenant_id="U1")
    assert f"The table has {ROWS} rows; here is a part of them." in reply["answer"]
    assert "in all" not in reply["answer"] and 0 < reply["answer"].count("CR-0") <= 10


def test_another_tenant_has_nothing_of_it(stock: Agent) -> None:
    reply = stock.ask("How many crates have the owner Ferry desk?", tenant_id="U2")
    assert "CR-" not in reply["answer"]
    assert "looked through" not in reply["answer"]


def test_groups_that_do_not_see_the_table_have_nothing_of_it(opened: Callable[..., Agent], tmp_path: Path) -> None:
    agent = _with_stock(opened(), tmp_path, groups=["stores"])
    question = "How many crates have the owner Ferry desk?"
    assert "CR-" in agent.ask(question, tenant_id="U1", groups=["stores"])["answer"]
    assert "CR-" not in agent.ask(question, tenant_id="U1", groups=["kitchen"])["answer"]


def test_a_model_is_not_asked_to_count(opened: Callable[..., Agent], tmp_path: Path) -> None:
    agent = _with_stock(opened(chat=Scripted(reply=lambda prompt: "no")), tmp_path)
    reply = agent.ask("How many crates have the owner Ferry desk?", tenant_id="U1")
    assert reply["answer"].startswith("4 in all:")


def _look(question: str, text: str, size: int = 8) -> list[str] | None:
    lines = text.split("\n")
    chunks, at = [], 0
    for n in range(0, len(lines), size):
        part = "\n".join(lines[n : n + size])
        chunks.append(StoredChunk(f"c{n}", "d", at, at + len(part), None, None, ""))
        at += len(part) + 1
    chosen = long_tables.look_through(question, "Stock", text, chunks, 1, (0, len(chunks) - 1))
    return chosen.chunk_ids if chosen else None


def _lines(count: int = 400) -> list[str]:
    return [f"Crate: C{at}; Store: Hall {at % 9}; Owner: Ann Lee / Team {at % 97}" for at in range(count)]


def test_rows_are_looked_up_by_whole_values_and_by_one_of_several() -> None:
    lines = _lines()
    lines[300] = "Crate: C300; Store: Loft; Owner: Bo Li / Team Red"
    assert _look("Which crates are in the Loft?", "\n".join(lines)) == ["c296"]
    assert _look("Which crates are of Team Red?", "\n".join(lines)) == ["c296"]
    assert _look("Which crates are of the Red?", "\n".join(lines)) is None


def test_a_condition_that_no_row_fulfils_is_not_passed_over() -> None:
    lines = _lines()
    lines[300] = "Crate: C300; Store: Loft; Owner: Bo Li; Day: 2024-03-01"
    lines[301] = "Crate: C301; Store: Loft; Owner: Bo Li; Day: 2025-04-01"
    lines[302] = "Crate: C302; Store: Cellar; Owner: Bo Li; Day: 2026-04-01"
    lines.insert(301, lines.pop(303))
    text = "\n".join(lines)
    assert _look("Which crates of Bo Li are in the Loft?", text, 2) == ["c300", "c302"]
    assert _look("Which crates of Bo Li came to the Loft in 2025?", text, 2) == ["c302"]
    assert _look("Which crates of Bo Li came to the Loft in 2026?", text, 2) is None
    assert _look("Which crate of Bo Li has the latest day?", text, 2) == ["c302"]
    assert _look("Which crate in the Loft has the latest day in 2026?", text, 2) is None


def test_a_question_for_no_rows_looks_nothing_up() -> None:
    text = "\n".join(_lines())
    assert _look("Who is Ann Lee?", text) is None
    assert _look("How many crates are there?", text) == []  # all of them
    assert _look("How many crates are there of oak?", text) is None
    assert _look("List the crates of the moon", text) is None


def test_what_is_too_much_is_not_looked_through(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = _lines()
    lines[300] = "Crate: C300; Store: Loft; Owner: Bo Li"
    monkeypatch.setattr(long_tables, "MOST_NAMED", 0)
    assert _look("Which crates are in the Loft?", "\n".join(lines)) is None
    monkeypatch.setattr(long_tables, "MOST_MEASURED", 100)
    assert _look("Which crate has the highest number?", "\n".join(lines)) is None


def test_chunks_of_another_section_are_no_part_of_the_table() -> None:
    chunks = [StoredChunk(f"c{n}", "d", n, n + 1, None, None, "A" if n < 3 else "B") for n in range(6)]
    assert long_tables.table_at(chunks, 1) == (0, 2)
    assert long_tables.table_at([replace(one, sheet="S") if one.start == 1 else one for one in chunks], 2) == (2, 2)
