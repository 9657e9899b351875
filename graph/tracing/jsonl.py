"""Traces as JSON lines in CORDON_HOME/traces, a file a day: for a look without a server."""

import json
import os
import uuid
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path
from typing import Any

from graph.files import alone_in
from graph.settings import Settings
from graph.tracing.spans import Span


class Jsonl:
    """Other processes of this home may write the same files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def export(self, trace: list[Span]) -> None:
        path = self._folder / f"{trace[0].start:%Y-%m-%d}.jsonl"
        lines = [json.dumps({"trace": trace[0].id, **asdict(span)}, default=str, ensure_ascii=False) for span in trace]
        with alone_in(self._folder):
            _write(path, ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"), os.O_APPEND)

    def close(self) -> None:
        """Nothing is held open."""


def forget(home: Path, run_ids: Collection[str], tenant: str = "") -> int:
    """Erase the traces of these runs, and every one of the tenant if it is named. Returns how many traces that were."""
    folder = home / "traces"
    gone: set[str] = set()
    wanted = {str(uuid.UUID(run_id)) for run_id in run_ids}
    for path in sorted(folder.glob("*.jsonl")):
        with alone_in(folder):
            lines = [(_read(raw), raw) for raw in path.read_bytes().splitlines(keepends=True)]
            theirs = {span["trace"] for span, _ in lines if tenant and span["attributes"].get("tenant_id") == tenant}
            theirs |= wanted & {span["trace"] for span, _ in lines}
            gone |= theirs
            remaining = b"".join(raw for span, raw in lines if span["trace"] not in theirs)
            if theirs:
                fresh = path.with_name(f".{path.name}.writing")
                _write(fresh, remaining, os.O_TRUNC)
                fresh.replace(path)
    return len(gone)


def _read(raw: bytes) -> dict[str, Any]:
    """One line. A line that a killed process left half written is of no trace, and the next erasure removes it."""
    try:
        span: dict[str, Any] = json.loads(raw)
        return span
    except ValueError:
        return {"trace": "", "attributes": {}}


def _write(path: Path, data: bytes, how: int) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | how, 0o600), "wb") as out:
        out.write(data)


def exporter(settings: Settings) -> Jsonl:
    """Into `traces` of the home."""
    return Jsonl(settings.home / "traces")
