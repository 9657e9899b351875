"""Traces as JSON lines in CORDON_HOME/traces, a file a day: for a look without a server."""

import json
import os
from dataclasses import asdict
from pathlib import Path

from graph.knowledge.home import private_directory
from graph.settings import Settings
from graph.tracing.spans import Span


class Jsonl:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def export(self, trace: list[Span]) -> None:
        private_directory(self._folder)
        path = self._folder / f"{trace[0].start:%Y-%m-%d}.jsonl"
        lines = [json.dumps({"trace": trace[0].id, **asdict(span)}, default=str, ensure_ascii=False) for span in trace]
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as out:
            out.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))

    def close(self) -> None:
        """Nothing is held open."""


def exporter(settings: Settings) -> Jsonl:
    return Jsonl(settings.home / "traces")
