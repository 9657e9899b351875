"""Each store, for the suites that hold it to its protocol. Another store is one more line here."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graph.stores import Stores
from graph.stores.embedded import Embedded
from graph.stores.embedded.chroma import Chroma
from graph.stores.embedded.exact import Exact
from graph.stores.vectors import Vectors

STORES: dict[str, Callable[[Path], Stores]] = {"embedded": lambda base: Embedded(base / "home")}
VECTORS: dict[str, Callable[[Path], Vectors]] = {
    "exact": lambda base: Exact(),
    "chroma": lambda base: Chroma(base / "chroma", above=10),
}


@pytest.fixture(params=STORES)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Stores:
    return STORES[request.param](tmp_path)


@pytest.fixture(params=VECTORS)
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Vectors]:
    made = VECTORS[request.param](tmp_path)
    yield made
    made.close()
