"""Each store, for the suites that hold it to its protocol. Another store is one more line here."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from graph.stores import Stores
from graph.stores.embedded import Embedded
from graph.stores.embedded.chroma import Chroma
from graph.stores.embedded.exact import Exact
from graph.stores.vectors import Vectors
from tests.support.postgres import Server

Another = Callable[[str], Stores]
STORES = ("embedded", "postgres")
VECTORS: dict[str, Callable[[Path, str], Vectors]] = {
    "exact": lambda base, url: Exact(),
    "chroma": lambda base, url: Chroma(base / "chroma"),
    "chroma server": lambda base, url: Chroma(base / "chroma", url),
}


@pytest.fixture(params=STORES)
def another(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Another]:
    """A store of that name: the same name is the same store, as another process sees it."""
    with ExitStack() as done:
        if request.param == "embedded":

            def make(name: str) -> Stores:
                opened = Embedded(tmp_path / name)
                done.callback(opened.close)
                return opened
        else:
            server: Server = request.getfixturevalue("postgres")
            made: dict[str, str] = {}

            def make(name: str) -> Stores:
                from graph.stores.postgres import Postgres

                if name not in made:
                    made[name] = server.database(like="prepared")
                    done.callback(server.drop, made[name])
                opened = Postgres(server.url(made[name]), connections=6, wait_s=2)
                done.callback(opened.close)
                return opened

        yield make


@pytest.fixture
def stores(another: Another) -> Stores:
    return another("home")


@pytest.fixture(params=VECTORS)
def vectors(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Vectors]:
    url = request.getfixturevalue("chroma_url") if request.param == "chroma server" else ""
    made = VECTORS[request.param](tmp_path, url)
    yield made
    made.close()
