"""A home is used by one process at a time, or by those of one service, and copied whole."""

import io
from collections.abc import Callable
from pathlib import Path

import pytest

from graph.errors import BadInput, CordonError, IndexUnavailable
from graph.stores.embedded import Embedded

Another = Callable[[str], Embedded]


@pytest.fixture
def another(tmp_path: Path) -> Another:
    return lambda name: Embedded(tmp_path / name)


def test_nobody_else_gets_a_lease_while_one_is_held(another: Another) -> None:
    lease = another("a").hold()
    with pytest.raises(IndexUnavailable, match="is using"):
        another("a").hold()
    lease.release()
    another("a").hold().release()


def test_a_copy_is_restored_where_there_is_nothing_and_only_whole(another: Another) -> None:
    one, copy = another("a"), io.BytesIO()
    one.rows("withheld").append({"n": 1})
    run = one.journal.append({"run_id": "r", "tenant_id": "T1"})
    held = one.backup(copy)
    with pytest.raises(BadInput, match="no whole backup"):
        another("b").restore(io.BytesIO(copy.getvalue()[:-400]))
    assert another("b").restore(io.BytesIO(copy.getvalue())) == held
    assert list(another("b").journal.entries()) == [run] and another("b").rows("withheld").all() == [{"n": 1}]
    with pytest.raises(BadInput, match="not empty"):
        another("b").restore(io.BytesIO(copy.getvalue()))
    lease = one.hold()
    with pytest.raises(CordonError, match="is using"):
        one.backup(io.BytesIO())
    lease.release()
