"""What the stages use, opened on first use and closed together. The only module that names a store.

Importing it is cheap, so that what needs the stores alone (`cordon keys`, `cordon audit`) starts at once.
"""

import shutil
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from graph.errors import BadSettings
from graph.files import private_directory
from graph.models.fair_semaphore import FairSemaphore
from graph.policy import pii
from graph.settings import Settings
from graph.stores import Stores
from graph.stores.conversations import Conversations
from graph.stores.embedded import FILES, Embedded
from graph.stores.journal import Journal, Rows
from graph.stores.leases import Lease

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from graph.audit.artifacts import Artifacts
    from graph.knowledge.embeddings import Embedder
    from graph.knowledge.index import Index
    from graph.models.chat import Generator
    from graph.models.detector import OperatorDetector
    from graph.models.opinion import Opinion
    from graph.policy.grounding.entailment import Encoder
    from graph.policy.threats.thresholds import Thresholds
    from graph.public import PublicValues
    from graph.stores.checkpoints import Checkpoints
    from graph.tracing import Tracer
    from graph.waiting import Waiting


def stores(settings: Settings, *, serves: bool = False) -> Stores:
    """The stores that the settings name. Nothing is opened.

    `serves`: for a service, of which several processes may use the same stores.
    """
    if not (url := settings.database_url.get_secret_value()):
        return Embedded(settings.home, wait_s=settings.lock_wait_s, chroma=_chroma(settings, serves))
    if settings.vectors != "exact":
        raise BadSettings("a database looks for neighbours itself.", hint="Leave CORDON_VECTORS out.")
    _speaks_postgres()
    from graph.stores.postgres import Postgres

    return Postgres(url, connections=settings.database_connections, wait_s=settings.database_wait_s)


def _chroma(settings: Settings, serves: bool) -> str:
    if settings.vectors == "exact":
        return ""
    if serves and not settings.chroma_url:
        raise BadSettings(
            "Chroma's files are for one process, and a service has several.",
            hint="Start a server (`chroma run --path DIR --port 8001`) and set CORDON_CHROMA_URL=http://localhost:8001.",
        )
    return settings.chroma_url or FILES


def set_up(settings: Settings) -> list[str]:
    """Make the tables of the database, or bring them up to date; the names of what was applied."""
    owner, worker = settings.database_owner_url.get_secret_value(), settings.database_url.get_secret_value()
    if not (owner and worker):
        raise BadSettings(
            "it takes the database as its owner and as the workers' role.",
            hint="Set CORDON_DATABASE_OWNER_URL and CORDON_DATABASE_URL.",
        )
    _speaks_postgres()
    from graph.stores.postgres.migrate import migrate

    return migrate(owner, worker)


def _speaks_postgres() -> None:
    if find_spec("psycopg") is None:
        raise BadSettings(
            "a database is named, and what speaks to PostgreSQL is not installed.",
            hint="pip install 'cordon[postgres]', or `make serve`, which has it.",
        )


@dataclass(frozen=True)
class Deps:
    """One per process and home. `model` replaces the language model: the seam for tests and for other providers.

    `lease`: the open files that hold the stores for several processes of one service; without it they are this one's
    alone. `serves` as of `stores`.
    """

    settings: Settings
    model: "BaseChatModel | None" = None
    lease: tuple[int, ...] | None = None
    serves: bool = False

    def __post_init__(self) -> None:
        pii.use(self.settings.mask)

    @cached_property
    def stores(self) -> Stores:
        """Nothing is opened by it."""
        return stores(self.settings, serves=self.serves)

    @cached_property
    def embedder(self) -> "Embedder":
        """Turns texts into vectors (CORDON_EMBEDDINGS)."""
        from graph.knowledge.embeddings import embedder

        return embedder(self.settings)

    @cached_property
    def lock(self) -> Lease:
        """Held until `close`."""
        private_directory(self.settings.home)  # of each process, wherever the stores are
        return self.stores.hold() if self.lease is None else self.stores.join(self.lease)

    @cached_property
    def index(self) -> "Index":
        """Opened under `lock`."""
        from graph.knowledge.index import Index

        _ = self.lock
        if self.lease is None:  # pages that a killed ingestion left, and that earlier versions kept
            shutil.rmtree(self.settings.home / "pages", ignore_errors=True)
        return Index(self.stores.spaces(self.embedder.name), self.embedder, self.journal)

    @cached_property
    def generator(self) -> "Generator":
        """The chat model, or the embedded answerer."""
        from graph.models.chat import Generator

        return Generator(self.settings, self.embedder, self.model, self.turn_semaphore)

    @cached_property
    def turn_semaphore(self) -> FairSemaphore:
        """Shares the places for turns fairly between tenants."""
        return FairSemaphore()

    @cached_property
    def opinion(self) -> "Opinion | None":
        """None without CORDON_TRIAGE_MODEL, or without a chat model."""
        from graph.models.opinion import Opinion

        return Opinion(self.generator) if self.settings.triage_model and not self.settings.embedded else None

    @cached_property
    def support_encoder(self) -> "Encoder":
        """Judges whether a passage supports a sentence (CORDON_SUPPORT_MODEL)."""
        from graph.models.support_encoder import support_encoder

        return support_encoder(self.settings)

    @cached_property
    def detector(self) -> "OperatorDetector | None":
        """None without CORDON_DETECTOR."""
        from graph.models.detector import detector

        return detector(self.settings)

    @cached_property
    def thresholds(self) -> "Thresholds":
        """Raises BadSettings for a CORDON_GUARD_BORDERS that cannot be used."""
        from graph.policy.threats import SCORES
        from graph.policy.threats.thresholds import Thresholds

        return Thresholds(self.settings.guard_borders, SCORES, "CORDON_GUARD_BORDERS")

    @cached_property
    def journal(self) -> Journal:
        """Every run and decision on record."""
        return self.stores.journal

    @cached_property
    def mistakes(self) -> Rows:
        """False positives that people reported."""
        return self.stores.rows("false_positives")

    @cached_property
    def samples(self) -> Rows:
        """Sentences that the guard withheld."""
        return self.stores.rows("withheld")

    @cached_property
    def public(self) -> "PublicValues":
        """What is not masked, because an operator made it public."""
        from graph.public import PublicValues

        return PublicValues(self.stores.lists, roles=self.settings.role_addresses == "show")

    @cached_property
    def waiting(self) -> "Waiting":
        """Answers and appeals that wait for a reviewer."""
        from graph.waiting import Waiting

        return Waiting(self.stores.lists, self.settings.review_waiting, self.settings.review_days)

    @cached_property
    def conversations(self) -> Conversations:
        """Past turns, listed and searched by meaning."""
        return self.stores.conversations

    @cached_property
    def checkpoints(self) -> "Checkpoints":
        """Opened under `lock`; every string is masked before it is written."""
        from graph.checkpoints import MaskingSerializer

        _ = self.lock
        return self.stores.checkpoints(MaskingSerializer())

    @cached_property
    def artifacts(self) -> "Artifacts | None":
        """None where CORDON_ARTIFACTS is off."""
        from graph.audit.artifacts import Artifacts

        return Artifacts(self.settings.out, paper=not self.serves) if self.settings.artifacts else None

    @cached_property
    def tracer(self) -> "Tracer | None":
        """None where CORDON_TRACING is off. Raises BadSettings when its package is missing."""
        from graph.tracing import tracer

        return tracer(self.settings)

    def open(self) -> None:
        """Open everything now, before several threads could open it at the same time."""
        names = "turn_semaphore lock journal conversations checkpoints artifacts index generator opinion detector"
        for name in [*names.split(), "thresholds", "tracer"]:
            getattr(self, name)

    def close(self) -> None:
        """Close what was opened, the lock last. It may be opened anew."""
        for name in ("tracer", "generator", "index", "conversations", "checkpoints"):  # only what was opened
            if (opened := self.__dict__.pop(name, None)) is not None:
                opened.close()
        if "stores" in self.__dict__:
            self.stores.close()
        if (lock := self.__dict__.pop("lock", None)) is not None:
            lock.release()
