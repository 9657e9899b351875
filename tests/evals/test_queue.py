"""The queue of evals/load/queue.py against what is known of queues."""

import statistics
from math import factorial

import pytest

from evals.load.queue import Shape, Times, simulated


def erlang_wait(servers: int, load: float) -> float:
    """Mean wait in M/M/c, in service times (Erlang C)."""
    offered = servers * load
    last = offered**servers / factorial(servers) / (1 - load)
    waits = last / (sum(offered**k / factorial(k) for k in range(servers)) + last)
    return waits / (servers * (1 - load))


@pytest.mark.parametrize("servers, load", [(1, 0.5), (2, 0.8), (8, 0.9)])
def test_it_waits_as_long_as_erlang_says(servers: int, load: float) -> None:
    """The database alone serves: exponential times, and workers that take none."""
    shape = Shape(workers=1, cores=1, database_cores=servers, model_s=0)
    took = simulated(shape, Times((0.0,), 10.0), load * servers / 0.010, questions=150_000)
    assert statistics.fmean(took) / 0.010 == pytest.approx(1 + erlang_wait(servers, load), rel=0.12)


def test_an_idle_service_takes_its_times_and_no_more() -> None:
    took = simulated(Shape(2, 2, 2, 0.3), Times((40.0,), 0.0), per_second=0.1, questions=500)
    assert min(took) == pytest.approx(0.34) and statistics.quantiles(took, n=20)[-1] == pytest.approx(0.34)


def test_the_scarcest_part_is_the_capacity() -> None:
    assert Shape(4, 2, 8, 0).capacity(Times((40.0,), 1.0)) == pytest.approx(200)
    assert Shape(400, 2, 8, 0).capacity(Times((40.0,), 1.0)) == pytest.approx(8_000)
