"""The daily report counts what the journal holds."""

import csv
import io
from typing import Any

import pytest

from graph.audit.pdf import BAR, BARS, source_of
from graph.audit.report import as_csv, as_markdown, report
from graph.errors import BadInput


def entry(
    tenant: str = "T1", decision: str = "answer", action: str = "ALLOW", ms: float = 10.0, day: str = "2026-01-31"
) -> dict[str, Any]:
    return {
        "timestamp": f"{day}T10:00:00.000Z", "tenant_id": tenant, "final_decision": decision, "action": action,
        "latency_ms": ms, "guard_events": [], "rewrite": "", "tokens_prompt": 7, "tokens_completion": 3,
    }  # fmt: skip


def test_each_tenant_has_a_row_with_its_counts() -> None:
    entries = [
        entry(),
        entry(decision="refusal", action="BLOCK", ms=30.0),
        entry("T2", "no_answer"),
        entry(day="2026-02-01"),
    ]
    first, second = report(entries, "2026-01-31")
    assert (first["tenant_id"], first["runs"], first["answered"], first["refused"], first["blocked"]) == (
        "T1",
        2,
        1,
        1,
        1,
    )
    assert (first["median_latency_ms"], first["worst_latency_ms"], first["tokens_prompt"]) == (20.0, 30.0, 14)
    assert (second["tenant_id"], second["not_in_documents"]) == ("T2", 1)


def test_a_day_without_runs_is_empty() -> None:
    assert report([entry()], "2026-03-01") == []


@pytest.mark.parametrize("day", ["", "yesterday", "2026-1-1", "2026-01-31T10"])
def test_what_is_no_day_is_told(day: str) -> None:
    with pytest.raises(BadInput, match="no day"):
        report([], day)


def test_the_table_reads_back_and_runs_no_formula() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(report([entry(), entry("-2+3")], "2026-01-31")))))
    assert [row["tenant_id"] for row in rows] == ["'-2+3", "T1"]


def test_on_paper_it_has_charts_whose_longest_bar_fills_the_column() -> None:
    found = [{"type": "prompt_injection"}, {"type": "prompt_injection"}]
    entries = [entry(), entry(), entry("a|b", "refusal", "BLOCK") | {"guard_events": found}]
    text = as_markdown([*entries, entry("T2") | {"timestamp": "2026-01-31T12:00:00.000Z"}], "2026-01-31")
    assert "4 runs, 3 tenants." in text and "| prompt_injection | 1 |" in text  # a run, whatever found it
    assert f"| 10 | 3 | {BAR * BARS} |" in text and "| 11 | 0 |  |" in text and f"| 12 | 1 | {BAR * 14} |" in text
    assert "| a/b | 1 |" in text
    assert "0 runs, 0 tenants." in as_markdown([], "2026-01-31")
    source = source_of(text, title="t", created="2026-01-31T00:00:00Z")
    assert source.count("#bar(100.0%)") == 3 and "#bar(35.0%)" in source
    assert "#bar(" not in source_of("A name: ███", title="t", created="2026-01-31T00:00:00Z").partition("#let bar")[2]
