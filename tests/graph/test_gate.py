"""The gate: no more inside than it is wide, first come first served, and whoever waits for a model stands outside."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph.gate import Gate


def test_no_more_are_inside_than_it_is_wide() -> None:
    gate, inside, most = Gate(2), [], []

    def turn(n: int) -> None:
        with gate.inside():
            inside.append(n)
            most.append(len(inside))
            time.sleep(0.005)
            inside.remove(n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(turn, range(24)))
    assert max(most) == 2


def test_first_come_first_served() -> None:
    gate, served = Gate(1), []

    def turn(n: int) -> None:
        with gate.inside():
            served.append(n)

    threads = [threading.Thread(target=turn, args=[n]) for n in range(12)]
    with gate.inside():
        for thread in threads:
            thread.start()
            time.sleep(0.01)  # so that they stand in line in this order
    for thread in threads:
        thread.join(5)
    assert served == list(range(12))


def test_another_comes_in_while_one_waits_outside_even_when_that_one_fails() -> None:
    gate, came = Gate(1), threading.Event()

    def other() -> None:
        with gate.inside():
            came.set()

    def waits() -> None:
        with gate.inside(), gate.outside():
            threading.Thread(target=other).start()
            assert came.wait(5)
            raise ValueError

    with pytest.raises(ValueError):
        waits()
    with gate.inside():  # the place was given back
        assert came.is_set()
