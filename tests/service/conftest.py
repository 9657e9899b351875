"""Cordon's command line over a home of the file's own: as a process, or inside this one."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Run, cordon


@pytest.fixture(scope="module")
def base(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for the questions of this file; what changes documents takes a copy of its own."""
    return Path(shutil.copytree(pristine, tmp_path_factory.mktemp("cli") / "home"))


@pytest.fixture
def run(base: Path, database_of: Callable[[Path], dict[str, Any]]) -> Run:
    return lambda *arguments, **kw: cordon(*arguments, **{"home": base, **database_of(kw.get("home", base)), **kw})


@pytest.fixture
def inside(request: pytest.FixtureRequest, inside: Run) -> Run:
    """As `run`, but in this process: for what would otherwise spend its time on starting Python."""
    return lambda *arguments, **kw: inside(
        *arguments, **(kw if "home" in kw else {"home": request.getfixturevalue("base"), **kw})
    )
