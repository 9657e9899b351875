"""An act asked through the agent: real index, real checkpointer, the embedded model."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from evals import acts
from graph.agent import Agent
from graph.audit.verify import verify
from graph.context import ReadScope
from graph.options import Mode
from graph.regulation import store
from graph.regulation.act import Act
from graph.settings import Settings, load
from graph.stores.embedded.space import SqliteSpace
from tests.support import invariants as inv
from tests.support.command import Run

MODES: tuple[Mode, ...] = get_args(Mode)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which U1 holds the invented act as a PDF. Closed: copy it."""
    base = tmp_path_factory.mktemp("act")
    (base / "act.pdf").write_bytes(acts.as_pdf(acts.invented()))
    with Agent(load(environ={}, home=base / "home", artifacts=False)) as agent:
        (outcome,) = agent.ingest(base / "act.pdf", tenant_id="U1", regulation=True)
    assert (outcome.status, outcome.reason) == ("indexed", "20 articles, 31 recitals")
    return base / "home"


@pytest.fixture(scope="module")
def asked(indexed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Agent]:
    home = Path(shutil.copytree(indexed, tmp_path_factory.mktemp("asked") / "home"))
    with Agent(load(environ={}, home=home, out=home.parent / "out", artifacts=False)) as agent:
        yield agent


def sections(reply: dict[str, Any]) -> list[str]:
    return [c["section"].rpartition(", Article ")[2] for c in reply["citations"]]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("question", "said", "where"),
    [
        ("Article 15", "A request shall be answered within two weeks", "15(2)"),
        ("art. 12 para. 3", "48 hours", "12(3)"),
        ("What does 'operator' mean?", "any natural or legal person", "3(2)"),
        ("What is the deadline for deciding on an application for registration?", "within 30 days", "6(2)"),
        ("Does Article 10 apply to cranes used for research?", "shall not apply to cranes used only for research", "10(2)"),
        ("Which articles apply when a crane has failed an inspection?", "Article 12 shall apply", "11(2)"),
    ],
)  # fmt: skip
def test_questions_people_ask_of_an_act(asked: Agent, mode: Mode, question: str, said: str, where: str) -> None:
    reply = asked.ask(question, tenant_id="U1", mode=mode, thread_id=mode)
    assert reply["decision"] == "answer"
    assert said in reply["answer"]
    assert where in sections(reply)
    assert all(c["page"] for c in reply["citations"])


def test_the_graph_brings_the_exception_that_no_search_finds(asked: Agent) -> None:
    reply = asked.ask("When is a crane withdrawn from service?", tenant_id="U1", mode="graph")
    named = {p.chunk_id: asked.regulations(tenant_id="U1")[0].nodes[p.node].name for p in asked.regulations(tenant_id="U1")[0].passages}  # fmt: skip
    why = {named[c["chunk_id"]]: c["why"] for c in reply["retrieval"]["candidates"]}
    assert why["Article 12(1)"] == "anchor"
    assert set(why.values()) > {"anchor"}


def test_graph_mode_shows_no_more_tokens_than_the_first_passages_of_the_search(asked: Agent) -> None:
    (act,) = asked.regulations(tenant_id="U1")
    tokens = {p.chunk_id: p.tokens for p in act.passages}
    for n, question in enumerate(("When is a crane withdrawn from service?", "How long is a designation valid?")):
        reply = asked.ask(question, tenant_id="U1", mode="graph", thread_id=f"tokens-{n}")
        budget = sum(
            tokens[hit.chunk_id] for hit in asked.deps.index.search(ReadScope("U1"), question, asked.settings.top_k)
        )
        assert 0 < sum(tokens[c["chunk_id"]] for c in reply["retrieval"]["candidates"]) <= budget


@pytest.mark.parametrize("mode", MODES)
def test_citations_into_an_act_can_be_verified(asked: Agent, mode: Mode) -> None:
    reply = asked.ask("What is the deadline for answering a request for help?", tenant_id="U1", mode=mode)
    assert reply["citations"]
    assert verify(reply, asked.deps.index).ok
    broken = json.loads(json.dumps(reply))
    broken["citations"][0]["quote"] = broken["citations"][0]["quote"].replace("two", "four")
    assert not verify(broken, asked.deps.index).ok


def test_without_an_act_graph_is_baseline(agent: Agent) -> None:
    question = "Which freezer holds the whole blood samples?"
    one, two = (agent.ask(question, tenant_id="U1", mode=m, thread_id=f"noact-{m}") for m in ("baseline", "graph"))
    for key in ("answer", "citations", "retrieval"):
        assert one[key] == two[key]


def test_another_tenants_act_changes_nothing(pristine: Path, tmp_path: Path) -> None:
    questions = ("Article 15", "What does 'operator' mean?", "Which freezer holds the whole blood samples?")
    replies = []
    for name in ("alone", "beside"):
        home = Path(shutil.copytree(pristine, tmp_path / name))
        with Agent(load(environ={}, home=home, artifacts=False)) as one:
            if name == "beside":
                file = tmp_path / "act.txt"
                file.write_text(acts.as_text(acts.invented()))
                one.ingest(file, tenant_id="U2", regulation=True)
                assert one.ask("Article 15", tenant_id="U2", mode="graph")["decision"] == "answer"
            replies.append(
                [json.dumps(inv.stable(one.ask(q, tenant_id="U1", mode=m, thread_id=f"{m}{n}")), sort_keys=True)
                 for n, q in enumerate(questions) for m in MODES]
            )  # fmt: skip
            assert one.regulations(tenant_id="U1") == []
    assert replies[0] == replies[1]


def test_a_public_act_is_read_by_every_tenant(tmp_path: Path, settings_of: Callable[..., Settings]) -> None:
    file = tmp_path / "act.html"
    file.write_text(acts.as_eurlex(acts.invented()))
    with Agent(settings_of(artifacts=False)) as one:
        one.ingest(file, public=True, regulation=True)
        reply = one.ask("Article 15", tenant_id="anybody", mode="graph")
    assert [c["visibility"] for c in reply["citations"]] == ["public"] * len(reply["citations"]) != []


def test_ingested_again_it_is_unchanged_and_removed_it_is_gone(indexed: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(indexed, tmp_path / "home"))
    with Agent(load(environ={}, home=home, artifacts=False)) as one:
        (again,) = one.ingest(indexed.parent / "act.pdf", tenant_id="U1", regulation=True)
        assert again.status == "unchanged"
        one.remove("act", tenant_id="U1")
        assert one.regulations(tenant_id="U1") == []
        space = one.deps.index.space("U1")
        assert isinstance(space, SqliteSpace) and space.execute("SELECT count(*) FROM regulations") == [(0,)]


def test_an_act_first_ingested_as_a_plain_document_gets_its_graph(
    tmp_path: Path, settings_of: Callable[..., Settings]
) -> None:
    file = tmp_path / "act.txt"
    file.write_text(acts.as_text(acts.invented()))
    with Agent(settings_of(artifacts=False)) as one:
        one.ingest(file, tenant_id="U1")
        assert one.regulations(tenant_id="U1") == []
        one.ingest(file, tenant_id="U1", regulation=True)
        assert [a.title for a in one.regulations(tenant_id="U1")] == ["Harbour Cranes Act (Regulation (EU) 2031/77)"]


def test_the_same_file_gives_the_same_graph(asked: Agent, tmp_path: Path, indexed: Path) -> None:
    with Agent(load(environ={}, home=tmp_path / "other", artifacts=False)) as other:
        other.ingest(indexed.parent / "act.pdf", tenant_id="U1", regulation=True)
        (one,), (two,) = asked.regulations(tenant_id="U1"), other.regulations(tenant_id="U1")
    assert one.to_json() == two.to_json()
    assert Act.from_json(one.to_json()) == one


def test_a_crash_between_document_and_graph_is_mended_by_the_next_ingestion(indexed: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(indexed, tmp_path / "home"))
    with Agent(load(environ={}, home=home, artifacts=False)) as one:
        space = one.deps.index.space("U1")
        assert isinstance(space, SqliteSpace)
        space.execute("DELETE FROM regulations")
        assert store.acts(space) == []
        (outcome,) = one.ingest(indexed.parent / "act.pdf", tenant_id="U1", regulation=True)
        assert outcome.status == "indexed" and len(one.regulations(tenant_id="U1")) == 1


def test_the_commands(indexed: Path, tmp_path: Path, inside: Run) -> None:
    home = Path(shutil.copytree(indexed, tmp_path / "home"))
    told = inside("regulation", "status", "--tenant", "U1", home=home)
    assert told.returncode == 0, told.stderr
    assert "20 articles, 31 recitals, 3 chapters, 2 sections, 1 annexes" in told.stdout
    assert "complete: nothing missing" in told.stdout
    data = json.loads(inside("regulation", "status", "--tenant", "U1", "--json", home=home).stdout)
    assert data[0]["references"]["unresolved"] == [] and data[0]["complete"] is True
    shown = inside("regulation", "show", "Article 12(3)", "--tenant", "U1", home=home)
    assert "48 hours" in shown.stdout and "derogates from  Article 12(1)" in shown.stdout
    drawn = inside("regulation", "show", "art 12", "--format", "mermaid", "--tenant", "U1", home=home)
    assert drawn.stdout.startswith("flowchart LR\n") and "Article 12: Withdrawal from service" in drawn.stdout
    absent = inside("regulation", "show", "Article 99", "--tenant", "U1", home=home)
    assert absent.returncode == 2 and "there is no 'Article 99'" in absent.stderr
    foreign = inside("regulation", "show", "Article 12", "--tenant", "U2", home=home)
    assert foreign.returncode == 2 and "no act was ingested" in foreign.stderr
    answer = inside("ask", "art. 12 para. 3", "--tenant", "U1", "--mode", "graph", home=home, artifacts=1)
    assert "act.pdf, Article 12(3), p. " in answer.stdout
    (folder,) = (home.parent / "out").iterdir()
    assert (folder / "neighbourhood.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "neighbourhood.mmd").read_text().startswith("flowchart LR")


def test_a_file_that_is_no_act_is_said_so(tmp_path: Path, inside: Run) -> None:
    file = tmp_path / "minutes.txt"
    file.write_text("Minutes of the meeting. Nothing was decided.")
    told = inside("ingest", "--regulation", str(file), "--tenant", "U1", home=tmp_path / "home")
    assert told.returncode == 0 and "quarantined" in told.stdout and "does not read like an act" in told.stdout
