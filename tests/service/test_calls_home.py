"""Nothing reports to its makers: no file outside Cordon's own folders, and no address but loopback, whoever wrote the library."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import OFFLINE, ROOT

# A network of its own, so that what would call out cannot, and every call is seen, those of compiled libraries too.
_ALONE = ("unshare", "--map-root-user", "--net")


def _can_trace() -> bool:
    try:
        done = subprocess.run([*_ALONE, "strace", "-f", "-o", "/dev/null", "true"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


@pytest.fixture(scope="module")
def found(pristine: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    base = tmp_path_factory.mktemp("alone")
    shutil.copytree(pristine, base / "home")
    traced = _can_trace()
    path = str(ROOT) if traced else f"{ROOT}{os.pathsep}{OFFLINE}"
    script = [sys.executable, str(ROOT / "tests" / "support" / "alone.py"), str(base), path]
    command = [*_ALONE, *script, "traced"] if traced else [*script, "untraced"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return {"traced": traced, **json.loads(done.stdout)}


@pytest.mark.slow
def test_ask_scan_ingest_eval_and_serve_write_in_their_own_folders_alone(found: dict[str, Any]) -> None:
    assert found["left"] == []
    assert found["seen_when_there"]["left"] == ["person/home/id"]


@pytest.mark.slow
def test_ask_scan_ingest_eval_and_serve_reach_nobody(found: dict[str, Any]) -> None:
    if not found["traced"]:
        pytest.skip("no network of its own can be made here, or strace is missing")
    assert found["reached"] == []
    assert found["seen_when_there"]["reached"] == ["192.0.2.1"]


def test_make_studio_tells_langgraphs_command_line_to_be_silent() -> None:
    said = subprocess.run(["make", "-n", "studio"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (start,) = [line for line in said.splitlines() if "langgraph dev" in line]
    assert "LANGGRAPH_CLI_NO_ANALYTICS=1" in start  # it reports before it loads anything of ours
