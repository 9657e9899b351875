"""What the checkpointer writes: a number that is the whole question is masked, an id stays as it is."""

import hashlib
import uuid
from collections.abc import Callable

import pytest

from graph.agent import Agent
from graph.checkpoints import _ID, masked
from graph.context import Context, key_of
from tests.support.invariants import on_disk, strings
from tests.support.postgres import cells

NUMBERS = [
    "3520218374653", "35202-1837465-3", "03001234567", "0300-1234567", "+923001234567", "923001234567",
    "00923001234567", "4111111111111111", "4111-1111-1111-1111",
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_is_the_whole_question_is_on_disk_nowhere(opened: Callable[..., Agent], number: str) -> None:
    """Written step by step, as a server does it: the input first, before any stage has run."""
    one = opened()
    thread = key_of("U1", "local", "t")
    one.turns.graph.invoke(
        {"question": number},
        {"configurable": {"thread_id": thread}},
        context=Context("U1", "local", "t"),
        durability="sync",
    )
    one.close()
    kept, home = cells(one.settings), one.settings.home
    rows = "\n".join(cell for table, held in kept.items() if table.startswith("checkpoint") for cell in held)
    assert number.encode() not in b"".join([rows.encode(), *(p.read_bytes() for p in home.glob("checkpoints.db*"))])
    assert "[REDACTED]" in set(strings(on_disk(home, None, one.settings.database_url.get_secret_value())))


@pytest.mark.parametrize("kind", ["uuid", "run id", "key", "digest", "short digest"])
def test_ids_stay_as_they_are(kind: str) -> None:
    for n in range(2_000):
        raw = hashlib.sha256(str(n).encode()).hexdigest()
        made = {
            "uuid": str(uuid.UUID(raw[:32])),
            "run id": raw[:32],
            "key": raw[:40],
            "digest": raw,
            "short digest": raw[:16],
        }
        assert masked({"id": [made[kind]]}) == {"id": [made[kind]]}


def test_the_versions_of_channels_stay_as_they_are(opened: Callable[..., Agent]) -> None:
    one = opened()
    one.ask("Which freezer holds the whole blood samples?", tenant_id="U1", thread_id="t")
    kept = one.deps.checkpoints.saver.get_tuple({"configurable": {"thread_id": key_of("U1", "local", "t")}})
    versions = {str(v) for v in kept.checkpoint["channel_versions"].values()} if kept else set()
    assert versions and all(_ID.fullmatch(version) for version in versions)
