"""Letting verified sentences go while the model still writes, each on record before it leaves."""

import contextvars
import hashlib
import threading
from collections.abc import Callable
from typing import Any

from graph.answering.verified import Verified
from graph.context import Principal
from graph.extractive.reader import Reader
from graph.models.citation_parser import CitationParser
from graph.models.partial import Claims, ProseClaims
from graph.policy.grounding import entailment
from graph.state import Released, Sentence, State
from graph.stores.journal import Journal
from graph.timestamps import timestamp


class SentenceStream:
    """One turn's stream. `read` is called from the model's thread; after `close` it lets nothing out any more."""

    def __init__(
        self,
        state: State,
        asker: Principal,
        journal: Journal,
        write: Callable[[Any], None],
        *,
        prose: bool = False,
        marked: bool = False,
        encoder: entailment.Encoder = entailment.margins,
        reader: Reader | None = None,
    ) -> None:
        self._run, self._tenant = state["turn"], asker.tenant_id
        # Only the writer gets LangGraph's context: a model that had it would stream its raw tokens past us.
        self._journal, self._write = journal, write
        self._context = contextvars.copy_context()
        self._claims = ProseClaims(CitationParser(state["evidence"])) if prose else Claims()
        guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
        self._verified = Verified(
            state["evidence"],
            guarded=guarded,
            question=state["query"],
            marked=marked,
            encoder=encoder,
            reader=reader,
        )
        self._open, self._lock = True, threading.Lock()

    @property
    def released(self) -> Released:
        """What has left so far."""
        return {"sentences": self._verified.sentences, "citations": self._verified.citations}

    def close(self) -> None:
        """Wait for the sentence that is on its way out; after it, nothing leaves."""
        with self._lock:
            self._open = False

    def read(self, text: str) -> None:
        """Take what the model has written so far; judge, record and hand out each claim that has become whole."""
        with self._lock:
            if not self._open:
                return
            for claim in self._claims.read(text):
                for sentence in self._verified.add(claim):
                    cited = [c for c in self._verified.citations if c["n"] in sentence["citations"]]
                    self._journal.append(self._entry(sentence, [dict(c) for c in cited]))
                    self._context.run(self._write, {"sentence": sentence, "citations": cited})

    def _entry(self, sentence: Sentence, cited: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "kind": "sentence",
            "timestamp": timestamp(),
            "run_id": self._run,
            "tenant_id": self._tenant,
            "n": self._verified.sentences.index(sentence) + 1,
            "answer_sha256": hashlib.sha256(sentence["text"].encode("utf-8", "surrogatepass")).hexdigest(),
            "cited": [{k: c[k] for k in ("doc_id", "chunk_id", "start", "end", "sha256")} for c in cited],
        }
