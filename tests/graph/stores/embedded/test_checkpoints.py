"""The memory of a home that several processes open at once."""

import sqlite3

import pytest

from graph.stores.embedded import checkpoints


class Busy:
    """Locked so often, then set up."""

    def __init__(self, times: int, why: str = "database is locked") -> None:
        self.times, self.why = times, why
        self.conn = self
        self.written: list[str] = []

    def execute(self, sql: str) -> None:
        if not self.written:
            self.written.append("")
            raise sqlite3.OperationalError(self.why)
        self.written.append(sql)

    def setup(self) -> None:
        self.times -= 1
        if self.times >= 0:
            raise sqlite3.OperationalError(self.why)


def test_a_memory_that_another_process_sets_up_is_waited_for() -> None:
    busy = Busy(3)
    checkpoints._set_up(busy)
    assert busy.times == -2 and "TRIGGER IF NOT EXISTS" in busy.written[-1]


def test_what_is_no_matter_of_waiting_is_raised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sqlite3.OperationalError, match="malformed"):
        checkpoints._set_up(Busy(1, "database disk image is malformed"))
    monkeypatch.setattr(checkpoints, "OPENING_S", 0)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        checkpoints._set_up(Busy(9))
