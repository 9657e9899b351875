"""What waits for a reviewer: answers that were held back, and refusals that somebody appealed. A short list for each
tenant; the draft and its evidence lie in a thread of their own among the checkpoints.

The list stands in the tenant's list store, beside what is public (graph/stores/lists.py): a change is whole, durable
and seen by every process, so of two reviewers one is first.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from graph.context import key_of
from graph.errors import Conflict, NotFound
from graph.state import Said
from graph.stores.lists import ListStore
from graph.timestamps import timestamp

_KEY = "reviews"


class Waits(TypedDict):
    """A run that waits. `asker` is its context (graph.context.Context), `said` a decision that is being carried out."""

    run_id: str
    kind: Literal["answer", "appeal"]
    why: str  # what made an answer wait; what the asker says of a refusal, masked
    question: str  # masked, cut short
    since: str  # UTC, ISO 8601
    expires: str
    asker: dict[str, Any]
    said: NotRequired[Said]


def thread_of(tenant_id: str, run_id: str) -> str:
    """The name of the thread in which a run waits, and its outcome is kept."""
    return key_of("review", tenant_id, run_id)


class Waiting:
    """At most `most` runs of a tenant at once, each for `days`."""

    def __init__(self, lists: ListStore, most: int, days: int) -> None:
        self._lists, self.most, self.days = lists, most, days
        self.busy: set[str] = set()  # runs of which this process carries out a decision

    def add(
        self, kind: Literal["answer", "appeal"], run_id: str, since: str, question: str, why: str, asker: dict[str, Any]
    ) -> bool:
        """Returns False when the list is full. Raises Conflict when this run waits already."""
        short = question if len(question) <= 200 else f"{question[:199]}…"
        new = Waits(
            run_id=run_id, kind=kind, why=why, question=short, since=since, asker=asker,
            expires=timestamp(datetime.fromisoformat(since), days=self.days),
        )  # fmt: skip
        room = True

        def longer(value: dict[str, Any]) -> dict[str, Any]:
            nonlocal room
            entries = value.get(_KEY, {})
            if run_id in entries:
                raise Conflict(f"run {run_id[:8]} waits for a reviewer already.")
            if not (room := len(entries) < self.most):
                return value
            return {**value, _KEY: {**entries, run_id: new}}

        self._lists.change(asker["tenant_id"], longer)
        return room

    def all(self, tenant_id: str) -> list[Waits]:
        """The one that waits longest first."""
        return list(self._lists.load(tenant_id).value.get(_KEY, {}).values())

    def one(self, tenant_id: str, run_id: str) -> Waits:
        """The run whose id begins so. Raises NotFound for none, several, or fewer than 4 characters."""
        matches = [w for w in self.all(tenant_id) if len(run_id) >= 4 and w["run_id"].startswith(run_id)]
        if len(matches) != 1:
            raise NotFound(f"no single run that waits begins with {run_id[:40]!r}.", hint="It may be decided already.")
        return matches[0]

    def claim(self, tenant_id: str, run_id: str, decision: Said) -> None:
        """Let this decision count from now on. Raises Conflict when another one was first."""

        def claimed(value: dict[str, Any]) -> dict[str, Any]:
            entries = value.get(_KEY, {})
            if run_id not in entries or entries[run_id].get("said", decision) != decision:
                raise Conflict(f"run {run_id[:8]} was decided by somebody else just now.")
            return {**value, _KEY: {**entries, run_id: {**entries[run_id], "said": decision}}}

        self._lists.change(tenant_id, claimed)

    def free(self, tenant_id: str, run_id: str) -> None:
        """Take a claim back: the decision cannot be carried out."""

        def freed(value: dict[str, Any]) -> dict[str, Any]:
            entries = value.get(_KEY, {})
            left = {key: item for key, item in entries.get(run_id, {}).items() if key != "said"}
            return {**value, _KEY: {**entries, run_id: left}} if left else value

        self._lists.change(tenant_id, freed)

    def drop(self, tenant_id: str, run_ids: Collection[str]) -> int:
        """Take runs off the list. Returns how many were on it."""
        if not (gone := {w["run_id"] for w in self.all(tenant_id)} & set(run_ids)):
            return 0

        def shorter(value: dict[str, Any]) -> dict[str, Any]:
            return {**value, _KEY: {key: item for key, item in value.get(_KEY, {}).items() if key not in gone}}

        self._lists.change(tenant_id, shorter)
        return len(gone)
