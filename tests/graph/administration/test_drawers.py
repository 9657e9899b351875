"""The child processes that draw pages: each is for one caller, and the next one stands ready."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from graph.administration import drawers as drawing
from graph.administration.drawers import Drawer, Drawers
from graph.agent import Agent
from graph.errors import DocumentError


@pytest.fixture
def drawers() -> Iterator[Drawers]:
    made = Drawers()
    yield made
    made.close()


def pid(drawer: Drawer) -> int:
    drawer.start()
    assert drawer._child is not None
    return drawer._child.pid


def gone(process: int) -> bool:
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def refused(drawer: Drawer) -> str:
    """A child that works says that this is no PDF."""
    with pytest.raises(DocumentError) as error:
        drawer.ask({"do": "text", "page": 1}, b"no PDF", "x")
    return str(error.value)


def test_no_child_is_for_two_callers_and_the_next_one_stands_ready(drawers: Drawers) -> None:
    with drawers.new() as first:
        one = pid(first)
        assert "cannot be read" in refused(first)
    assert gone(one)
    ready = drawers._ready
    assert ready is not None and ready.alive and pid(ready) != one
    with drawers.new() as second:
        assert second is ready and drawers._ready is None
        with drawers.new() as third:  # at the same time
            assert third is not second
        assert "cannot be read" in refused(second)


def test_one_that_was_killed_while_it_waited_is_replaced(drawers: Drawers) -> None:
    with drawers.new():
        pass
    assert drawers._ready is not None
    os.kill(pid(drawers._ready), signal.SIGKILL)
    assert drawers._ready._child is not None
    drawers._ready._child.wait()
    with drawers.new() as drawer:
        assert "cannot be read" in refused(drawer)


def test_none_waits_for_ever(drawers: Drawers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "IDLE_S", 0.2)
    with drawers.new():
        pass
    assert drawers._ready is not None and gone(pid(drawers._ready))
    assert drawers._ready is None


def test_many_at_once_leave_one(drawers: Drawers) -> None:
    seen = []

    def draw() -> None:
        with drawers.new() as drawer:
            seen.append(pid(drawer))

    threads = [threading.Thread(target=draw) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({*seen}) == 6 and all(gone(one) for one in seen)
    assert drawers._ready is not None
    last = pid(drawers._ready)
    drawers.close()
    assert gone(last)


def test_an_agent_that_is_closed_leaves_none(opened: Callable[..., Agent]) -> None:
    agent = opened()
    with agent.drawers.new():
        pass
    assert agent.drawers._ready is not None
    last = pid(agent.drawers._ready)
    agent.close()
    assert gone(last)
