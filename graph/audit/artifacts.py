"""The folder a run leaves behind (requirement D7). It appears whole or not at all."""

import fcntl
import json
import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from graph.audit import markdown
from graph.audit.pdf import write_pdf
from graph.checkpoints import note_masked
from graph.files import directory
from graph.policy import pii
from graph.regulation import picture
from graph.state import Reply, State

SLUG_CHARS = 40
TAIL_CHARS, TAIL_OF = 7, "bcdfghjkmnpqrstvwxz"  # 900 million tails, none a word or a number
WRITING = ".writing-"
SWEEP_S = 600
DRAFTS = "drafts.json"  # what the model wrote, masked, where CORDON_KEEP_DRAFTS is set


class Artifacts:
    """A folder below `out` for each run. Without `paper` no answer is written as PDF: a service makes it on request."""

    def __init__(self, out: Path, *, paper: bool = True) -> None:
        self.out, self._paper = out, paper
        self._sweep_at = 0.0  # at the first run, then seldom: it looks at every run there is
        self._clean = pii.mask(str(out)).text == str(out)

    @contextmanager
    def folder(self, state: State) -> Iterator["RunFolder"]:
        """A new folder named <YYYYMMDD_HHMMSS>_<slug>_<INTENT>_<ACTION>; kept when the block ends without error."""
        directory(self.out)  # if it was there, others may look in: a run's folder is closed to them
        if time.monotonic() >= self._sweep_at:
            self._sweep_at = time.monotonic() + SWEEP_S
            sweep(self.out)
        work, final, lock = self._begun(state)
        try:
            folder = RunFolder(work, final, state, paper=self._paper)
            for path in folder.names().values() if self._clean else ():
                note_masked(path)  # the rest of it is made of the masked question
            yield folder
            work.rename(folder.final)
        except BaseException:
            shutil.rmtree(work, ignore_errors=True)
            raise
        finally:
            os.close(lock)

    def _begun(self, state: State) -> tuple[Path, Path, int]:
        """The folder to write in, its path when it is done, and the lock that keeps it from being swept."""
        while True:
            final = self.out / name_of(state)
            work = self.out / f"{WRITING}{final.name}"
            with suppress(FileExistsError, FileNotFoundError):  # another run's, or swept before it was locked
                work.mkdir(mode=0o700)
                lock = os.open(work, os.O_RDONLY | os.O_CLOEXEC)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if work.exists() and not final.exists():
                    return work, final, lock
                os.close(lock)
                shutil.rmtree(work, ignore_errors=True)


def sweep(out: Path) -> None:
    """Remove what killed runs left half written: folders that no process has locked."""
    for folder in out.glob(f"{WRITING}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


class RunFolder:
    """What goes in depends on how far the run came: a blocked one has no answer files."""

    def __init__(self, work: Path, final: Path, state: State, *, paper: bool) -> None:
        self._work, self.final, self._paper = work, final, paper
        self._answered = state["decision"] in ("answer", "no_answer")
        self._documents = markdown.documents(state) if self._answered else {}
        graph = state.get("options", {}).get("mode") == "graph"
        self._star = picture.of_evidence(state["evidence"]) if self._answered and graph else None

    def names(self) -> dict[str, str]:
        """What the reply says of its artefacts: `dir`, then each file's name and path."""
        files = ["intent.json", "triage.json", "retrieval.json"]
        if self._answered:
            files.append("answer.json")
        for stem in self._documents:
            files += [f"{stem}.md", f"{stem}.pdf"] if self._on_paper(stem) else [f"{stem}.md"]
        files += ["neighbourhood.mmd", "neighbourhood.png"] if self._star else []
        return {"dir": str(self.final)} | {name: str(self.final / name) for name in files}

    def write(self, state: State, reply: Reply) -> None:
        """The files of `names`, and the model's drafts where they are kept. Raises OSError for a file that is there."""
        self._json("intent.json", state["intent"] | {"query": state["query"], "question": state["question"]})
        self._json("triage.json", reply["verdict"] | {"rewrite": reply.get("rewrite", ""), "refusal": reply["refusal"]})
        self._json("retrieval.json", reply["retrieval"] | {"query": state["query"], "filters": state["filters"]})
        if self._answered:
            self._json("answer.json", reply)
        if state["drafts"]:
            self._json(DRAFTS, state["drafts"])
        if self._star:
            self._write("neighbourhood.mmd", picture.mermaid(self._star).encode())
            self._write("neighbourhood.png", picture.png(self._star))
        for stem, text in self._documents.items():
            self._write(f"{stem}.md", text.encode())
            if self._on_paper(stem):
                title = stem.replace("_", " ").capitalize()
                write_pdf(text, self._work / f"{stem}.pdf", title=title, created=state["started"])

    def _on_paper(self, stem: str) -> bool:
        return self._paper or stem != "answer"

    def _json(self, name: str, value: Any) -> None:
        self._write(name, (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode())

    def _write(self, name: str, data: bytes) -> None:
        file = os.open(self._work / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "wb") as stream:
            stream.write(data)


def name_of(state: State) -> str:
    """<YYYYMMDD_HHMMSS>_<slug>_<INTENT>_<ACTION>, the slug from the masked question, with random letters at its end.

    Every name has them: if only a second one had, it would tell that somebody else asked the same in the same second.
    """
    stamp = re.sub(r"\D", "", state["started"])[:14]
    plain = unicodedata.normalize("NFKD", state["question"]).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:SLUG_CHARS].strip("_") or "question"
    tail = "".join(secrets.choice(TAIL_OF) for _ in range(TAIL_CHARS))
    return f"{stamp[:8]}_{stamp[8:]}_{slug}_{tail}_{state['intent']['name']}_{state['verdict']['action']}"
