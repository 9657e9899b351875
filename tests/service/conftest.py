"""Cordon's command line over a home of the file's own: as a process, or inside this one."""

import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import Run, cordon, environment


@pytest.fixture(scope="module")
def base(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home for the questions of this file; what changes documents takes a copy of its own."""
    return Path(shutil.copytree(pristine, tmp_path_factory.mktemp("cli") / "home"))


@pytest.fixture
def run(base: Path) -> Run:
    return lambda *arguments, **kw: cordon(*arguments, **{"home": base, **kw})


@pytest.fixture
def inside(base: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """As `run`, but in this process: for what would otherwise spend its time on starting Python."""
    from graph.service.cli import app

    def call(
        *arguments: str, home: Path = base, stdin: str | bytes = b"", **settings: Any
    ) -> "subprocess.CompletedProcess[str]":
        with monkeypatch.context() as patched:
            for name, value in environment(home, **settings).items():
                if name.startswith("CORDON_"):
                    patched.setenv(name, value)
            data = stdin.encode() if isinstance(stdin, str) else stdin
            patched.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
            with pytest.raises(SystemExit) as ended:
                app(list(arguments))
        out = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, int(ended.value.code or 0), out.out, out.err)

    return call
