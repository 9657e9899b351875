"""What the stages stand on, opened on first use and closed together."""

import shutil
from dataclasses import dataclass
from functools import cached_property

from langchain_core.language_models import BaseChatModel

from graph.audit.artifacts import Artifacts
from graph.audit.journal import Journal
from graph.conversations import Conversations
from graph.gate import Gate
from graph.knowledge.embeddings import Embedder, embedder
from graph.knowledge.home import HomeLock
from graph.knowledge.index import Index
from graph.models.chat import Generator
from graph.models.detector import OperatorDetector, detector
from graph.models.opinion import Opinion
from graph.policy import pii
from graph.public import Lists
from graph.settings import Settings
from graph.tracing import Tracer, tracer


@dataclass(frozen=True)
class Deps:
    """One per process and home. `model` replaces the language model: the seam for tests and for other providers.

    `shared` is the lock of a home that several processes of one service use; without it the home is this one's alone.
    `serves`: it belongs to a service, which never uses Chroma: Chroma's files are for one process, and whatever it
    writes, it lets no other thread run meanwhile.
    """

    settings: Settings
    model: BaseChatModel | None = None
    shared: HomeLock | None = None
    serves: bool = False

    def __post_init__(self) -> None:
        pii.use(self.settings.mask)

    @cached_property
    def embedder(self) -> Embedder:
        return embedder(self.settings)

    @cached_property
    def lock(self) -> HomeLock:
        return self.shared or HomeLock(self.settings.home, self.settings.lock_wait_s).acquire()

    @cached_property
    def index(self) -> Index:
        _ = self.lock
        if self.shared is None:  # pages that a killed ingestion left, and that earlier versions kept
            shutil.rmtree(self.settings.home / "pages", ignore_errors=True)
        chroma = {"exact_limit": None} if self.serves else {}
        return Index(self.settings.home / "index", self.embedder, **chroma)

    @cached_property
    def generator(self) -> Generator:
        return Generator(self.settings, self.embedder, self.model, self.gate)

    @cached_property
    def gate(self) -> Gate:
        return Gate()

    @cached_property
    def opinion(self) -> Opinion | None:
        return Opinion(self.generator) if self.settings.triage_model and not self.settings.embedded else None

    @cached_property
    def detector(self) -> OperatorDetector | None:
        return detector(self.settings)

    @cached_property
    def journal(self) -> Journal:
        return Journal(self.settings.home / "audit" / "journal.jsonl")

    @cached_property
    def public(self) -> Lists:
        return Lists(self.settings.home, roles=self.settings.role_addresses == "show")

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.settings.home / "conversations")

    @cached_property
    def artifacts(self) -> Artifacts | None:
        return Artifacts(self.settings.out) if self.settings.artifacts else None

    @cached_property
    def tracer(self) -> Tracer | None:
        return tracer(self.settings)

    def open(self) -> None:
        """Everything that is opened on first use, opened now, before several threads could do it at the same time."""
        for name in (
            "gate",
            "lock",
            "journal",
            "conversations",
            "artifacts",
            "index",
            "generator",
            "opinion",
            "detector",
            "tracer",
        ):
            getattr(self, name)

    def close(self) -> None:
        traced = self.__dict__.pop("tracer", None)
        if traced is not None:
            traced.close()
        for name in ("generator", "index", "conversations", "lock"):  # only what was opened
            opened = self.__dict__.pop(name, None)
            if isinstance(opened, Generator | Index | Conversations):
                opened.close()
            elif isinstance(opened, HomeLock):
                opened.release()
