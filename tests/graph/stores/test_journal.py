"""What every journal, and every list beside it, promises."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from graph.audit import tenant_chain
from graph.audit.chain import GENESIS, digest, tenant_digest
from graph.errors import NotFound
from graph.stores import Stores
from graph.stores.journal import Journal, Link, shown


@pytest.fixture
def journal(stores: Stores) -> Iterator[Journal]:
    yield stores.journal
    stores.close()


def run(journal: Journal, name: str, tenant: str = "U1", day: str = "2026-01-01", **known: Any) -> dict[str, Any]:
    entry = {"run_id": name, "tenant_id": tenant, "user_id": "ann", "timestamp": f"{day}T00:00:00Z", "query": "why?"}
    return journal.append({**entry, **known})


def test_entries_are_numbered_bound_and_proven(journal: Journal) -> None:
    made = [run(journal, f"r{n}") for n in range(4)]
    assert made == list(journal.entries()) == list(journal.newest())[::-1]
    assert [entry["seq"] for entry in made] == [1, 2, 3, 4]
    assert [entry["prev"] for entry in made] == [GENESIS, *(entry["hash"] for entry in made[:-1])]
    assert all(entry["hash"] == digest(entry) for entry in made)
    assert journal.prove().says == f"4 entries, unbroken; head {made[-1]['hash']}" and journal.state() == "ok"


def test_a_proof_gives_the_hashes_at_the_places_asked_for(journal: Journal) -> None:
    made = [run(journal, f"r{n}") for n in range(4)]
    asked = journal.prove([2, 4, 9]).asked
    assert [(link.seq, link.hash) for link in asked if link.seq < 4] == [(2, made[1]["hash"])]
    assert (4, made[3]["hash"]) in [(link.seq, link.hash) for link in asked]


def test_each_tenants_entries_are_a_chain_of_their_own(journal: Journal) -> None:
    alone = [run(journal, f"r{n}", tenant) for n, tenant in enumerate(("U1", "U2", "U1", "U10", "U1", "U2"))]
    for tenant, places in {"U1": [1, 2, 3], "U2": [1, 2], "U10": [1]}.items():
        theirs = [entry for entry in alone if entry["tenant_id"] == tenant]
        assert [entry["tenant_seq"] for entry in theirs] == places
        assert [entry["tenant_prev"] for entry in theirs] == [GENESIS, *(entry["tenant_hash"] for entry in theirs[:-1])]
        assert journal.tenant_head(tenant) == Link(places[-1], theirs[-1]["tenant_hash"])
        assert all(entry["tenant_hash"] == tenant_digest(entry) for entry in theirs)
    receipt = journal.erase(["r2"], {"receipt_id": "e", "tenant_id": "U1"})
    assert (receipt["tenant_seq"], receipt["tenant_prev"]) == (4, alone[4]["tenant_hash"])
    assert run(journal, "next", "U2")["tenant_seq"] == 3 and journal.prove().holds
    told = tenant_chain.follow([shown(entry) for entry in journal.entries() if entry["tenant_id"] == "U1"])
    assert told.broken is None and told.last == Link(4, receipt["tenant_hash"])
    with pytest.raises(NotFound):
        journal.tenant_head("U3")


def test_what_a_tenant_sees_of_its_chain_hangs_on_no_other_tenant(journal: Journal) -> None:
    """The same entries with others before and between have the same hashes but for their salts."""
    made = []
    for others in (0, 3):
        for _ in range(others):
            run(journal, "o", "U2")
        made.append(shown(journal.append({"tenant_id": f"T{others}", "kind": "public", "note": "", "says": "added"})))
    known = [{key: entry[key] for key in entry.keys() - {"id", "tenant_hash"}} for entry in made]
    assert [entry["tenant_id"] for entry in known] == ["T0", "T3"] and {e["tenant_seq"] for e in known} == {1}
    assert not {"seq", "prev", "hash"} & known[0].keys()


def test_of_no_journal_nothing_is_proven(journal: Journal) -> None:
    assert list(journal.entries()) == list(journal.newest()) == journal.page("U1", limit=5) == []
    assert not journal.prove().holds


def test_entries_are_found_by_how_a_field_begins(journal: Journal) -> None:
    for name, tenant in (("ab1", "U1"), ("ab2", "U10"), ("b", "U1")):
        run(journal, name, tenant, note="ab1")
    assert [entry["run_id"] for entry in journal.entries("run_id", "ab")] == ["ab1", "ab2"]
    assert [entry["run_id"] for entry in journal.entries("tenant_id", "U10")] == ["ab2"]


@pytest.mark.parametrize("what", [{"score": float("nan")}, {"Upper Case": 1}, {"deep": [[[[[[[[[1]]]]]]]]]}])
def test_what_could_not_be_proven_is_not_written(journal: Journal, what: dict[str, Any]) -> None:
    run(journal, "r0")
    with pytest.raises(ValueError, match=r"JSON compliant|entry"):
        run(journal, "r1", **what)
    assert [entry["run_id"] for entry in journal.entries()] == ["r0"] and journal.prove().holds


def test_threads_write_one_chain(journal: Journal) -> None:
    with ThreadPoolExecutor(6) as pool:
        made = list(pool.map(lambda n: run(journal, f"r{n}")["seq"], range(40)))
    assert sorted(made) == list(range(1, 41)) and journal.prove().holds


def test_an_erasure_takes_out_what_is_personal_and_the_chain_holds(journal: Journal) -> None:
    for n in range(3):
        run(journal, f"r{n}", "U1")
    run(journal, "r1", "U2")  # of the same name, and not theirs
    receipt = journal.erase(["r1"], {"receipt_id": "e", "tenant_id": "U1"})
    assert (receipt["kind"], receipt["seq"], receipt["lines"]) == ("erasure", 5, [2])
    assert ["query" in entry for entry in journal.entries()] == [True, False, True, True, False]
    assert journal.prove().says.startswith("5 entries, unbroken") and run(journal, "next")["seq"] == 6


def test_pages_hold_a_tenants_own_entries_without_their_place(journal: Journal) -> None:
    for n in range(6):
        run(journal, f"r{n}", "U1", f"2026-01-0{1 + n // 3}")
        run(journal, f"r{n}", "U2")
    whole = journal.page("U1", limit=9)
    assert [entry["run_id"] for entry in whole] == [f"r{n}" for n in range(6)]
    assert not {"seq", "prev", "hash", "salt", "personal_sha256"} & set().union(*whole)
    assert journal.page("U1", limit=2) == whole[4:] and journal.page("U1", limit=9, day="2026-01-01") == whole[:3]
    assert journal.page("U1", limit=2, before=whole[3]["id"]) == whole[1:3]
    assert journal.page("U1", limit=2, after="r2") == whole[3:5]
    assert journal.page("U3", limit=2) == []
    theirs = journal.page("U2", limit=1)[0]["id"]
    for name in (theirs, "never"):
        with pytest.raises(NotFound):
            journal.page("U1", limit=2, after=name)


def test_rows_are_kept_in_order_and_taken_out_again(stores: Stores) -> None:
    rows, others = stores.rows("withheld"), stores.rows("false_positives")
    assert rows.all() == [] and rows.forget(lambda row: True) == 0
    for n in range(4):
        rows.append({"n": n, "text": "é\ud800"})
    assert rows.forget(lambda row: row["n"] % 2 == 0) == 2
    assert [row["n"] for row in stores.rows("withheld").all()] == [1, 3] and others.all() == []
