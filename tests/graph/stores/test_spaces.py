"""What every store of documents promises."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from graph.errors import IndexUnavailable
from graph.stores import Stores
from graph.stores.spaces import Passage, Space, Spaces, StoredAttachment
from tests.support.spaces import put

DIRECTIONS = np.eye(4, dtype=np.float32)


@pytest.fixture
def spaces(stores: Stores) -> Iterator[Spaces]:
    made = stores.spaces("model")
    yield made
    made.close()


@pytest.fixture
def space(spaces: Spaces) -> Space:
    made = spaces.space("T1", create=True)
    assert made is not None
    return made


def found(
    space: Space, *words: str, toward: int = 0, limit: int = 9, documents: tuple[str, ...] = ()
) -> dict[str, float]:
    answer = space.find(DIRECTIONS[toward], words, limit, documents)
    return {near.chunk_id: near.cosine for near in answer.candidates}


# -- which space ----------------------------------------------------------------------------------------------------


def test_a_space_is_there_when_it_was_made_and_says_whose_it_is(spaces: Spaces, space: Space) -> None:
    assert spaces.space("T2") is None and spaces.space("t1") is None
    public = spaces.space("public", create=True)
    assert public is not None and (space.name, public.name) == ("T1", "public")
    assert spaces.space("T1") is space and spaces.space("T1", create=True) is space
    assert sorted(spaces.names()) == ["T1", "public"]


def test_two_spaces_do_not_meet(spaces: Spaces, space: Space) -> None:
    other = spaces.space("T2", create=True)
    assert other is not None
    put(space, "d", "the ibis valve", vectors=DIRECTIONS[:1])
    before = space.find(DIRECTIONS[0], ["ibis"], 9)
    for n in range(20):
        put(other, f"e{n}", "the ibis gauge", vectors=DIRECTIONS[:1])
    assert space.find(DIRECTIONS[0], ["ibis"], 9) == before and space.counts(["ibi"]) == {"ibi": 1}
    assert space.record("e1") is None and space.chunk("e1_0") is None and not space.remove("e1")


def test_what_groups_share_lies_apart_and_is_listed_by_its_tenant_alone(spaces: Spaces, space: Space) -> None:
    shared = {name: spaces.space(name, create=True) for name in ("T1/b", "T1/a,b", "T10/a", "T2/b")}
    assert spaces.audiences("T1") == ["T1/a,b", "T1/b"] and spaces.audiences("T10") == ["T10/a"]
    assert spaces.audiences("T") == spaces.audiences("T3") == spaces.audiences("public") == []
    assert sorted(spaces.names()) == ["T1", "T1/a,b", "T1/b", "T10/a", "T2/b"]
    put(space, "d", "the ibis valve", vectors=DIRECTIONS[:1])
    before = space.find(DIRECTIONS[0], ["ibis"], 9)
    for name, other in shared.items():
        assert other is not None and other.name == name
        put(other, "d", "the ibis gauge", vectors=DIRECTIONS[:1], groups=["b"])
        assert other.passages(["d_0"])["d_0"].owner == name
    assert space.find(DIRECTIONS[0], ["ibis"], 9) == before and space.counts(["gaug"]) == {}
    spaces.drop("T1/b", if_empty=True)
    assert spaces.audiences("T1") == ["T1/a,b", "T1/b"]
    assert shared["T1/b"] is not None and shared["T1/b"].remove("d")
    spaces.drop("T1/b", if_empty=True)
    assert spaces.audiences("T1") == ["T1/a,b"] and spaces.space("T1/b") is None and space.count() == (1, 1)
    assert (found := spaces.space("T1/a,b")) is not None and (kept := found.record("d")) and kept.groups == ["b"]


def test_what_was_dropped_is_as_if_it_had_never_been(spaces: Spaces, space: Space) -> None:
    other = spaces.space("T2", create=True)
    assert other is not None
    for one in (space, other):
        put(one, "d", "the ibis valve")
    spaces.drop("T1")
    spaces.drop("never")
    assert spaces.space("T1") is None and spaces.names() == ["T2"] and other.count() == (1, 1)
    again = spaces.space("T1", create=True)
    assert again is not None and again.empty()


def test_vectors_of_two_models_do_not_mix(stores: Stores, spaces: Spaces, space: Space) -> None:
    other = stores.spaces("another model")
    with pytest.raises(IndexUnavailable, match="'model', not 'another model'"):
        other.space("T1")
    other.close()


def test_what_was_closed_is_there_again(spaces: Spaces, space: Space) -> None:
    put(space, "d", "the ibis valve")
    spaces.close()
    again = spaces.space("T1")
    assert again is not None and again.count() == (1, 1)


# -- documents ------------------------------------------------------------------------------------------------------


def test_a_document_is_kept_whole(space: Space) -> None:
    assert space.empty() and space.count() == (0, 0)
    record = put(space, "d", "the ibis ", "valve opens", title="Valves", sha256="h")
    assert space.record("d") == record and space.text("d") == "the ibis valve opens" and space.by_hash("h") == [record]
    assert [(c.chunk_id, c.start, c.end) for c in space.chunks("d")] == [("d_0", 0, 9), ("d_1", 9, 20)]
    assert space.chunk("d_1") == space.chunks("d")[1] and space.opening("d") == "d_0"
    both = space.passages(["d_1", "x", "d_0"])
    assert both == {
        "d_0": Passage(record, space.chunks("d")[0], "the ibis ", "T1", ""),
        "d_1": Passage(record, space.chunks("d")[1], "valve opens", "T1", ""),
    }
    assert space.count() == (1, 2) and not space.empty()
    assert (space.record("x"), space.text("x"), space.chunk("x"), space.passages(["x"])) == (None, "", None, {})
    assert (space.opening("x"), space.chunks("x"), space.by_hash("x"), space.passages([])) == ("", [], [], {})


def test_an_id_with_a_nul_is_unknown(space: Space) -> None:
    put(space, "d", "the ibis valve")
    for name in ("\0", "d\0", "d\0_0"):
        assert (space.record(name), space.text(name), [*space.passages([name, "d_0"])]) == (None, "", ["d_0"])
        assert not space.remove(name)


def test_documents_come_by_id_and_go_by_what_people_call_them(space: Space) -> None:
    for name in ("b", "a"):
        put(space, name, "text", title=f"The {name} policy")
    assert [record.doc_id for record in space.records()] == ["a", "b"]
    assert [doc_id for doc_id, name in space.document_names() if name.holds(["b"]) == 1] == ["b"]
    space.remove("b")
    assert [doc_id for doc_id, _ in space.document_names()] == ["a"]


def test_a_document_put_again_takes_the_place_of_the_one_before_but_for_its_decisions(space: Space) -> None:
    put(space, "d", "the ibis valve", "the tern sensor")
    said = {"sha256": "s", "says": "released", "by": "ann", "at": "now"}
    space.change("d", lambda held: replace(held, decisions=[said]))
    space.change("never", lambda held: replace(held, decisions=[said]))
    put(space, "d", "the gull gauge")
    record = space.record("d")
    assert record is not None and record.decisions == [said] and record.released == {"s"}
    assert space.count() == (1, 1) and space.present(["ibis", "gull"]) == {"gull"}


def test_a_removed_document_is_nowhere(space: Space) -> None:
    put(space, "d", "the ibis valve")
    put(space, "e", "the tern sensor")
    space.attach("d", "h", "graph")
    assert space.remove("d") and not space.remove("d")
    assert space.count() == (1, 1) and space.attachments() == [] and space.attachment("d") == ""
    assert not space.present(["ibis"]) and found(space, "ibis").keys() == {"e_0"}


def test_an_attachment_goes_with_its_document_and_is_replaced(space: Space) -> None:
    assert space.attachments() == [] and space.attachment("d") == ""
    for name in ("e", "d"):
        put(space, name, "text")
        space.attach(name, "h", name * 3)
    space.attach("d", "h2", "longer")
    assert (
        space.attachments() == [StoredAttachment("d", "h2", 6), StoredAttachment("e", "h", 3)]
        and space.attachment("d") == "longer"
    )
    put(space, "d", "another text")
    assert space.attachments() == [StoredAttachment("e", "h", 3)]


def test_an_original_goes_with_its_document_and_with_the_next_version_of_it(space: Space) -> None:
    assert not space.has_original("d") and space.original("d") == b""
    for name in ("d", "e"):
        record = put(space, name, f"text of {name}")
        space.keep_original(name, record.sha256, name.encode() + b"\x00" * 70_000)
    space.keep_original("d", "the hash of another file", b"never")
    space.keep_original("f", "of no document", b"never")
    assert space.original("d") == b"d" + b"\x00" * 70_000 and not space.has_original("f")
    put(space, "d", "another text")
    assert not space.has_original("d") and space.has_original("e")
    assert space.remove("e") and space.original("e") == b""


def test_a_write_that_fails_leaves_everything_as_it_was(space: Space) -> None:
    put(space, "d", "the ibis valve")
    with pytest.raises(ValueError, match="argument"):
        put(space, "d", "the tern", "sensor", vectors=DIRECTIONS[:1])  # a vector is missing
    assert space.text("d") == "the ibis valve" and space.count() == (1, 1) and not space.present(["tern"])
    put(space, "e", "the gull gauge")  # no lock is left


def test_a_reader_sees_one_moment(stores: Stores, spaces: Spaces, space: Space) -> None:
    put(space, "d", "the ibis valve")
    elsewhere = stores.spaces("model")  # as another process has it
    there = elsewhere.space("T1")
    assert there is not None
    with there.reading():
        assert there.count() == (1, 1)
        put(space, "e", "the tern sensor")
        assert there.count() == (1, 1) and there.find(DIRECTIONS[0], ["the"], 9).holding == {"the": 1}
    assert there.count() == (2, 2) and there.find(DIRECTIONS[0], ["the"], 9).holding == {"the": 2}
    elsewhere.close()


def test_threads_read_and_write_the_same_space(space: Space) -> None:
    wrong: list[object] = []

    def work(seed: int) -> None:
        try:
            for n in range(5):
                put(space, f"d{seed}-{n}", f"word{seed} valve")
                if not space.present([f"word{seed}"]) or space.find(DIRECTIONS[0], ["valve"], 3).chunks < n + 1:
                    wrong.append((seed, n))
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and space.count() == (20, 20)


# -- search ---------------------------------------------------------------------------------------------------------


def test_candidates_are_the_nearest_and_those_with_the_words(space: Space) -> None:
    put(space, "a", "the ibis valve", vectors=DIRECTIONS[:1])
    put(space, "b", "the valves of the tern", vectors=DIRECTIONS[1:2])
    put(space, "c", "something else", vectors=DIRECTIONS[2:3])
    assert found(space, toward=0, limit=1) == {"a_0": 1.0}
    assert found(space, "tern", toward=0, limit=1) == {"a_0": 1.0, "b_0": 0.0}
    answer = space.find(DIRECTIONS[0], ["valve", "tern", "never"], 9)
    assert (answer.chunks, answer.holding) == (3, {"valve": 2, "tern": 1, "never": 0})
    assert {near.chunk_id: set(near.words) for near in answer.candidates} == {
        "a_0": {"valve"}, "b_0": {"valve", "tern"}, "c_0": set(),
    }  # fmt: skip


def test_with_documents_every_chunk_of_these_is_a_candidate(space: Space) -> None:
    put(space, "a", *["same "] * 5, vectors=DIRECTIONS[[0] * 5])
    put(space, "b", "one", "two", vectors=DIRECTIONS[[1, 2]])
    assert found(space, "same", toward=0, limit=1, documents=("b", "never")) == {"b_0": 0.0, "b_1": 0.0}


def test_an_empty_space_answers(space: Space) -> None:
    answer = space.find(DIRECTIONS[0], ["valve"], 9)
    assert (answer.chunks, answer.holding, answer.candidates) == (0, {"valve": 0}, [])


def test_words_that_are_no_words_to_the_index_are_taken_as_they_stand(space: Space) -> None:
    put(space, "a", 'say "ibis OR" valve*')
    for word in ('"', "OR", "ibis*", "a NEAR b", "(", "x\x00y", "-", "ibis: valve"):
        space.find(DIRECTIONS[0], [word], 9)
        space.present([word])


def test_a_vector_of_another_length_is_told(space: Space) -> None:
    put(space, "a", "text")
    for documents in ((), ("a",)):
        with pytest.raises(IndexUnavailable, match="another length"):
            space.find(np.ones(3, np.float32), [], 9, documents)


# -- words ----------------------------------------------------------------------------------------------------------


def test_words_are_known_by_their_stems(space: Space) -> None:
    put(space, "a", "the valves are opened", "a valve (VLV) opens")
    put(space, "b", "vault of the ibis", expires="2020-01-01")
    assert space.present(["valve", "tern", "opening"]) == {"valve", "opening"} and space.present([]) == set()
    assert space.stemmed(["valves", "opened", "ibis"]) == ["valv", "open", "ibi"] and space.stemmed([]) == []
    assert sorted(space.stems("va", 2, 4)) == [("valv", 2)] and dict(space.stems("va", 2, 5))["vault"] == 1
    assert space.counts(["valv", "open", "tern"]) == {"valv": 2, "open": 2} and space.counts([]) == {}
    assert space.holding("vault", 5) == [("2020-01-01", "vault of the ibis")] and len(space.holding("valv", 1)) == 1
    assert space.matching(["valve", "tern"], 5, "(VLV)") == [[("", "a valve (VLV) opens")], []]
    opened, ibis, never = space.matching(["opened", "ibis", "tern"], 5)
    assert [text for _, text in opened] == ["the valves are opened", "a valve (VLV) opens"]
    assert (ibis, never) == ([("2020-01-01", "vault of the ibis")], []) and space.matching([], 5) == []
    assert space.matching(["valve vlv"], 1) == [[("", "a valve (VLV) opens")]]
    assert space.beside("valv", ["vlv", "tern"]) == 1 and space.beside("valv", []) == 0


# -- what the guard found -------------------------------------------------------------------------------------------


def judged(space: Space, chunk_id: str, by: str) -> str:
    found = space.passages([chunk_id], by).get(chunk_id)
    return found.judged if found else ""


def test_what_a_guard_found_is_kept_under_its_name_until_the_chunk_goes(space: Space) -> None:
    assert judged(space, "d_0", "guard") == ""
    put(space, "d", "the ibis valve", "the ibis gauge")
    assert judged(space, "d_0", "guard") == ""
    space.judge("guard", {"d_0": "one", "d_1": "two", "gone_0": "three"})
    assert [judged(space, chunk, "guard") for chunk in ("d_0", "d_1", "gone_0")] == ["one", "two", ""]
    assert judged(space, "d_0", "a later guard") == ""
    space.judge("a later guard", {"d_0": "four"})
    assert (judged(space, "d_0", "guard"), judged(space, "d_0", "a later guard")) == ("", "four")
    put(space, "d", "the ibis flap", "the ibis gauge")
    assert judged(space, "d_0", "a later guard") == judged(space, "d_1", "guard") == ""
