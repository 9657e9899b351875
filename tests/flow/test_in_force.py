"""What is no longer in force, through the door: the later document answers, and an older one is quoted with what says
so, whoever writes the answer; what others say changes nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.audit.verify import verify
from graph.context import ReadScope
from graph.knowledge import retriever
from graph.knowledge.extensions import RankedHits
from graph.policy.answer import refusals
from tests.support import invariants as inv
from tests.support.models import Scripted, sentences

OLD = """# Directive 15-01

Agencies shall mend critical holes in their systems within 30 days of the weekly report.

The weekly report is sent on Mondays by the watch desk.
"""
NEW = """# Directive 19-02

Critical holes in the systems of agencies shall be mended within 15 days.

## Revocation

This directive supersedes Directive 15-01, Mending of Holes (May 2015), which is hereby revoked.
"""
SAYS = "This directive supersedes Directive 15-01, Mending of Holes (May 2015), which is hereby revoked."
DAYS, DESK = "Within how many days must agencies mend critical holes?", "Which desk sends the weekly report on Mondays?"


@pytest.fixture
def office(opened: Callable[..., Agent], tmp_path: Path) -> Callable[..., Agent]:
    def make(texts: dict[str, str], home: str = "home", **more: Any) -> Agent:
        agent = opened(home=tmp_path / home, **more)
        folder = tmp_path / f"{home} files"
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).write_text(text)
            agent.ingest(folder / name, tenant_id="O1")
        return agent

    return make


def test_the_document_in_force_answers(office: Callable[..., Agent]) -> None:
    reply = office({"bod-15-01.md": OLD, "bod-19-02.md": NEW}).ask(DAYS, tenant_id="O1")
    assert "15 days" in reply["answer"] and "30 days" not in reply["answer"]
    assert "not_in_force" not in reply["safety_flags"]


def test_what_only_an_older_one_says_is_quoted_with_what_replaced_it(office: Callable[..., Agent]) -> None:
    agent = office({"bod-15-01.md": OLD, "bod-19-02.md": NEW})
    reply = agent.ask(DESK, tenant_id="O1")
    assert "by the watch desk" in reply["sentences"][0]["text"] and reply["sentences"][-1]["text"] == SAYS
    assert {c["filename"] for c in reply["citations"]} == {"bod-15-01.md", "bod-19-02.md"}
    assert refusals.LAPSED in reply["answer"] and "not_in_force" in reply["safety_flags"]
    assert reply["confidence"] == "low"
    assert verify(reply, agent.deps.index).ok


def test_a_document_says_it_of_itself(office: Callable[..., Agent]) -> None:
    gone = OLD.replace("\n\nAgencies", "\n\nThis directive has been revoked.\n\nAgencies", 1)
    reply = office({"a.md": gone}).ask(DAYS, tenant_id="O1")
    assert [s["text"] for s in reply["sentences"]][-1] == "This directive has been revoked."
    assert reply["confidence"] == "low"


TELLS = "Directive 15-01 gave agencies 30 days from the weekly report to mend critical holes in their systems."


def test_a_sentence_that_tells_what_was_in_force_gives_way(office: Callable[..., Agent]) -> None:
    agent = office({"bod-19-02.md": NEW, "history.md": f"# How it began\n\n{TELLS}\n"})
    reply = agent.ask(DAYS, tenant_id="O1")
    assert "15 days" in reply["answer"] and "30 days" not in reply["answer"]


def test_without_a_better_one_it_is_quoted_with_what_replaced_it(office: Callable[..., Agent]) -> None:
    later = NEW.replace("within 15 days", "at once")
    agent = office({"bod-19-02.md": later, "history.md": f"# How it began\n\n{TELLS}\n"})
    reply = agent.ask("How many days from the weekly report did agencies have for critical holes?", tenant_id="O1")
    assert [s["text"] for s in reply["sentences"]] == [TELLS, SAYS]
    assert "not_in_force" in reply["safety_flags"] and reply["confidence"] == "low"


def test_a_document_called_by_its_number_is_the_one_that_is_quoted(office: Callable[..., Agent]) -> None:
    texts = {f"bod-{code}.md": f"# Directive on {what}\n\nThis directive was released on {day}.\n\n## Aim\n\nTo mend {what} in time."
             for code, what, day in (("17-01", "doors", "2 May 2017"), ("18-02", "roofs", "9 June 2018"),
                                     ("20-01", "walls", "1 March 2020"))}  # fmt: skip
    reply = office(texts).ask("When was BOD 20-01 released?", tenant_id="O1")
    assert [s["text"] for s in reply["sentences"]] == ["This directive was released on 1 March 2020."]


def test_who_asks_for_the_old_one_gets_it(office: Callable[..., Agent]) -> None:
    reply = office({"bod-15-01.md": OLD, "bod-19-02.md": NEW}).ask(
        "Within how many days had critical holes to be mended by Directive 15-01?", tenant_id="O1"
    )
    assert "30 days" in reply["answer"] and reply["sentences"][-1]["text"] == SAYS


def test_a_model_s_answer_says_it_too(office: Callable[..., Agent]) -> None:
    model = Scripted(reply=lambda _: sentences(("The weekly report is sent on Mondays by the watch desk.", [1])))
    reply = office({"bod-15-01.md": OLD, "bod-19-02.md": NEW}, model="stub", chat=model).ask(DESK, tenant_id="O1")
    assert [s["text"] for s in reply["sentences"]][-1] == SAYS
    assert "not_in_force" in reply["safety_flags"]


def test_what_another_tenant_and_another_group_say_changes_nothing(
    office: Callable[..., Agent], tmp_path: Path
) -> None:
    calm, busy = office({"bod-15-01.md": OLD}, "calm"), office({"bod-15-01.md": OLD}, "busy")
    (tmp_path / "new.md").write_text(NEW)
    busy.ingest(tmp_path / "new.md", tenant_id="O2")
    busy.ingest(tmp_path / "new.md", tenant_id="O1", groups=("board",))
    for question in (DAYS, DESK):
        one, other = (inv.stable(agent.ask(question, tenant_id="O1")) for agent in (calm, busy))
        assert one == other
    member = busy.ask(DESK, tenant_id="O1", groups=("board",))
    assert "not_in_force" in member["safety_flags"]


def test_search_brings_what_replaced_a_document_that_a_passage_names(office: Callable[..., Agent]) -> None:
    index = office({"bod-19-02.md": NEW, "history.md": f"# How it began\n\n{TELLS}\n"}).deps.index
    for tenant, expected in (("O1", [("history", "bod_19_02", SAYS)]), ("O2", [])):
        reader = ReadScope(tenant)
        hits = index.search(ReadScope("O1"), TELLS, 5, documents=["history"])
        lapses = index.lapses_named(reader, hits, index.replaced(reader))
        assert [(hit.doc_id, doc_id, sentence) for hit, _, doc_id, sentence in lapses] == expected
    ranked = RankedHits(hits)
    brought = retriever._with_standing(index, ReadScope("O1"), ranked)
    assert {hit.doc_id for hit in brought.hits} == {"history", "bod_19_02"}
