"""One service for all tests of the doors: two tenants, a key of every role, the embedded model, limits out of the way."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from evals.serving import WIDE, Served, serving, small_home
from graph.settings import load
from tests.support.once import once


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small indexed home, closed: copy it, do not open it."""
    return once(tmp_path_factory, "small", small_home) / "home"


@pytest.fixture(scope="session")
def served(
    small: Path, tmp_path_factory: pytest.TempPathFactory, database_of: Callable[[Path], dict[str, Any]]
) -> Iterator[Served]:
    import shutil

    base = tmp_path_factory.mktemp("served")
    shutil.copytree(small, base / "home")
    known = {"artifacts": False, "max_upload_mb": 3, "max_file_mb": 2, **WIDE, **database_of(base / "home")}
    settings = load(environ={}, home=base / "home", out=base / "out", **known)
    with serving(settings) as running:
        yield running


@pytest.fixture
def another(small: Path, tmp_path: Path, database_of: Callable[[Path], dict[str, Any]]) -> Callable[..., Any]:
    """`with another(key_rate=5) as served`: a service of this test's own."""
    import shutil

    shutil.copytree(small, tmp_path / "home")

    def make(chat: Any = None, **values: Any) -> Any:
        known = {"home": tmp_path / "home", "out": tmp_path / "out", "artifacts": False, **WIDE}
        known |= {**database_of(tmp_path / "home"), **values}
        return serving(load(environ={}, **known), chat=chat)

    return make


@pytest.fixture
def u1(served: Served) -> Iterator[httpx.Client]:
    with served.client("U1", "admin") as client:
        yield client


@pytest.fixture
def u2(served: Served) -> Iterator[httpx.Client]:
    with served.client("U2", "admin") as client:
        yield client
