"""The ranking works on any store: it asks a space what it finds, and for nothing else."""

from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from graph.context import ReadScope
from graph.knowledge.index import CANDIDATES, Index
from graph.stores.spaces import ChunkCandidate, SpaceHits


class Told:
    """A space that gives one answer."""

    def __init__(self, found: SpaceHits) -> None:
        self.found, self.asked = found, []  # type: ignore[var-annotated]

    def empty(self) -> bool:
        return not self.found.chunks

    def reading(self) -> Any:
        return nullcontext()

    def find(self, *asked: Any) -> SpaceHits:
        self.asked.append(asked[1:])
        return self.found


class Embedder:
    name, query_prefix = "e", ""

    def embed(self, texts: Any) -> np.ndarray:
        return np.ones((len(texts), 2), np.float32)


class Spaces(dict[str, Told]):
    def reading(self) -> Any:
        return nullcontext()

    def space(self, tenant: str, *, create: bool = False) -> Told | None:
        return self.get(tenant)


def near(chunk_id: str, cosine: float, *words: str) -> ChunkCandidate:
    return ChunkCandidate(chunk_id, chunk_id[0], cosine, frozenset(words))


def test_two_spaces_are_ranked_as_one_by_cosine_and_the_rarity_of_words_in_both() -> None:
    own = Told(SpaceHits(10, {"ibis": 1, "valve": 5}, [near("a_0", 0.5, "valve"), near("a_1", 0.5, "ibis")]))
    public = Told(SpaceHits(90, {"ibis": 0, "valve": 60}, [near("b_0", 0.5, "valve"), near("b_1", 0.9)]))
    index = Index(Spaces(U1=own, public=public), Embedder())  # type: ignore[arg-type]
    hits = index.search(ReadScope("U1"), "the ibis valve", 9, documents=["x"])
    assert [(hit.where, hit.chunk_id) for hit in hits] == [
        ("private", "a_1"), ("public", "b_1"), ("private", "a_0"), ("public", "b_0"),
    ]  # fmt: skip
    rarity = {"ibis": np.log(1 + 99.5 / 1.5), "valve": np.log(1 + 35.5 / 65.5)}
    assert hits[0].coverage == pytest.approx(rarity["ibis"] / sum(rarity.values()), abs=1e-6)
    assert hits[0].score == pytest.approx((0.5 + hits[0].coverage / 2) / 1.5, abs=1e-6)
    assert own.asked == public.asked == [(["ibis", "valve"], CANDIDATES, ["x"])]
    assert [hit.chunk_id for hit in index.search(ReadScope("U1"), "the ibis valve", 1)] == ["a_1"]


def test_an_empty_space_changes_nothing_and_two_ask_for_no_embedding() -> None:
    empty = Told(SpaceHits(0, {"ibis": 0}, []))
    one = Told(SpaceHits(3, {"ibis": 1}, [near("a_0", -0.5, "ibis")]))
    alone, both = (Index(Spaces(spaces), Embedder()) for spaces in ({"U1": one}, {"U1": one, "public": empty}))  # type: ignore[arg-type]
    assert (
        alone.search(ReadScope("U1"), "ibis", 9) == both.search(ReadScope("U1"), "ibis", 9)
        and alone.search(ReadScope("U1"), "ibis", 9)[0].score > 0
    )
    nothing = Index(Spaces(U1=empty), None)  # type: ignore[arg-type]
    assert nothing.search(ReadScope("U1"), "ibis", 9) == nothing.search(ReadScope("U2"), "ibis", 9) == []
