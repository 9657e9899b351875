"""The command line as a person runs it: a process of its own, sealed from the network."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OFFLINE = ROOT / "tests" / "support" / "offline"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(home: Path, **settings: Any) -> dict[str, str]:
    """This process's environment without Cordon's settings, and with these."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("CORDON_", "OPENAI_", "LANG", "NO_COLOR", "FORCE_COLOR"))
    }
    ours = {
        f"CORDON_{k.upper()}": str(v)
        for k, v in {"home": home, "out": home.parent / "out", "artifacts": 0, **settings}.items()
    }
    # The checkout first, so that a copy of the repository tests itself; then the seal.
    return {**kept, **ours, "PYTHONPATH": f"{ROOT}{os.pathsep}{OFFLINE}", "LANG": "C.UTF-8"}


def cordon(
    *arguments: str,
    home: Path,
    stdin: str | bytes = b"",
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    **settings: Any,
) -> "subprocess.CompletedProcess[str]":
    """Run `cordon …` to its end; output as text."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "graph.service.cli", *arguments],
        input=data,
        capture_output=True,
        cwd=cwd or home.parent,
        env=environment(home, **settings) | (env or {}),
        timeout=120,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def jsonl(done: "subprocess.CompletedProcess[str]") -> list[Any]:
    return [json.loads(line) for line in done.stdout.splitlines()]
