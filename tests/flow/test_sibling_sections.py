"""Sections beside one another, of which those that say what is asked for are looked up in all of the document."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graph.agent import Agent
from graph.extractive import siblings

POSTS = (
    "Archivist", "Baker", "Cooper", "Dyer", "Editor", "Farrier", "Gardener", "Hatter", "Ironmonger", "Joiner", "Keeper",
    "Limner", "Miller", "Needleman", "Ostler", "Potter", "Quilter", "Ropemaker", "Saddler", "Tanner", "Usher", "Vintner",
)  # fmt: skip
HEADS = ("the President", "the Vice-President Trade", "Vice President Fairs")


def _rules() -> str:
    sections = [
        f"## 1.{at}. {post}\n\n1.{at}.1. There is one {post}, who is chosen in May, serves a year, keeps the books of the"
        f" workshop, answers letters, and looks after the tools, the stock, the keys and the guests of the house with care."
        f"\n\n1.{at}.2. The {post} is overseen by {HEADS[at % 3]}.\n\n1.{at}.3. Nobody is {post} for more than"
        f" {'two' if at % 5 else 'four'} terms in a row, whatever the members say of it.\n"
        for at, post in enumerate(POSTS, 1)
    ]
    return (
        "# Rules of the guild\n\n# Chapter 1 - Masters\n\n"
        + "\n".join(sections)
        + "\n# Chapter 2 - Fees\n\nOne crown.\n"
    )


@pytest.fixture
def guild(opened: Callable[..., Agent], tmp_path: Path) -> Agent:
    agent, file = opened(), tmp_path / "rules.md"
    file.write_text(_rules(), encoding="utf-8")
    (outcome,) = agent.ingest(file, tenant_id="U1")
    assert outcome.status == "indexed"
    return agent


def _who(head: str) -> list[str]:
    return [post for at, post in enumerate(POSTS, 1) if HEADS[at % 3].endswith(head)]


@pytest.mark.parametrize(
    ("question", "head"),
    [
        ("Which masters are overseen by the President?", "the President"),
        ("Which masters are overseen by the Vice-President Trade?", "Vice-President Trade"),
        ("List the masters that the Vice President Fairs oversees", "Vice President Fairs"),
    ],
)
def test_each_section_that_says_so_is_quoted_and_no_other(guild: Agent, question: str, head: str) -> None:
    reply = guild.ask(question, tenant_id="U1")
    assert [post for post in POSTS if f"The {post} is overseen" in reply["answer"]] == _who(head)
    assert len(reply["sentences"]) == len(_who(head)) and "partial" not in reply["safety_flags"]


def test_they_are_counted(guild: Agent) -> None:
    reply = guild.ask("How many masters are overseen by the President?", tenant_id="U1")
    assert reply["answer"].startswith(f"{len(_who('the President'))} in all:")


def test_another_tenant_has_nothing_of_it(guild: Agent) -> None:
    assert "overseen" not in guild.ask("Which masters are overseen by the President?", tenant_id="U2")["answer"]


@pytest.mark.parametrize(
    "question",
    [
        "Who oversees the Potter?",  # asks for no list
        "Which fees are there?",  # no heading is called so
        "Which masters serve a year?",  # all of them
        "Which masters are overseen by the Abbot of Melrose?",  # none says so
        "Which masters are overseen by the President of Melrose?",  # a name that the document has not
        "List all masters",
        "What are the steps in chapter 1?",
    ],
)
def test_nothing_is_looked_up_for_other_questions(question: str) -> None:
    assert siblings.looked_up(question, "Rules", _rules()) == []


def test_a_bound_on_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    question = "Which masters are overseen by the President?"
    assert len(siblings.looked_up(question, "Rules", _rules())) == len(_who("the President"))
    monkeypatch.setattr(siblings, "LONGEST", 1_000)
    assert siblings.looked_up(question, "Rules", _rules()) == []
