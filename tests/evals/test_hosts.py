"""Hosts that fall silent while people ask: the measurement in small (evals/load/hosts.py)."""

from pathlib import Path

import pytest

from evals.load.hosts import measure, missing
from evals.load.workers import Plan

SMALL = Plan(workers=2, tenants=3, threads=9, turns=5, clients=6, uploads=3, kills=0, pause_s=0.3)


@pytest.mark.slow
@pytest.mark.skipif(bool(missing(clocks=False)), reason=missing(clocks=False) or "it can run")
def test_another_worker_goes_on_soon_after_a_host_vanished(tmp_path: Path) -> None:
    told = measure("gone", SMALL, tmp_path)
    assert told.good and told.places == 0, told
    assert told.turns == 45 and told.uploads == 9
    assert 0 < told.let_go_s < 40, told  # without tcp_user_timeout at the server: a quarter of an hour
    assert told.jobs_done_s < 150, told
