"""The semaphore of turns: no more inside than it is wide, tenants in turn, first come first served among their own, and whoever waits for a model stands outside."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from graph.agent import Agent
from graph.models.fair_semaphore import CURRENT_TENANT, FairSemaphore
from tests.support.models import Scripted, quoting


def test_no_more_are_inside_than_it_is_wide() -> None:
    semaphore, inside, most = FairSemaphore(2), [], []

    def turn(n: int) -> None:
        with semaphore.inside():
            inside.append(n)
            most.append(len(inside))
            time.sleep(0.005)
            inside.remove(n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(turn, range(24)))
    assert max(most) == 2


def test_first_come_first_served() -> None:
    semaphore, served = FairSemaphore(1), []

    def turn(n: int) -> None:
        with semaphore.inside():
            served.append(n)

    threads = [threading.Thread(target=turn, args=[n]) for n in range(12)]
    with semaphore.inside():
        for thread in threads:
            thread.start()
            time.sleep(0.01)  # so that they stand in line in this order
    for thread in threads:
        thread.join(5)
    assert served == list(range(12))


def test_a_tenant_with_many_questions_does_not_keep_another_waiting() -> None:
    semaphore, served = FairSemaphore(1), []

    def turn(whose: str) -> None:
        with semaphore.inside(whose[0]):
            served.append(whose)

    threads = [threading.Thread(target=turn, args=[whose]) for whose in ("a1", "a2", "a3", "a4", "b1", "b2", "c1")]
    with semaphore.inside("a"):
        for thread in threads:
            thread.start()
            time.sleep(0.01)
    for thread in threads:
        thread.join(5)
    assert served == ["b1", "c1", "a1", "b2", "a2", "a3", "a4"]


def test_who_comes_back_from_outside_stands_in_the_own_tenants_line(
    opened: Callable[..., Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tenant reaches the stage that waits for a model, whatever thread it runs in."""
    agent = opened(chat=Scripted(reply=quoting), model="stub")
    entered: list[str] = []
    enter = agent.deps.turn_semaphore._enter

    def entering(whose: str) -> None:
        entered.append(whose)
        enter(whose)

    monkeypatch.setattr(agent.deps.turn_semaphore, "_enter", entering)
    question = "How many people are in PunjabThal after the removals?"
    assert agent.ask(question, tenant_id="U1")["decision"] == "answer"
    assert list(agent.stream(question, tenant_id="U1"))
    assert len(entered) >= 4 and set(entered) == {"U1"}


def test_another_comes_in_while_one_waits_outside_even_when_that_one_fails() -> None:
    semaphore, came = FairSemaphore(1), threading.Event()

    def other() -> None:
        with semaphore.inside():
            came.set()

    def waits() -> None:
        with semaphore.inside(), semaphore.outside():
            threading.Thread(target=other).start()
            assert came.wait(5)
            raise ValueError

    with pytest.raises(ValueError):
        waits()
    with semaphore.inside():  # the place was given back
        assert came.is_set()


def test_a_search_stands_in_the_line_of_its_tenant(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    finder = agent.turns._search_graph

    class Watched:
        def invoke(self, *asked: object, **known: object) -> object:
            seen.append(CURRENT_TENANT.get())
            return finder.invoke(*asked, **known)

    monkeypatch.setattr(agent.turns, "_search_graph", Watched())
    agent.search("freezer alarms", tenant_id="U1")
    assert seen == ["U1"]
