"""A store moved into another, both ways: everything is there, the same, and answers alike."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graph.administration.moving import move
from graph.checkpoints import MaskingSerializer
from graph.context import key_of
from graph.errors import BadInput, Unavailable
from graph.stores import Stores
from graph.stores.conversations import SHOWN
from graph.stores.embedded import Embedded
from graph.stores.keys import Key
from graph.stores.postgres import Postgres
from graph.stores.uploads import File, Job
from tests.graph.stores.test_checkpoints import ask
from tests.support.postgres import Server
from tests.support.spaces import put


def fill(stores: Stores) -> None:
    spaces, kept = stores.spaces("model"), stores.checkpoints(MaskingSerializer())
    for tenant in ("T1", "T2", "public", "T1/a,b"):
        space = spaces.space(tenant, create=True)
        assert space is not None
        for n in range(3):
            vectors = np.eye(4, dtype=np.float32)[: n + 1] * np.float32(0.1)
            put(space, f"d{n}", *[f"the valve {n} of {m}" for m in range(n + 1)], vectors=vectors, tenant_id=tenant)
        space.attach("d1", "h", "an act")
        space.keep_original("d1", space.records()[1].sha256, b"%PDF \x00" * 1_000)
        space.judge("guard", {"d2_1": "found"})
        space.remove("d0")
    for n in range(3):
        run = stores.journal.append(
            {"run_id": f"r{n}", "tenant_id": "T1", "user_id": "ann", "thread_id": "t", "timestamp": "now", "query": "é"}
        )
        reply = {**dict.fromkeys(SHOWN, ""), "run_id": run["run_id"], "timestamp": "now", "question": f"why {n}?"}
        vector = None if n else np.array([0.1, 0.7], np.float32)
        stores.conversations.add("T1", "ann", "t", reply, {"topic": n}, vector, [["a"]] * n)
        ask(kept, key_of("T1", "ann", "t"), f"why {n}?")
    stores.journal.erase(["r1"], {"receipt_id": "e", "tenant_id": "T1"})
    stores.keys.pepper()
    stores.keys.add(Key("k", "T2", "ann", "member", "now", revoked="then", groups=("a",)), b"\x00hash")
    stores.lists.change("T2", lambda _: {"entries": [{"value": "é"}]})
    stores.uploads.begin("j")
    with stores.uploads.file("j", 0) as out:
        out.write(b"x" * 3_000_000)
    stores.uploads.save(Job("j", "T1", "ann", "queued", "now", [File("a", 3_000_000)]))
    stores.rows("withheld").append({"text": "\ud800"})
    kept.close()
    spaces.close()


@pytest.fixture
def both(postgres: Server, tmp_path: Path) -> Iterator[tuple[Embedded, Postgres]]:
    name = postgres.database(like="prepared")
    one, other = Embedded(tmp_path / "home"), Postgres(postgres.url(name), connections=4, wait_s=2)
    yield one, other
    one.close()
    other.close()
    postgres.drop(name)


def found(stores: Stores, tenant: str) -> Any:
    spaces = stores.spaces("model")
    space = spaces.space(tenant)
    assert space is not None
    answer = space.find(np.eye(4, dtype=np.float32)[0], ["valve", "of"], 3)
    spaces.close()
    near = sorted((one.chunk_id, one.doc_id, round(one.cosine, 6), one.words) for one in answer.candidates)
    return answer.chunks, answer.holding, near


def test_all_of_it_is_moved_and_moved_back(both: tuple[Embedded, Postgres], tmp_path: Path) -> None:
    one, other = both
    fill(one)
    counts = move(one, other, "model")
    assert counts == {
        "documents": 8, "turns": 3, "threads": 1, "keys": 1, "lists": 1, "uploads": 1, "samples": 1, "journal": 4,
    }  # fmt: skip
    back, names = Embedded(tmp_path / "back"), ("T1", "public", "T1/a,b")
    assert move(other, back, "model") == counts
    for stores in (other, back):
        assert [found(stores, tenant) for tenant in names] == [found(one, name) for name in names]
        assert list(stores.journal.lines()) == list(one.journal.lines()) and stores.journal.prove().holds
        assert stores.journal.append({"run_id": "next", "tenant_id": "T1"})["seq"] == 5
        kept = stores.checkpoints(MaskingSerializer())
        assert ask(kept, key_of("T1", "ann", "t"), "more")["said"][0] == "why 0?"
        kept.close()
    back.close()


def test_a_store_of_which_nothing_was_asked_is_moved_too(both: tuple[Embedded, Postgres]) -> None:
    one, other = both
    assert set(move(one, other, "model").values()) == {0}
    assert other.journal.append({"run_id": "r", "tenant_id": "T1"})["seq"] == 1


def test_what_is_not_empty_is_left_alone(both: tuple[Embedded, Postgres]) -> None:
    one, other = both
    fill(one)
    other.journal.append({"run_id": "r", "tenant_id": "T1"})
    with pytest.raises(BadInput, match="something already"):
        move(one, other, "model")
    assert len(list(other.journal.lines())) == 1


def test_what_comes_out_otherwise_is_told(both: tuple[Embedded, Postgres], monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = both
    fill(one)
    add = type(other.conversations).add

    def less(self: Any, tenant: str, user: str, thread: str, shown: Any, gist: Any, *more: Any) -> None:
        add(self, tenant, user, thread, shown, gist, None)

    monkeypatch.setattr(type(other.conversations), "add", less)
    with pytest.raises(Unavailable, match="the turns came out"):
        move(one, other, "model")


def test_a_journal_that_does_not_hold_is_not_taken(both: tuple[Embedded, Postgres]) -> None:
    one, other = both
    fill(one)
    lines = list(one.journal.lines())
    for wrong in ([lines[0], lines[2]], [lines[0].replace(b"r0", b"r9")]):
        for journal in (other.journal, Embedded(one.journal.path.parents[1] / "new").journal):
            with pytest.raises(BadInput, match="do not hold"):
                journal.begin(wrong)
            assert list(journal.lines()) == []
