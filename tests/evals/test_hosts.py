"""Hosts that fall silent while people ask: the measurement in small (evals/load/hosts.py). In a process of its own: here
nothing but loopback may be reached."""

import json
import os
import subprocess
import sys

import pytest

from evals.load.hosts import missing
from evals.process import ROOT

ABSENT = missing(clocks=False)


@pytest.mark.slow
@pytest.mark.skipif(bool(ABSENT), reason=ABSENT or "it can run")
def test_another_worker_goes_on_soon_after_a_host_vanished() -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    command = [sys.executable, "-m", "evals.load.hosts", "gone", "--small"]
    done = subprocess.run(command, env=environ, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout, done.stderr[-2_000:])
    told = json.loads(done.stdout)
    assert told["turns"] == 45 and told["uploads"] == 9 and told["places"] == 0, told
    assert 0 < told["let_go_s"] < 40, told  # without tcp_user_timeout at the server: a quarter of an hour
    assert told["jobs_done_s"] < 150, told
