"""What every store of conversations promises."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from graph.stores import Stores
from graph.stores.conversations import SHOWN, Conversations


@pytest.fixture
def kept(stores: Stores) -> Iterator[Conversations]:
    yield stores.conversations
    stores.close()


def say(
    kept: Conversations, run: str, who: str = "T1/ann/t", vector: Any = None, audiences: Any = (), **known: Any
) -> None:
    reply = {**dict.fromkeys(SHOWN, ""), "run_id": run, "timestamp": f"2026-01-01T00:00:{run[1:]}Z", "usage": {}}
    tenant, user, thread = who.split("/")
    pointing = None if vector is None else np.array(vector, np.float32)
    kept.add(
        tenant, user, thread, {**reply, "question": f"question {run}", **known}, {"topic": run}, pointing, audiences
    )


def test_a_thread_has_its_turns_in_order_and_of_a_reply_what_is_shown(kept: Conversations) -> None:
    say(kept, "r01")
    say(kept, "r02", understood={"text": "…"})
    turns = kept.turns("T1", "ann", "t")
    assert [turn["run_id"] for turn in turns] == ["r01", "r02"] and turns[1]["understood"] == {"text": "…"}
    assert all(turn.keys() == set(SHOWN) for turn in turns)


def test_threads_come_the_latest_first_with_the_first_question_as_title(kept: Conversations) -> None:
    say(kept, "r01", question="What  is\nthis? " + "word " * 40)
    say(kept, "r02", "T1/ann/other")
    say(kept, "r03")
    one, two = kept.threads("T1", "ann")
    assert (one["thread_id"], one["turns"], two["thread_id"]) == ("t", 2, "other")
    assert (one["created"], one["updated"]) == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:03Z")
    assert one["title"].startswith("What is this? word") and one["title"].endswith("…") and len(one["title"]) <= 80


@pytest.mark.parametrize("other", ["T1/bob/t", "T2/ann/t", "T10/ann/t", "t1/ann/t", "T1/Ann/t", "T1/an/t"])
def test_another_user_or_tenant_sees_and_erases_nothing(kept: Conversations, other: str) -> None:
    say(kept, "r01", vector=[1, 0])
    tenant, user, thread = other.split("/")
    assert kept.threads(tenant, user) == kept.turns(tenant, user, thread) == []
    assert kept.search(tenant, user, np.array([1, 0], np.float32), 5) == [] and not kept.any(tenant, user)
    assert kept.forget(tenant, user=user) == kept.forget(tenant, user=user, thread=thread) == 0
    assert len(kept.turns("T1", "ann", "t")) == 1


def test_answered_turns_are_found_by_meaning_nearest_first(kept: Conversations) -> None:
    for run, vector in (("r01", [0, 1]), ("r02", [1, 0]), ("r03", [0.6, 0.8]), ("r04", None), ("r05", [1, 0, 0])):
        say(kept, run, f"T1/ann/{run}", vector)
    found = kept.search("T1", "ann", np.array([1, 0], np.float32), 2)
    assert [(one.run_id, one.thread_id, one.turn["topic"]) for one in found] == [
        ("r02", "r02", "r02"),
        ("r03", "r03", "r03"),
    ]
    assert found[0].score == 1 and found[1].score == pytest.approx(0.6)
    assert kept.any("T1", "ann")


def test_a_turn_of_groups_is_there_for_who_is_in_one_of_each(kept: Conversations) -> None:
    for run, audiences in (("r01", [["a", "b"], ["c"]]), ("r02", [["a"]]), ("r03", [])):
        say(kept, run, vector=[1, 0], audiences=audiences)
    for groups, runs in (
        ((), ["r03"]),
        (("b", "c"), ["r01", "r03"]),
        (("a",), ["r02", "r03"]),
        (("a", "c"), ["r01", "r02", "r03"]),
    ):
        assert [turn["run_id"] for turn in kept.turns("T1", "ann", "t", groups)] == runs
        (thread,) = kept.threads("T1", "ann", groups)
        assert (thread["turns"], thread["title"], thread["created"][-3:-1]) == (
            len(runs),
            f"question {runs[0]}",
            runs[0][1:],
        )
        found = kept.search("T1", "ann", np.array([1, 0], np.float32), 1, groups)
        assert [one.run_id for one in found] == runs[:1]
    say(kept, "r04", "T1/bob/t", [1, 0], [["a"]])
    assert kept.threads("T1", "bob") == kept.threads("T1", "bob", ["b"]) == []
    assert not kept.any("T1", "bob", ["b"]) and kept.any("T1", "bob", ["a"])
    assert [list(map(list, turn.audiences)) for turn in kept.all("T1")] == [[["a", "b"], ["c"]], [["a"]], [], [["a"]]]
    assert kept.forget("T1", user="bob") == 1


def test_a_refused_turn_alone_is_nothing_to_recall(kept: Conversations) -> None:
    say(kept, "r01")
    assert not kept.any("T1", "ann") and kept.search("T1", "ann", np.ones(2, np.float32), 5) == []


def test_a_run_that_is_kept_again_is_kept_once(kept: Conversations) -> None:
    say(kept, "r01")
    say(kept, "r01", answer="again")
    assert [turn["answer"] for turn in kept.turns("T1", "ann", "t")] == ["again"]


def test_what_is_named_is_forgotten_and_nothing_else(kept: Conversations) -> None:
    for n, who in enumerate(["T1/ann/t", "T1/ann/t", "T1/ann/u", "T1/bob/t", "T2/ann/t"]):
        say(kept, f"r0{n}", who)
    assert kept.forget("T1", run_ids=[]) == 0 and kept.forget("T2", run_ids=["r00"]) == 0
    assert kept.forget("T1", run_ids=["r00", *[f"none-{n}" for n in range(1_500)]]) == 1
    assert kept.forget("T1", user="ann", thread="t") == 1 and kept.forget("T1", user="ann") == 1
    assert len(kept.turns("T1", "bob", "t")) == 1
    assert kept.forget("T1") == 1 and kept.threads("T1", "bob") == []
    assert len(kept.turns("T2", "ann", "t")) == 1


def test_what_was_closed_is_there_again(kept: Conversations) -> None:
    say(kept, "r01")
    kept.close()
    assert len(kept.turns("T1", "ann", "t")) == 1
    kept.close()


def test_a_thread_has_the_title_that_its_user_gave_it_until_it_is_taken_back(kept: Conversations) -> None:
    say(kept, "r01")
    say(kept, "r02", "T1/bob/t")
    assert kept.rename("T1", "ann", "t", "Freezers") and not kept.rename("T1", "ann", "other", "Freezers")
    say(kept, "r03")  # a later turn, which has no name of its own
    assert [row["title"] for row in kept.threads("T1", "ann")] == ["Freezers"]
    assert [row["title"] for row in kept.threads("T1", "bob")] == ["question r02"]
    assert {turn.name for turn in kept.all("T1") if turn.user == "ann"} == {"Freezers", ""}
    assert kept.rename("T1", "ann", "t", "")
    assert [row["title"] for row in kept.threads("T1", "ann")] == ["question r01"]


def test_threads_are_found_by_words_of_one_of_their_turns(kept: Conversations) -> None:
    say(kept, "r01", question="Where is the KÄLTE cell?", answer="In room 114.")
    say(kept, "r02", "T1/ann/other", question="Who signs?", answer="The head.")
    say(kept, "r03", "T1/bob/t", question="Where is room 114?")
    kept.rename("T1", "ann", "other", "Travel 100% requests")

    def found(*words: str) -> list[str]:
        return [row["thread_id"] for row in kept.threads("T1", "ann", words=words)]

    assert found("kälte", "114") == found("Room") == ["t"]
    assert found("travel", "100%") == ["other"] and found("signs", "114") == found("%x") == []
    assert [row["turns"] for row in kept.threads("T1", "ann", words=["who"])] == [1]


def test_a_turn_for_other_groups_neither_finds_nor_names_a_thread(kept: Conversations) -> None:
    say(kept, "r01", question="secret plan", audiences=[["board"]])
    assert kept.threads("T1", "ann", (), ["secret"]) == [] and not kept.rename("T1", "ann", "t", "Mine")
    assert kept.rename("T1", "ann", "t", "Mine", ["board"])
    assert [row["title"] for row in kept.threads("T1", "ann", ["board"], ["SECRET"])] == ["Mine"]
