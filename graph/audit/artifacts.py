"""The folder a run leaves behind (requirement D7). It appears whole or not at all."""

import itertools
import json
import os
import re
import shutil
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graph.audit import markdown
from graph.audit.pdf import write_pdf
from graph.knowledge.home import directory
from graph.knowledge.regulation import picture
from graph.state import State

SLUG_CHARS = 40
WRITING = ".writing-"
DEAD_AFTER_S = 3_600  # no run writes that long: what is older was left by a killed process


class Artifacts:
    def __init__(self, out: Path) -> None:
        self.out = out

    @contextmanager
    def folder(self, state: State) -> Iterator["Folder"]:
        """A new folder named <YYYYMMDD_HHMMSS>_<slug>_<INTENT>_<ACTION>; kept when the block ends without error."""
        directory(self.out)  # if it was there, others may look in: a run's folder is closed to them
        self._sweep()
        work, final = self._begun(name_of(state))
        try:
            folder = Folder(work, final, state)
            yield folder
            work.rename(folder.final)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise

    def _sweep(self) -> None:
        """Remove what killed runs left half written."""
        for left in self.out.glob(f"{WRITING}*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > DEAD_AFTER_S:
                    shutil.rmtree(left, ignore_errors=True)

    def _begun(self, name: str) -> tuple[Path, Path]:
        """The folder to write in and what it will be: the name, or with -2, -3 … when runs of one second share it. Who
        has made the former has the latter, among threads and processes alike."""
        for n in itertools.count(1):
            final = self.out / (name if n == 1 else f"{name}-{n}")
            work = self.out / f"{WRITING}{final.name}"
            with suppress(FileExistsError):
                work.mkdir(mode=0o700)
                if not final.exists():
                    return work, final
                work.rmdir()
        raise AssertionError


class Folder:
    """What goes in depends on how far the run came: a blocked one has no answer files."""

    def __init__(self, work: Path, final: Path, state: State) -> None:
        self._work, self.final = work, final
        self._answered = state["decision"] in ("answer", "no_answer")
        self._documents = markdown.documents(state) if self._answered else {}
        graph = state.get("options", {}).get("mode") == "graph"
        self._star = picture.of_evidence(state["evidence"]) if self._answered and graph else None

    def names(self) -> dict[str, str]:
        """What the reply says of its artefacts: `dir`, then each file's name and path."""
        files = ["intent.json", "triage.json", "retrieval.json"]
        if self._answered:
            files.append("answer.json")
        files += [f"{stem}.{end}" for stem in self._documents for end in ("md", "pdf")]
        files += ["neighbourhood.mmd", "neighbourhood.png"] if self._star else []
        return {"dir": str(self.final)} | {name: str(self.final / name) for name in files}

    def write(self, state: State, reply: dict[str, Any]) -> None:
        self._json("intent.json", state["intent"] | {"query": state["query"], "question": state["question"]})
        self._json("triage.json", reply["verdict"] | {"rewrite": reply.get("rewrite", ""), "refusal": reply["refusal"]})
        self._json("retrieval.json", reply["retrieval"] | {"query": state["query"], "filters": state["filters"]})
        if self._answered:
            self._json("answer.json", reply)
        if self._star:
            self._write("neighbourhood.mmd", picture.mermaid(self._star).encode())
            self._write("neighbourhood.png", picture.png(self._star))
        for stem, text in self._documents.items():
            self._write(f"{stem}.md", text.encode())
            write_pdf(
                text, self._work / f"{stem}.pdf", title=stem.replace("_", " ").capitalize(), created=state["started"]
            )

    def _json(self, name: str, value: Any) -> None:
        self._write(name, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())

    def _write(self, name: str, data: bytes) -> None:
        file = os.open(self._work / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(data)


def name_of(state: State) -> str:
    """<YYYYMMDD_HHMMSS>_<slug>_<INTENT>_<ACTION>, the slug from the masked question."""
    stamp = re.sub(r"\D", "", state["started"])[:14]
    plain = unicodedata.normalize("NFKD", state["question"]).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:SLUG_CHARS].strip("_") or "question"
    return f"{stamp[:8]}_{stamp[8:]}_{slug}_{state['intent']['name']}_{state['verdict']['action']}"
