"""Answers from a whole list or table, through the door: who may see which rows, what is masked, what is checked again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graph.administration.replay import replay
from graph.agent import Agent
from graph.audit.chain import is_run
from graph.audit.verify import verify
from nodes.retrieve import INVENTORY
from tests.support import invariants as inv
from tests.support.models import Scripted

LOANS = """# Loans to the kestrel exhibition

| Lender | Insured value | Contact | Courier |
|---|---|---|---|
| Mill Society | 12,000 | 0300-1234567 | yes |
| Harbour Archive | 81,000 | 0300-7654321 | no |
| Quay Company | 9,500 | 0300-5556677 | yes |
"""
STAFF = "# Private loans to the kestrel exhibition\n\n| Lender | Insured value |\n|---|---|\n| Askwith Estate | 99,000 |\n| Vell House | 5,000 |\n"
COUNT = "How many loans does the kestrel exhibition have?"


@pytest.fixture
def lent(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent = opened()
    for name, text, groups in (("loans.md", LOANS, ()), ("private.md", STAFF, ("staff",))):
        (tmp_path / name).write_text(text)
        agent.ingest(tmp_path / name, tenant_id="U1", groups=groups)
    return agent


def answer(agent: Agent, question: str, **who: Any) -> dict[str, Any]:
    reply = json.loads(json.dumps(agent.ask(question, **{"tenant_id": "U1", **who})))
    if reply["sentences"]:
        assert verify(reply, agent.deps.index).ok, reply["answer"]
        assert not inv.unvalidated(reply)
    return dict(reply)


def test_a_count_is_checked_again_and_a_changed_number_is_noticed(lent: Agent) -> None:
    reply = answer(lent, COUNT)
    assert reply["answer"].startswith("3 in all:\n- Lender: Mill Society;") and "partial" not in reply["safety_flags"]
    assert [row["cells"]["Insured value"] for row in reply["table"]] == ["12,000", "81,000", "9,500"]
    assert not verify(reply | {"table": reply["table"][:2]}, lent.deps.index).ok
    (sentence,) = reply["sentences"]
    for wrong in (sentence["text"].replace("3 in all", "4 in all"), sentence["text"].rpartition("\n")[0]):
        changed = reply | {
            "answer": reply["answer"].replace(sentence["text"], wrong),
            "sentences": [sentence | {"text": wrong}],
        }
        assert not verify(changed, lent.deps.index).ok


def test_only_rows_that_the_asker_may_read_are_listed_and_compared(lent: Agent) -> None:
    question = "Which lender of the kestrel exhibition has the highest insured value?"
    assert "Harbour Archive" in answer(lent, question)["answer"]
    assert "Askwith" in answer(lent, f"{question} (private loans)", groups=["staff"])["answer"]
    for groups in ([], ["finance"]):
        for asked in (
            question,
            COUNT,
            "List all private loans to the kestrel exhibition",
            f"{question} (private loans)",
        ):
            told = json.dumps(answer(lent, asked, groups=groups))
            assert "Askwith" not in told and "99,000" not in told and "Vell" not in told
    assert answer(lent, COUNT, tenant_id="U2")["decision"] != "answer"


def test_what_is_masked_is_masked_in_every_row(lent: Agent) -> None:
    told = json.dumps(answer(lent, "List all loans to the kestrel exhibition"))
    assert "Harbour Archive" in told and "[REDACTED]" in told
    assert not any(number in told for number in ("1234567", "7654321", "5556677"))


def test_a_removed_document_is_counted_no_more(lent: Agent) -> None:
    before = answer(lent, COUNT)
    lent.remove(before["citations"][0]["doc_id"], tenant_id="U1")
    assert "Mill Society" not in json.dumps(answer(lent, COUNT))
    assert not verify(before, lent.deps.index).ok


def test_a_run_comes_out_the_same_again(lent: Agent) -> None:
    answer(lent, COUNT)
    (run,) = [replay(entry, lent.deps, None) for entry in lent.deps.journal.entries() if is_run(entry)]
    assert run.equal and not run.differs


def test_a_chat_model_is_not_asked_to_count(tmp_path: Path, settings_of: Callable[..., Any]) -> None:
    (tmp_path / "loans.md").write_text(LOANS)
    model = Scripted(reply=lambda *_: pytest.fail("the model was asked"))
    with Agent(settings_of(artifacts=False, model="stub"), model=model) as agent:
        agent.ingest(tmp_path / "loans.md", tenant_id="U1")
        reply = answer(agent, COUNT)
        assert reply["answer"].startswith("3 in all:")
        (run,) = [replay(entry, agent.deps, None) for entry in agent.deps.journal.entries() if is_run(entry)]
        assert run.equal


@pytest.mark.parametrize(
    "question",
    [
        "Summarise the loans to the kestrel exhibition in one sentence.",
        "List all loans to the kestrel exhibition in German",
    ],
)
def test_a_wish_for_another_form_is_answered_with_quotes_and_a_word_about_it(lent: Agent, question: str) -> None:
    reply = answer(lent, question)
    assert reply["answer"].endswith("needs a chat model (CORDON_MODEL).") and "quoted_only" in reply["safety_flags"]
    bare = reply["answer"].rpartition("\n\n")[0]
    assert not verify(reply | {"answer": bare}, lent.deps.index).ok


@pytest.mark.parametrize(("count", "told"), [(3, True), (INVENTORY, True), (INVENTORY + 1, False)])
def test_documents_are_counted_where_all_are_listed(
    tmp_path: Path, settings_of: Callable[..., Any], count: int, told: bool
) -> None:
    paths = [tmp_path / f"memo_{n}.md" for n in range(count)]
    for n, path in enumerate(paths):
        path.write_text(f"# Kiln memo {n}\n\nKiln {n} was fired on day {n} of the autumn.\n")
    with Agent(settings_of(artifacts=False)) as agent:
        agent.ingest(paths, tenant_id="U1")
        reply = answer(agent, "How many documents are there?")
        assert reply["answer"].startswith(f"{count} in all:") is told
        assert ("in all" in reply["answer"]) is told and ("partial" in reply["safety_flags"]) is not told


def test_a_sum_is_checked_again(lent: Agent) -> None:
    reply = answer(lent, "What is the insured value of the loans to the kestrel exhibition altogether?")
    assert reply["answer"].startswith("102,500 in all (Insured value, 3 rows):")
    wrong = json.loads(json.dumps(reply).replace("102,500 in all", "102,600 in all"))
    assert not verify(wrong, lent.deps.index).ok and inv.unvalidated(wrong)


def test_a_count_of_lines_with_brackets_is_checked_again(opened: Callable[..., Agent], tmp_path: Path) -> None:
    agent = opened()
    (tmp_path / "git.md").write_text(
        "# Git commands of the kestrel team\n\n| Command | Use |\n|---|---|\n| git clone <url> | copy |\n"
        "| git checkout <branch> | switch |\n| git push origin <branch> | send |\n"
    )
    agent.ingest(tmp_path / "git.md", tenant_id="U1")
    reply = answer(agent, "How many git commands does the kestrel team have?")
    assert reply["answer"].startswith("3 in all:") and "‹url›" in reply["answer"]
    assert "partial" not in reply["safety_flags"] and verify(reply, agent.deps.index).ok
