"""Workers on one database that die while people ask: the measurement in small (evals/load/workers.py)."""

from pathlib import Path

import pytest

from evals.load.workers import Plan, measure
from tests.support.postgres import server

SMALL = Plan(workers=2, tenants=3, threads=9, turns=2, clients=6, uploads=4, kills=2)


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["a worker killed", "the database killed", "connections cut"])
def test_nothing_that_was_acknowledged_is_lost_or_done_twice(broken: str, tmp_path: Path) -> None:
    plans = {
        "a worker killed": SMALL,
        "the database killed": Plan(**{**vars(SMALL), "kills": 0, "database_kills": 1}),
        "connections cut": Plan(**{**vars(SMALL), "kills": 0, "cut": 0.01}),
    }
    with server(options="-c max_wal_size=64MB") as running:
        tally = measure(plans[broken], tmp_path, running)
    assert tally.good, tally
    assert tally.turns == 18 and tally.journal_lines >= 18
    assert {"a worker killed": tally.kills, "the database killed": tally.database_kills, "connections cut": tally.cut}[
        broken
    ] > 0
