"""What leaves as text for people holds nothing live, and nothing personal hides in names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from graph.agent import Agent
from graph.audit import markdown
from graph.audit.report import report
from graph.errors import BadInput, Unavailable
from graph.policy.text import defang
from tests.support.command import Run, cordon

LIVE = "The cassowary weighs 58 kg ![scale](http://evil.example/p.png) and [more](javascript:x) <img src=x> www.evil.example."


@pytest.fixture
def one(settings_of: Callable[..., Any]) -> Any:
    with Agent(settings_of(artifacts=True)) as agent:
        yield agent


def test_a_line_for_markdown_has_no_link_image_or_tag() -> None:
    shown = defang.line(LIVE + "\n\n# heading")
    assert not any(live in shown for live in ("](", "![", "<img", "http://", "www.evil", "\n"))
    assert "58 kg" in shown


def test_the_artefact_of_a_hostile_document_is_dead(one: Agent, tmp_path: Path) -> None:
    (tmp_path / "birds.txt").write_text(LIVE)
    one.ingest(tmp_path / "birds.txt", tenant_id="E1")
    reply = one.ask("How much does the cassowary weigh? ![q](http://evil.example/q.png)", tenant_id="E1")
    assert reply.citations
    text = Path(reply.artifacts["answer.md"]).read_text()
    assert not any(live in text for live in ("](http", "![", "<img", "http://evil", "www.evil"))
    assert markdown.place({"page": None, "sheet": "[x](http://y)", "section": ""}) == ", sheet x"  # type: ignore[typeddict-item]


def test_a_file_name_gives_no_person_away_in_the_id(one: Agent, tmp_path: Path) -> None:
    path = tmp_path / "call 0300-1234567 CNIC 35202-1234567-1.txt"
    path.write_text("The kestrel is fed at nine every morning.")
    (outcome,) = one.ingest(path, tenant_id="E1")
    assert outcome.status == "indexed" and "1234567" not in outcome.doc_id and outcome.doc_id.startswith("call_CNIC_")
    assert [o.status for o in one.ingest(path, tenant_id="E1")] == ["unchanged"]
    assert "1234567" not in json.dumps(one.ask("When is the kestrel fed?", tenant_id="E1"))


def test_a_sheet_name_is_masked_and_still_verifies(one: Agent, tmp_path: Path) -> None:
    from graph.audit.verify import verify

    book = Workbook()
    book.active.title = "ali 0300-1234567"
    for row in (["animal", "weight"], ["cassowary", "58 kilograms"]):
        book.active.append(row)
    book.save(tmp_path / "birds.xlsx")
    one.ingest(tmp_path / "birds.xlsx", tenant_id="E1")
    reply = one.ask("What is the weight of the cassowary?", tenant_id="E1")
    assert reply.citations and "1234567" not in json.dumps(reply)
    assert verify(reply, one.deps.index).ok


def test_a_damaged_journal_closes_and_says_where(one: Agent) -> None:
    if one.settings.database_url.get_secret_value():
        pytest.skip("a file of a home is damaged; tests/graph/stores/postgres/test_many.py tampers with the table")
    one.ask("When?", tenant_id="E1")
    with (one.settings.home / "audit" / "journal.jsonl").open("ab") as file:
        file.write(b"garbage\n")
    with pytest.raises(Unavailable, match="damaged at its last line"):
        one.ask("When?", tenant_id="E1")
    with pytest.raises(Unavailable, match=r"damaged at line \d+"):
        list(one.deps.journal.entries())


@pytest.mark.parametrize("day", ["2026-13-45", "2026-02-30", "yesterday", "２０２６-01-01"])
def test_an_impossible_day_is_refused(day: str) -> None:
    with pytest.raises(BadInput, match="is no day"):
        report([], day)


def test_the_guards_alone_take_texts_only(one: Agent) -> None:
    given: Any = None
    calls: list[Callable[[], object]] = [
        lambda: one.scan(given), lambda: one.mask(given), lambda: one.repair(given), lambda: one.check("a", "b")
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(BadInput):
            call()
    with pytest.raises(BadInput, match="no address that can be read"):
        one.ingest("ftp://example.org/x.txt", tenant_id="E1")


def test_the_filters_read_and_write_strict_json(tmp_path: Path) -> None:
    done = cordon(
        "mask", home=tmp_path / "home", stdin=b'{"id": NaN, "text": "hi"}\n\xff\xfe\n{"id": 1, "text": "hi"}\n'
    )
    rows = [json.loads(line, parse_constant=pytest.fail) for line in done.stdout.splitlines()]
    assert done.returncode == 2
    assert [("error" in row, row["id"]) for row in rows] == [(True, None), (True, None), (False, 1)]


def test_names_cannot_drive_a_terminal(tmp_path: Path, inside: Run) -> None:
    path = tmp_path / "esc\x1b[2J.txt"
    path.write_text("The kestrel is fed at nine every morning.")
    home = tmp_path / "home"
    assert "\x1b" not in inside("ingest", str(path), "--tenant", "E1", home=home).stdout
    assert "\x1b" not in inside("docs", "list", "--tenant", "E1", home=home).stdout


def test_eval_finds_the_suites_of_the_checkout(tmp_path: Path) -> None:
    done = cordon("eval", "bogus", home=tmp_path / "home", cwd=tmp_path)
    assert done.returncode == 2 and "there is no suite 'bogus'" in done.stderr
