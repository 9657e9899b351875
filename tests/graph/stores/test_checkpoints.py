"""What every store of checkpoints promises, with a graph of LangGraph's on it."""

import operator
from collections.abc import Iterator
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from graph.checkpoints import MaskingSerializer
from graph.stores import Stores
from graph.stores.checkpoints import Checkpoints


@pytest.fixture
def kept(stores: Stores) -> Iterator[Checkpoints]:
    made = stores.checkpoints(MaskingSerializer())
    yield made
    made.close()


class Said(TypedDict):
    said: Annotated[list[str], operator.add]
    last: str


def ask(kept: Checkpoints, thread: str, text: str) -> dict[str, Any]:
    graph = StateGraph(Said)
    graph.add_node("answer", lambda state: {"said": ["so it is"]})
    graph.add_edge(START, "answer")
    graph.add_edge("answer", END)
    compiled = graph.compile(checkpointer=kept.saver)
    done: dict[str, Any] = compiled.invoke({"said": [text], "last": text}, {"configurable": {"thread_id": thread}})
    return done


def test_a_thread_goes_on_and_two_do_not_meet(kept: Checkpoints) -> None:
    ask(kept, "a", "first")
    ask(kept, "b", "other")
    assert ask(kept, "a", "second")["said"] == ["first", "so it is", "second", "so it is"]


def test_a_thread_has_its_last_checkpoint_alone_and_goes_on_when_the_store_was_closed(kept: Checkpoints) -> None:
    assert kept.latest("a") == ""
    ask(kept, "a", "first")
    ask(kept, "b", "other")
    latest = kept.latest("a")
    for thread in ("a", "b"):
        there = kept.saver.list({"configurable": {"thread_id": thread}})
        assert [one.checkpoint["id"] for one in there] == [kept.latest(thread)]
    kept.close()
    assert ask(kept, "a", "second")["said"][0] == "first" and kept.latest("a") > latest


def test_what_is_forgotten_begins_anew_and_is_counted_once(kept: Checkpoints) -> None:
    ask(kept, "a", "first")
    ask(kept, "b", "other")
    assert (kept.forget(["a", "never"]), kept.forget(["a"]), kept.forget([])) == (1, 0, 0)
    assert kept.latest("a") == "" and ask(kept, "a", "again")["said"] == ["again", "so it is"]
    assert ask(kept, "b", "more")["said"][0] == "other"


def test_strings_are_written_through_the_serializer(kept: Checkpoints) -> None:
    ask(kept, "a", "call 0300-1234567")
    told = str([one.checkpoint for one in kept.saver.list({"configurable": {"thread_id": "a"}})])
    assert "1234567" not in told and "[REDACTED]" in told


def test_what_is_read_is_held_to_the_types_that_are_known(kept: Checkpoints, caplog: pytest.LogCaptureFixture) -> None:
    """LangGraph says so where a serializer would let any type be made from what was stored."""
    ask(kept, "a", "first")
    assert ask(kept, "a", "second")["last"] == "second" and caplog.text == ""


def test_what_else_goes_wrong_inside_is_raised_as_it_is(kept: Checkpoints) -> None:
    with pytest.raises(KeyError), kept.outages():
        raise KeyError("not a matter of the store")
