"""A space that is large enough for an index of its vectors, and words that stand in a row."""

from collections.abc import Iterator

import numpy as np
import pytest

from graph.errors import IndexUnavailable
from graph.stores.embedded import Embedded
from graph.stores.postgres.database import Database
from graph.stores.postgres.spaces import PostgresSpaces
from graph.stores.spaces import Space
from tests.support.postgres import Server
from tests.support.spaces import directions, put


@pytest.fixture
def database(postgres: Server) -> Iterator[Database]:
    name = postgres.database(like="prepared")
    made = Database(postgres.url(name), 4, 2)
    yield made
    made.close()
    postgres.drop(name)


def best(space: Space, vector: np.ndarray) -> list[str]:
    found = space.find(vector, [], 10).candidates
    return [one.chunk_id for one in sorted(found, key=lambda one: -one.cosine)]


def test_a_large_space_gets_an_index_and_finds_the_same(database: Database) -> None:
    spaces = PostgresSpaces(database, "model", exact=1_000)
    vectors = directions(2_000, 64)
    other = spaces.space("T2", create=True)
    space = spaces.space("T1", create=True)
    assert space is not None and other is not None
    for first in range(0, 2_000, 200):
        chosen = vectors[first : first + 200]
        put(space, f"d{first}", *[f"chunk {n} " for n in range(first, first + 200)], vectors=chosen)
    put(other, "near", "chunk", vectors=vectors[:1])  # as near as can be, and another tenant's
    with spaces.reading():
        with spaces.asking("T1") as cursor:  # as a planner takes it that has no statistics of a large space
            cursor.execute("SET LOCAL enable_nestloop = off")
        assert len(space.find(vectors[0], [], 10).candidates) == 10
        with spaces.asking("T1") as cursor:
            sql = (
                "SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_user_tables WHERE relname LIKE 'vectors_%'"
            )
            assert cursor.execute(sql).fetchall() == [(2_010,)]  # all of them once, those that were found again
    before = [best(space, vectors[n]) for n in range(50)]
    for tenant in ("T1", "T2"):
        spaces.sync(tenant)
    shared = [len(set(a) & set(best(space, vectors[n]))) for n, a in enumerate(before)]
    assert np.mean(shared) >= 9.8 and all(best(space, vectors[n])[0] == before[n][0] for n in range(50))
    with database.transaction("T1") as cursor:
        assert cursor.execute("SELECT indexed FROM spaces WHERE tenant = 'T1'").fetchall() == [(True,)]
        cursor.execute("SET LOCAL enable_seqscan = off")  # of so few small ones all are read sooner
        near = f"embedding::halfvec(64) <#> '{vectors[0].tolist()}'::halfvec(64)"
        plan = cursor.execute(f"EXPLAIN SELECT id FROM vectors WHERE tenant = 'T1' ORDER BY {near} LIMIT 20").fetchall()
    assert "near" in str(plan) and "Seq Scan" not in str(plan)
    put(space, "late", "chunk", vectors=-vectors[:1])
    assert best(space, -vectors[0])[0] == "late_0"  # what comes later is in the index, too
    space.remove("late")
    assert best(space, -vectors[0])[0] != "late_0"
    with pytest.raises(IndexUnavailable, match="another length"):
        put(space, "wide", "chunk", vectors=directions(1, 32))


@pytest.mark.parametrize("words", [["ibis-valve"], ["ibis", "valve"], ["o'clock", "the"], ["ibis-valve", "ibis"]])
def test_words_score_as_in_the_embedded_store(database: Database, embedded: Embedded, words: list[str]) -> None:
    texts = ["the ibis valve opens", "valve of the ibis", "ibis-valve ibis valve ibis valve", "at ten o'clock", "the"]
    both = (PostgresSpaces(database, "model"), embedded.spaces("model"))
    found = []
    for spaces in both:
        space = spaces.space("T1", create=True)
        assert space is not None
        for n, text in enumerate(texts * 4):
            put(space, f"d{n:02}", text)
        for n in (3, 7, 16):
            space.remove(f"d{n:02}")
        put(space, "d02", "the ibis, another valve")
        answer = space.find(np.ones(4, np.float32) / 2, words, 3)
        found.append((answer.chunks, answer.holding, sorted((c.chunk_id, c.words) for c in answer.candidates)))
        spaces.close()
    assert found[0] == found[1]


@pytest.fixture
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embedded]:
    made = Embedded(tmp_path_factory.mktemp("embedded") / "home")
    yield made
    made.close()


def test_connections_that_ended_in_the_pool_are_not_used(database: Database, postgres: Server) -> None:
    def all_at_once() -> list[int]:
        """Every connection of the pool, in a transaction of its own."""
        with database.transaction("T1") as a, database.transaction("T1") as b, database.transaction("T1") as c:
            return [pid for one in (a, b, c) for (pid,) in one.execute("SELECT pg_backend_pid()").fetchall()]

    before = all_at_once()
    with postgres.admin() as admin:
        admin.execute("SELECT pg_terminate_backend(pid, 5000) FROM unnest(%s::integer[]) AS pid", [before])
    assert not set(all_at_once()) & set(before)


def test_one_reading_sees_of_each_space_its_own(database: Database) -> None:
    spaces = PostgresSpaces(database, "model")
    for name in ("T1", "T2"):
        space = spaces.space(name, create=True)
        assert space is not None
        put(space, "d", f"the secret of {name}", tenant_id=name)
    one, other = spaces.space("T1"), spaces.space("T2")
    assert one is not None and other is not None
    with spaces.reading():
        for _ in range(2):  # the second time from what the reading knows, if anything
            assert [space.passages(["d_0"])["d_0"].text for space in (one, other)] == [
                "the secret of T1",
                "the secret of T2",
            ]
            assert one.present(["T1", "T2", "secret"]) == {"T1", "secret"} and other.present(["T1", "T2"]) == {"T2"}
            assert [space.count() for space in (one, other)] == [(1, 1), (1, 1)]
        put(one, "e", "the ibis", tenant_id="T1")
        assert not one.present(["ibis"]) and one.count() == (1, 1)
    with spaces.reading():
        assert one.present(["ibis"]) and not other.present(["ibis"]) and one.count() == (2, 2)
