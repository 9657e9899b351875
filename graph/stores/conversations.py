"""What was said: every remembered turn of a tenant's people, to be listed, read again, found by meaning, and erased.

Promises. Isolation: a call sees one tenant's turns, and but for erasure one user's; no other tenant's turns change a
rank. A turn that tells of documents which groups share is not there for a caller who names none of these groups. A turn
is durable when `add` returns; what was forgotten leaves no bytes behind. Concurrency: threads may share one, and other
processes may read and write at the same time. Errors: Unavailable where a turn cannot be kept or read.

A turn is written after its journal line, masked. With memory `none` nothing is written here.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

SHOWN = (
    "run_id", "timestamp", "question", "decision", "answer", "sentences", "citations", "confidence", "refusal",
    "verdict", "safety_flags", "understood",
)  # fmt: skip
TITLE_CHARS = 80


@dataclass(frozen=True)
class Recalled:
    """A turn found by meaning. `score` is the cosine of its question with the one asked now, -1 to 1."""

    run_id: str
    thread_id: str
    score: float
    turn: dict[str, Any]  # a graph.state.PastTurn


@dataclass(frozen=True)
class KeptTurn:
    """A turn as `add` took it; `shown` is what it kept of the reply."""

    user: str
    thread: str
    shown: dict[str, Any]
    gist: dict[str, Any]
    vector: np.ndarray | None
    audiences: Sequence[Sequence[str]] = ()
    name: str = ""  # of its thread, as its user gave it


class Conversations(Protocol):
    """All remembered turns, of every tenant."""

    def add(
        self,
        tenant: str,
        user: str,
        thread: str,
        reply: Mapping[str, object],
        gist: dict[str, Any],
        vector: np.ndarray | None,
        audiences: Sequence[Sequence[str]] = (),
        name: str = "",
    ) -> None:
        """Keep a turn: of the reply what SHOWN names. `gist` is a PastTurn, `vector` its question's embedding (none for
        a refused one). `audiences` are sets of groups: who reads the turn is in one group of each."""

    def threads(
        self, tenant: str, user: str, groups: Collection[str] = (), words: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """A user's threads, the latest first: thread_id, title (as given, else of the first question), turns, created,
        updated. Only turns that somebody in `groups` may read count, here and below. With `words` only threads with a
        turn that has each of them in its question, answer or title, in capitals or not."""

    def rename(self, tenant: str, user: str, thread: str, name: str, groups: Collection[str] = ()) -> bool:
        """Give a thread a title, "" for that of its first question; whether there is such a thread."""

    def any(self, tenant: str, user: str, groups: Collection[str] = ()) -> bool:
        """Whether anything was ever answered to this user with memory on."""

    def turns(self, tenant: str, user: str, thread: str, groups: Collection[str] = ()) -> list[dict[str, Any]]:
        """The turns of one thread as the reply had them, the oldest first; none when there is no such thread."""

    def search(
        self, tenant: str, user: str, vector: np.ndarray, limit: int, groups: Collection[str] = ()
    ) -> list[Recalled]:
        """The user's answered turns whose questions mean nearly the same, nearest first, from all of their threads.
        Those that were embedded by a model of other dimensions are left out."""

    def all(self, tenant: str) -> list[KeptTurn]:
        """Every turn of a tenant's people, in the order in which they were added."""

    def forget(
        self, tenant: str, *, user: str | None = None, thread: str | None = None, run_ids: Sequence[str] | None = None
    ) -> int:
        """Erase turns: all, one user's, one thread's of that user, or the runs named. Returns how many it was."""

    def close(self) -> None:
        """Let go of what is open. The next use opens it again."""


# A row for each thread, as `thread_of` reads it. In the place of {} stands what turns it is of, FROM on.
THREADS = """SELECT thread.thread_id, n, created, updated, named, turns.turn FROM (SELECT thread_id, count(*) AS n,
    min(timestamp) AS created, max(timestamp) AS updated, max(name) AS named, min(id) AS first, max(id) AS last {}
    GROUP BY thread_id) AS thread JOIN turns ON id = first"""


def thread_of(row: Sequence[Any]) -> dict[str, Any]:
    """A thread as `Conversations.threads` gives it."""
    thread, count, created, updated, name, first = row
    named = {"thread_id": thread, "title": name or title(json.loads(first)["question"])}
    return named | {"turns": count, "created": created, "updated": updated}


def title(question: str) -> str:
    """Of a thread that begins with the question."""
    return shortened(question, TITLE_CHARS)


def shortened(text: str, most: int) -> str:
    """On one line, cut between two words at `most` characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 1].rsplit(" ", 1)[0] + "…"
