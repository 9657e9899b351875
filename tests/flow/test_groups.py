"""Groups inside a tenant: what some groups share is for the rest of the tenant as another tenant's: not there."""

import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.agent import Agent
from graph.audit.verify import verify
from graph.context import ReadScope
from graph.errors import BadInput, Forbidden, NotFound
from graph.knowledge.index import MOST_AUDIENCES, Index
from graph.settings import Settings
from tests.support import invariants as inv
from tests.support.models import Scripted, everything

Ask = Callable[..., Agent]
OPEN = "# Handbook\n\nThe kestrel freezer stands in room 114 and is thawed every June. Leave is asked for in March.\n"
STAFF = "# Pay\n\nThe heron bonus is 300 rupees for every month and is paid in May. The payroll officer is in room 9.\n"
BOARD = (
    "# Merger\n\nThe merger with Ospreyland is signed in October and costs 4,711 rupees. Its code word is zorblax.\n"
)
BOTH = "# Budget plan\n\nThe budget plan gives 90,000 rupees to the walrus pump. It is decided in November.\n"
DOCUMENTS = (("handbook.md", OPEN, ()), ("pay.md", STAFF, ("staff",)), ("budget.md", BOTH, ("board", "staff")))
HIDDEN = ("merger.md", BOARD, ("board",))
SECRETS = ("ospreyland", "4,711", "zorblax", "merger.md")
QUESTIONS = (
    "In which room is the kestrel freezer?",
    "How much is the heron bonus?",
    "What does the budget plan give to the walrus pump?",
    "When is the merger signed, and what does it cost?",
    "What is the code word of the merger with Ospreylnd?",
    "What does merger.md say?",
    "Summarise the merger document.",
    "Which documents do you have?",
    "When is leave asked for, and when is the bonus paid?",
)


def put(one: Agent, folder: Path, *documents: tuple[str, str, Collection[str]]) -> None:
    for name, text, groups in documents:
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text)
        (outcome,) = one.ingest(folder / name, tenant_id="U1", groups=groups)
        assert outcome.status == "indexed", outcome


@pytest.fixture
def worlds(tmp_path: Path, settings_of: Callable[..., Settings]) -> Iterator[Ask]:
    """`worlds(name)`: an agent over the three documents that somebody of the staff may read."""
    agents: list[Agent] = []

    def make(name: str, chat: Any = None, **settings: Any) -> Agent:
        agents.append(Agent(settings_of(home=tmp_path / name, artifacts=False, **settings), model=chat))
        put(agents[-1], tmp_path / "texts", *DOCUMENTS)
        return agents[-1]

    yield make
    for one in agents:
        one.close()


@pytest.fixture
def one(worlds: Ask, tmp_path: Path) -> Agent:
    """With a document for the board beside them."""
    made = worlds("one")
    put(made, tmp_path / "hidden", HIDDEN)
    return made


def said(one: Agent, groups: Collection[str]) -> list[str]:
    """All that somebody in these groups can be told: replies with memory, passages, lists, what is kept of the talk."""
    who: dict[str, Any] = {"tenant_id": "U1", "groups": groups}
    told: list[Any] = [
        inv.stable(one.ask(q, **who, thread_id=f"t{n % 3}", memory=("buffer", "summary")[n % 2], mode="agent"))
        for n, q in enumerate(QUESTIONS)
    ]
    told += [one.search(question, **who) for question in QUESTIONS]
    told += [{k: v for k, v in row.items() if k != "ingested"} for row in one.documents(**who)]
    told += [
        {**turn, "run_id": "", "timestamp": ""}
        for thread in one.threads(**who)
        for turn in one.thread(thread["thread_id"], **who)["turns"]
    ]
    return [json.dumps(row, sort_keys=True, ensure_ascii=False) for row in told]


# -- who reads what -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("groups", "readable"),
    [
        ((), {"handbook"}),
        (("staff",), {"handbook", "pay", "budget"}),
        (("board",), {"handbook", "merger", "budget"}),
        (("board", "staff"), {"handbook", "pay", "merger", "budget"}),
        (("Staff", "boar"), {"handbook"}),
    ],
)
def test_somebody_reads_what_is_for_all_and_what_one_of_the_groups_shares(
    one: Agent, groups: tuple[str, ...], readable: set[str]
) -> None:
    assert {row["doc_id"] for row in one.documents(tenant_id="U1", groups=groups)} == readable
    for question, doc_id in zip(QUESTIONS[:4], ("handbook", "pay", "budget", "merger"), strict=True):
        reply = one.ask(question, tenant_id="U1", groups=groups)
        assert (doc_id in {c["doc_id"] for c in reply["citations"]}) is (doc_id in readable), question
        assert {c["doc_id"] for c in reply["retrieval"]["candidates"]} <= readable


def test_the_groups_of_one_tenant_are_nobody_in_another(one: Agent) -> None:
    assert one.documents(tenant_id="U2", groups=("board", "staff")) == []
    reply = one.ask(QUESTIONS[3], tenant_id="U2", groups=("board", "staff"))
    assert reply["retrieval"]["candidates"] == []


def test_who_keeps_the_documents_lists_all_of_them_with_their_groups(one: Agent) -> None:
    assert {row["doc_id"]: row["groups"] for row in one.documents(tenant_id="U1")} == {
        "budget": ["board", "staff"], "handbook": [], "merger": ["board"], "pay": ["staff"],
    }  # fmt: skip
    told = {row["doc_id"]: row["groups"] for row in one.documents(tenant_id="U1", groups=("staff",))}
    assert told["budget"] == ["staff"]  # not that there is a board


def test_the_words_that_name_groups_are_checked(one: Agent, tmp_path: Path) -> None:
    for wrong in ("staff", ["a,b"], ["a/b"], [""], ["*"], [5], [f"g{n}" for n in range(65)]):
        with pytest.raises(BadInput, match="group"):
            one.ask(QUESTIONS[0], tenant_id="U1", groups=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="public"):
        one.ingest(tmp_path / "texts", public=True, groups=("staff",))


# -- nothing of another group ---------------------------------------------------------------------------------------


def flood(one: Agent, folder: Path) -> None:
    """Documents of the board about all that the staff and the rest ask, under the same names, and its own talk."""
    put(one, folder, HIDDEN, *((name, f"{BOARD}\n{text * 3}", ("board",)) for name, text, _ in DOCUMENTS))
    put(
        one,
        folder,
        *((f"note{n}.md", f"{BOARD}\nNumber {n}. {'heron bonus kestrel ' * 9}", ("board",)) for n in range(9)),
    )
    put(one, folder, ("minutes.md", f"{BOARD}\nMinutes of room 114.", ("board", "audit")))
    one.ask(QUESTIONS[3], tenant_id="U1", groups=("board",), thread_id="t0", memory="buffer")


@pytest.mark.parametrize("groups", [(), ("staff",)])
def test_documents_of_another_group_change_no_byte(worlds: Ask, tmp_path: Path, groups: tuple[str, ...]) -> None:
    calm, busy = worlds("calm"), worlds("busy")
    flood(busy, tmp_path / "flood")
    was, now = said(calm, groups), said(busy, groups)
    assert now == was
    assert not any(secret in text.casefold().replace("ospreylnd", "") for text in now for secret in SECRETS[:3])


def test_the_check_fails_when_groups_share_their_statistics(
    worlds: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One index for the tenant, and hits of other groups taken out afterwards: found out, though it shows none."""
    calm, busy = worlds("calm"), worlds("busy")
    flood(busy, tmp_path / "flood")
    honest = Index.search

    def filtered(self: Index, reader: ReadScope, query: str, limit: int, **known: Any) -> Any:
        everything = ReadScope(reader.tenant, frozenset(("staff", "board", "audit")))
        mine = {where for where, _ in self.visible(reader)}
        return [hit for hit in honest(self, everything, query, limit, **known) if hit.where in mine]

    monkeypatch.setattr(Index, "search", filtered)
    assert said(busy, ()) != said(calm, ())


@pytest.mark.parametrize("doc_id", ["merger", "pay"])
def test_a_hidden_id_looks_like_one_that_does_not_exist(one: Agent, doc_id: str) -> None:
    told = []
    for name in (doc_id, "nothing"):
        for call in (one.document, one.remove, one.withheld, one.decide):
            with pytest.raises(NotFound) as caught:
                call(name, tenant_id="U1", groups=("other",))
            told.append((str(caught.value).replace(name, "X"), caught.value.hint))
    assert len(set(told)) == 1
    a, b = (
        inv.stable(one.ask(f"What does {name}.md say?", tenant_id="U1", groups=("other",))) for name in (doc_id, "noth")
    )
    assert (a["answer"], a["decision"], a["refusal"]) == (b["answer"], b["decision"], b["refusal"])


def test_a_damaged_index_of_another_group_is_no_concern(one: Agent, home_of: Callable[[Agent], Path]) -> None:
    folder = home_of(one) / "index" / "spaces"
    one.close()
    (path,) = [path for path in folder.rglob("*.db") if b"zorblax" in path.read_bytes()]
    path.write_bytes(b"not a database")
    assert one.ask(QUESTIONS[1], tenant_id="U1", groups=("staff",))["decision"] == "answer"
    assert one.ask(QUESTIONS[3], tenant_id="U1", groups=("board",))["decision"] == "unavailable"


@pytest.fixture
def home_of(database_of: Callable[[Path], dict[str, Any]]) -> Callable[[Agent], Path]:
    def of(one: Agent) -> Path:
        if one.settings.database_url.get_secret_value():
            pytest.skip("there are no files of an index in a database")
        return one.settings.home

    return of


# -- two locks ------------------------------------------------------------------------------------------------------


def prompts(one: Agent, chat: Scripted, groups: Collection[str]) -> str:
    chat.seen.clear()
    replies = [one.ask(q, tenant_id="U1", groups=groups, top_k=20) for q in QUESTIONS]
    return (" ".join(chat.seen) + json.dumps([r["answer"] for r in replies])).casefold()


@pytest.fixture
def scripted(worlds: Ask, tmp_path: Path) -> tuple[Agent, Scripted]:
    chat = Scripted(reply=everything)
    made = worlds("scripted", chat=chat, model="stub")
    put(made, tmp_path / "hidden", HIDDEN)
    return made, chat


def see_all(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Index.visible
    everything = frozenset(("staff", "board"))
    monkeypatch.setattr(Index, "visible", lambda self, who: honest(self, ReadScope(who.tenant, everything)))


def test_no_prompt_holds_a_line_of_another_group(scripted: tuple[Agent, Scripted]) -> None:
    assert "kestrel" in prompts(*scripted, ()) and "zorblax" not in prompts(*scripted, ("staff",))
    assert "zorblax" in prompts(*scripted, ("board",))


def test_the_access_check_alone_holds_when_search_is_broken(
    scripted: tuple[Agent, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    see_all(monkeypatch)
    assert "zorblax" not in prompts(*scripted, ("staff",))
    assert "dropped:group" in inv.journal_of(scripted[0])[-1]["filters_applied"]


def test_the_search_alone_holds_when_the_access_check_is_broken(
    scripted: tuple[Agent, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.policy.evidence.access.denied", lambda *a, **k: None)
    assert "zorblax" not in prompts(*scripted, ("staff",))


def test_the_check_fails_when_both_are_broken(
    scripted: tuple[Agent, Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    see_all(monkeypatch)
    monkeypatch.setattr("graph.policy.evidence.access.denied", lambda *a, **k: None)
    assert "zorblax" in prompts(*scripted, ("staff",))


def test_a_document_in_another_groups_space_is_not_shown(one: Agent) -> None:
    """Its record says who reads it, too: the two must agree."""
    space = one.deps.index.space("U1")
    moved = one.deps.index.space("U1/board")
    assert space is not None and moved is not None
    whole = moved.whole("merger")
    assert whole is not None
    space.put(whole.record, whole.text, whole.chunks, whole.vectors, whole.words)
    reply = one.ask(QUESTIONS[3], tenant_id="U1")
    assert not any(c["doc_id"] == "merger" for c in reply["retrieval"]["candidates"])


# -- what is remembered ---------------------------------------------------------------------------------------------

TALK: dict[str, Any] = {"tenant_id": "U1", "user_id": "ann", "memory": "buffer"}


@pytest.mark.parametrize("memory", ["buffer", "summary"])
def test_a_turn_is_used_and_shown_only_while_the_asker_has_the_group(one: Agent, memory: str) -> None:
    talk = {**TALK, "memory": memory}
    first = one.ask(QUESTIONS[3], **talk, groups=("board",), thread_id="t")
    assert "October" in first["answer"]
    again = one.ask("And what is its code word?", **talk, groups=("board",), thread_id="t")
    assert again["memory"]["turns_used"] > 0 and "zorblax" in again["answer"]
    who = {"tenant_id": "U1", "user_id": "ann"}
    assert one.threads(**who, groups=("board",))[0]["turns"] == 2
    for groups in ((), ("staff",)):
        assert one.threads(**who, groups=groups) == []
        with pytest.raises(NotFound):
            one.thread("t", **who, groups=groups)
    for thread in ("t", "another"):
        reply = one.ask("Remind me of the merger you mentioned.", **talk, groups=("staff",), thread_id=thread)
        assert reply["memory"]["turns_used"] == 0
        told = json.dumps(reply).casefold()
        assert not any(word in told for word in ("october", "4,711", "zorblax", "ospreyland"))
    assert len(one.thread("t", **who, groups=("board",))["turns"]) == 3
    assert len(one.thread("t", **who, groups=("staff",))["turns"]) == 1


def test_a_turn_that_rests_on_what_all_may_read_stays(one: Agent) -> None:
    one.ask(QUESTIONS[0], **TALK, groups=("board",), thread_id="t")
    assert one.threads(tenant_id="U1", user_id="ann")[0]["turns"] == 1


def test_one_group_of_those_that_share_a_document_is_enough(one: Agent) -> None:
    one.ask(QUESTIONS[2], **TALK, groups=("board",), thread_id="t")
    who = {"tenant_id": "U1", "user_id": "ann"}
    assert one.threads(**who, groups=("staff",)) and not one.threads(**who, groups=("other",))


def test_what_follows_from_a_turn_is_bound_to_its_groups(one: Agent) -> None:
    """A later turn may repeat what it was told from memory, so it is shown to no more people."""
    one.ask(QUESTIONS[3], **TALK, groups=("board",), thread_id="t")
    one.ask(QUESTIONS[0], **TALK, groups=("board",), thread_id="t")
    assert one.threads(tenant_id="U1", user_id="ann") == []


def test_a_word_that_only_a_groups_documents_know_is_not_remembered_without_it(one: Agent) -> None:
    """Though no passage of theirs was shown."""
    asked = "In which room is the kestrel freezer, thawed every June, for the ospreylnd?"
    reply = one.ask(asked, **TALK, groups=("board",), thread_id="t", top_k=1)
    assert "ospreyland" in json.dumps(reply["understood"])
    assert {c["doc_id"] for c in reply["retrieval"]["candidates"]} == {"handbook"}
    assert one.threads(tenant_id="U1", user_id="ann") == []
    assert "understood" not in one.ask(asked, **TALK, thread_id="u", top_k=1)


# -- beside answers -------------------------------------------------------------------------------------------------


def test_a_reply_is_checked_against_what_its_reader_may_read(one: Agent) -> None:
    reply = one.ask(QUESTIONS[3], tenant_id="U1", groups=("board",))
    deps = one.deps
    assert verify(reply, deps.index).ok  # the operator's
    for groups, ok in ((("board",), True), (("staff",), False), ((), False)):
        report = verify(reply, deps.index, reader=ReadScope("U1", frozenset(groups)))
        assert report.ok is ok
        assert ok or {c.status for c in report.citations} == {"missing"}


def test_a_run_is_replayed_for_the_groups_it_was_asked_with(one: Agent) -> None:
    from graph.administration.replay import replay

    reply = one.ask(QUESTIONS[3], tenant_id="U1", groups=("board",))
    entry = inv.journal_of(one)[-1]
    assert entry["groups"] == ["board"] and {row["where"] for row in entry["retrieved"]} >= {"private/board"}
    assert replay(entry, one.deps).equal and reply["decision"] == "answer"


def test_documents_of_one_name_are_told_apart_by_their_groups(one: Agent, tmp_path: Path) -> None:
    put(one, tmp_path / "same", ("pay.md", "# Pay\n\nThe board is paid in gold.\n", ("board",)))
    with pytest.raises(BadInput, match="2 documents 'pay': for board; for staff"):
        one.document("pay", tenant_id="U1")
    assert "gold" in one.document("pay", tenant_id="U1", groups=("board",))["text"]
    assert "heron" in one.document("pay", tenant_id="U1", groups=("staff",))["text"]
    one.remove("pay", tenant_id="U1", groups=("board",))
    assert "heron" in one.document("pay", tenant_id="U1")["text"]


def test_what_is_read_by_all_as_well_is_told(one: Agent, tmp_path: Path) -> None:
    (outcome,) = one.ingest(tmp_path / "texts" / "handbook.md", tenant_id="U1", groups=("staff",))
    assert outcome.reason == "all of the tenant can read the same content, as handbook"


def test_sets_of_groups_are_bounded(one: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_AUDIENCES == 64
    monkeypatch.setattr("graph.knowledge.index.MOST_AUDIENCES", 3)
    (outcome,) = one.ingest(tmp_path / "texts" / "pay.md", tenant_id="U1", groups=("more",))
    assert (outcome.status, "at most 3 different sets" in outcome.reason) == ("failed", True)
    (outcome,) = one.ingest(tmp_path / "texts" / "budget.md", tenant_id="U1", groups=("staff",))
    assert outcome.status == "indexed"
    one.remove("merger", tenant_id="U1")  # there is room for another one
    (outcome,) = one.ingest(tmp_path / "texts" / "pay.md", tenant_id="U1", groups=("more",))
    assert outcome.status == "indexed"


def test_a_set_of_groups_without_a_document_is_none_any_more(one: Agent) -> None:
    assert one.deps.index.spaces.audiences("U1") == ["U1/board", "U1/board,staff", "U1/staff"]
    one.remove("merger", tenant_id="U1")
    assert one.deps.index.spaces.audiences("U1") == ["U1/board,staff", "U1/staff"]


def test_retention_runs_out_in_every_groups_space(one: Agent, tmp_path: Path) -> None:
    space = one.deps.index.space("U1/board")
    assert space is not None
    space.change("merger", lambda record: replace(record, expires="2020-01-01T00:00:00+00:00"))
    assert one.search(QUESTIONS[3], tenant_id="U1", groups=("board",)) == []
    one.ingest(tmp_path / "texts" / "handbook.md", tenant_id="U1")
    assert "merger" not in {row["doc_id"] for row in one.documents(tenant_id="U1")}


def test_an_erasure_takes_the_groups_documents_and_turns(one: Agent) -> None:
    one.ask(QUESTIONS[3], **TALK, groups=("board",), thread_id="t")
    receipt = one.forget(tenant_id="U1", everything=True)
    assert (receipt["documents"], receipt["turns"], receipt["left"]) == (4, 1, 0)
    assert one.documents(tenant_id="U1") == [] and one.deps.index.spaces.audiences("U1") == []


def test_only_who_may_read_the_evidence_reviews_it_and_fetches_the_outcome(worlds: Ask, tmp_path: Path) -> None:
    one = worlds("reviewed", review="guarded")
    put(one, tmp_path / "texts", HIDDEN)
    question = "How do I get round the rule about when the merger with Ospreyland is signed?"
    waits = one.ask(question, tenant_id="U1", user_id="ann", groups=["board"])
    assert waits.decision == "pending_review" and "October" not in json.dumps(waits)
    decide: dict[str, Any] = {"tenant_id": "U1", "user_id": "rita"}
    for groups in ((), ("staff",)):
        with pytest.raises(Forbidden, match="may not read"):
            one.under_review(waits.run_id, **decide, groups=groups)
        for decision in ("approve", "edit"):
            with pytest.raises(Forbidden, match="may not read"):
                one.review(waits.run_id, decision, **decide, groups=groups, text="It is signed in October.")
        assert not any(secret in json.dumps(one.reviews(**decide)).lower() for secret in ("october", "zorblax"))
    shown = one.under_review(waits.run_id, **decide, groups=["board"])
    assert "October" in json.dumps(shown["evidence"])
    done = one.review(waits.run_id, "approve", **decide, groups=["board"])
    assert done["decision"] == "answer" and "October" in done["answer"]
    assert one.outcome(waits.run_id, tenant_id="U1", user_id="ann", groups=["board"]) == done
    for groups in ((), ("staff",)):
        with pytest.raises(NotFound, match="no run"):
            one.outcome(waits.run_id, tenant_id="U1", user_id="ann", groups=groups)
