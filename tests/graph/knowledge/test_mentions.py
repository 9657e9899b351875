"""Which documents a question calls by what they are."""

from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.context import ReadScope
from graph.knowledge import mentions

NAMES = [
    ("ai", mentions.name("Policy on the use of artificial intelligence", "ai_use_policy.md")),
    ("integrity", mentions.name("Academic integrity policy", "academic_integrity.md")),
    ("minutes", mentions.name("Minutes of the genomics laboratory meeting, 9 March 2026", "minutes_2026_03_09.md")),
    ("minutes2", mentions.name("Minutes of the genomics laboratory meeting, 4 May 2026", "minutes_2026_05_04.md")),
    ("memo", mentions.name("Replacement of freezer FZ-02", "memo_freezer.md")),
    ("sop", mentions.name("Freezer storage", "sop_storage.docx")),
    ("near", mentions.name("Near-miss report: oxygen alarm", "near_miss_nitrogen.md")),
    ("retention", mentions.name("Data retention schedule", "data_retention.md")),
    ("ethics", mentions.name("Handbook of research ethics", "scan 0012.pdf")),
    ("b", mentions.name("AppendixB", "AppendixB.xlsx")),
    ("c", mentions.name("AppendixC", "AppendixC.xlsx")),
    ("fourth", mentions.name("Comparison of two drugs", "Protocol R-12- Amendment INT-4.pdf")),
    ("mill", mentions.name("Cleaning of the mill", "SOP014_v2.docx")),
    ("holes", mentions.name("Mending of holes", "pages/19-02.md")),
    ("keys", mentions.name("Lost keys", "keys.md", [("Document ID", "QA-7"), ("Review date", "2026-05-01")])),
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the AI policy?", ["ai"]),
        ("according to the ai-policy, who decides?", ["ai"]),
        ("policy on artificial intelligence: may I use it?", ["ai"]),
        ("Summarise the minutes of 9 March", ["minutes"]),
        ("In the March minutes, who was absent?", ["minutes"]),
        ("sum up the freezer memo", ["memo"]),
        ("what does the near miss document say", ["near"]),
        ("what is the retention schedule for consent forms", ["retention"]),
        ("ethics handbook: what are volunteers paid?", ["ethics"]),
        ("In the trial's Appendix B, which outcome has the most cases?", ["b"]),
        ("How many controls does appendix c list?", ["c"]),
        ("Who signed amendment INT-4?", ["fourth"]),
        ("What do appendix B and the AI policy say of falls?", ["ai", "b"]),
        ("When was BOD 19-02 released?", ["holes"]),
        ("Who signed SOP-014?", ["mill"]),
        ("Who signed SOP 014?", ["mill"]),
        ("what does (QA-7) say of doors", ["keys"]),
        # Nothing, or nothing in particular, is called.
        ("Is it 19-03, 1,902 or 0.19?", []),
        ("What is due in 2026-05?", []),
        ("Is there an appendix a reader should know?", []),
        ("which report do I file after an accident?", []),
        ("what is the policy", []),
        ("is there a policy on guests?", []),
        ("how should I plan the freezer move", []),
        ("", []),
        ("the minutes " * 5_000, []),
    ],
)
def test_a_document_is_known_by_its_kind_and_the_words_beside_it(question: str, expected: list[str]) -> None:
    assert mentions.meant(question, NAMES) == expected


def test_words_that_fit_many_documents_call_none() -> None:
    many = [(f"m{n}", mentions.name(f"Minutes of the board, {n} March", f"minutes_{n}.md")) for n in range(1, 6)]
    assert mentions.meant("the March minutes", many) == []
    assert mentions.meant("the minutes of 4 March", many) == ["m4"]


@pytest.mark.parametrize(
    "question", ["Who was there on 10 May 2022?", "votes of May 10th, 2022", "present 2022-05-10?"]
)
def test_a_document_is_known_by_the_day_in_its_name(question: str) -> None:
    days = ("2022-05-10", "2022-10-11", "2022-10-25")
    names = [(day, mentions.name("Meeting of the council", f"{day.replace('-', '_')}.md")) for day in days]
    assert mentions.meant(question, names) == ["2022-05-10"]
    assert mentions.meant("Who was there in May 2022?", names) == []


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Perth (YPPH)", ["perth", "ypph"]),
        ("Islands: Port Vila", ["islands", "port vila"]),
        ("Cross Project Council (CPC) Charter", []),
        ("Rules of the WEC", []),
        ("WEC rules", []),
        ("Overview", []),
        ("What to do when the alarm rings", []),
        ("2026", []),
    ],
)
def test_what_a_title_names(title: str, expected: list[str]) -> None:
    assert mentions.subjects(title) == expected


def test_names_of_things_are_called() -> None:
    names = [(t, mentions.name(t, f"{t}.md")) for t in ("Perth (YPPH)", "Sydney", "Western Sydney", "Travel")]
    assert mentions.titled("How deep is it at Perth?", names) == ["Perth (YPPH)"]
    assert mentions.titled("how deep is it at perth?", names) == ["Perth (YPPH)"]
    assert mentions.titled("How deep is Western Sydney's basin?", names) == ["Western Sydney"]
    assert mentions.titled("Who pays for travel to Sydney?", names) == ["Sydney"]
    assert mentions.titled("Who pays for a trip?", names) == []
    many = [(str(n), mentions.name("Perth", f"{n}.md")) for n in range(4)]
    assert mentions.titled("How deep is it at Perth?", many) == []


def test_a_word_with_a_small_letter_is_no_name() -> None:
    assert mentions.is_name("perth", ["At Perth, see img/perth.png and perth_tower."])
    assert not mentions.is_name("travel", ["Travel is paid.", "Book travel early."])


@pytest.mark.parametrize(
    ("question", "tenant", "expected"),
    [
        ("What is the AI policy?", "U1", "PUB_ai_use_policy"),
        ("Summarise the minutes of 9 March", "U1", "U1_minutes_2026_03_09"),
        ("sum up our embargo plan", "U3", "U3_embargo_plan"),
        ("sum up our embargo plan", "U4", "U4_embargo_plan"),
    ],
)
def test_what_is_called_is_answered_from(agent: Agent, question: str, tenant: str, expected: str) -> None:
    reply = agent.ask(question, tenant_id=tenant)
    assert {c["doc_id"] for c in reply["citations"]} == {expected}


def test_another_tenants_document_cannot_be_called(agent: Agent) -> None:
    question = "Summarise the minutes of 9 March"
    assert agent.deps.index.mentioned(ReadScope("U1"), question) == ["U1_minutes_2026_03_09"]
    assert agent.deps.index.mentioned(ReadScope("U3"), question) == []
    assert "U1_minutes" not in str(agent.ask(question, tenant_id="U3"))


def test_names_follow_what_is_stored(opened: Any, tmp_path: Path) -> None:
    one = opened()
    question = "what does the walrus charter say"
    file = tmp_path / "x1.md"
    file.write_text("# Charter of the walrus house\n\nThe pool is cleaned on Fridays.\n", encoding="utf-8")
    assert "Fridays" not in one.ask(question, tenant_id="U1")["answer"]
    [outcome] = one.ingest([file], tenant_id="U1")
    assert "Fridays" in one.ask(question, tenant_id="U1")["answer"]
    one.remove(outcome.doc_id, tenant_id="U1")
    assert "Fridays" not in one.ask(question, tenant_id="U1")["answer"]


def test_a_document_without_chunks_is_listed_nowhere(opened: Any) -> None:
    index = opened().deps.index
    whole = {hit.doc_id for hit in index.inventory(ReadScope("U1"), "minutes", 50)}
    [space] = [space for where, space in index.visible(ReadScope("U1")) if where == "private"]
    with space._writing():
        space._db.execute("DELETE FROM chunks WHERE doc_id = 'U1_minutes_2026_03_09'")
    assert {hit.doc_id for hit in index.inventory(ReadScope("U1"), "minutes", 50)} == whole - {"U1_minutes_2026_03_09"}
    assert "U1_minutes_2026_03_09" in whole


def test_what_stands_before_a_colon_names_documents() -> None:
    names = [
        (title, mentions.name(title, "a.pdf")) for title in ("Bylaws of Montague", "General Bylaws", "Leave policy")
    ]
    assert mentions.before_colon("Montague: what do I pay for a false alarm?", names) == ["Bylaws of Montague"]
    assert mentions.before_colon("Leave: how many days are there?", names) == ["Leave policy"]
    assert mentions.before_colon("Question: how many days are there?", names) == []
    assert mentions.before_colon("What do I pay in Montague?", names) == []
