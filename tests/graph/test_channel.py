"""The verdict channel: a join, keyed by the turn, that cannot be overwritten and survives a checkpoint."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.errors import EmptyChannelError, InvalidUpdateError
from langgraph.graph import END, START, StateGraph
from langgraph.types import Overwrite

from graph.state import State, TurnVerdict, VerdictChannel, join

ORDER = ("ALLOW", "ALLOW_WITH_GUARDRAILS", "BLOCK")


def verdict(action: Any, risk: int = 0, turn: str = "t", threats: Any = ()) -> TurnVerdict:
    return TurnVerdict(
        turn=turn,
        action=action,
        risk_score=risk,
        risk_rationale="",
        threats=list(threats),
        safe_response="",
        recommended_controls=[],
    )


VERDICTS = st.builds(
    verdict,
    st.sampled_from(ORDER),
    st.integers(0, 100),
    threats=st.lists(st.sampled_from([{"type": "a"}, {"type": "b"}]), max_size=2, unique_by=str),
)


@given(VERDICTS, VERDICTS)
def test_within_a_turn_action_and_risk_only_rise(old: TurnVerdict, new: TurnVerdict) -> None:
    joined = join(old, new)
    assert ORDER.index(joined["action"]) == max(ORDER.index(v["action"]) for v in (old, new))
    assert joined["risk_score"] == max(old["risk_score"], new["risk_score"])
    assert all(t in joined["threats"] for v in (old, new) for t in v["threats"])


@given(st.lists(VERDICTS, min_size=2, max_size=4))
def test_the_order_of_updates_does_not_change_action_or_risk(verdicts: list[TurnVerdict]) -> None:
    ends = set()
    for order in itertools.islice(itertools.permutations(verdicts), 6):
        channel = VerdictChannel()
        channel.update(list(order))
        ends.add((channel.get()["action"], channel.get()["risk_score"]))
    assert len(ends) == 1


@given(VERDICTS)
def test_joining_a_verdict_with_itself_changes_nothing(one: TurnVerdict) -> None:
    assert join(one, one) == one


@given(VERDICTS, VERDICTS)
def test_a_verdict_of_another_turn_starts_anew(old: TurnVerdict, new: TurnVerdict) -> None:
    fresh: TurnVerdict = {**new, "turn": "next"}
    assert join(old, fresh) == fresh


@pytest.mark.parametrize(
    "wrong", [Overwrite(verdict("ALLOW")), Overwrite(None), None, "ALLOW", {}, {"risk_score": 0}, 3, []]
)
def test_what_is_no_verdict_is_refused_and_changes_nothing(wrong: Any) -> None:
    channel = VerdictChannel()
    channel.update([verdict("BLOCK", 97)])
    with pytest.raises(InvalidUpdateError):
        channel.update([wrong])
    assert channel.get()["action"] == "BLOCK"


@pytest.mark.parametrize("action", ["", "allow", "PASS", None, 0])
def test_an_unknown_action_is_refused(action: Any) -> None:
    with pytest.raises(InvalidUpdateError, match="unknown action"):
        join(None, verdict(action))


def test_an_empty_channel_says_that_it_is_empty() -> None:
    channel = VerdictChannel()
    assert not channel.is_available()
    with pytest.raises(EmptyChannelError):
        channel.get()
    assert channel.update([]) is False


def test_a_copy_is_apart() -> None:
    channel = VerdictChannel(TurnVerdict, "verdict")
    channel.update([verdict("ALLOW")])
    other = channel.copy()
    other.update([verdict("BLOCK", 90)])
    assert (channel.get()["action"], other.get()["action"]) == ("ALLOW", "BLOCK")


def _graph(second: Any) -> Any:
    g = StateGraph(State)
    g.add_node("first", lambda state: {"verdict": verdict("BLOCK", 97)})
    g.add_node("second", second)
    g.add_edge(START, "first")
    g.add_edge("first", "second")
    g.add_edge("second", END)
    return g.compile(checkpointer=InMemorySaver())


def test_a_block_survives_a_checkpoint_and_a_softer_stage() -> None:
    graph, config = _graph(lambda state: {"verdict": verdict("ALLOW", 3)}), {"configurable": {"thread_id": "c"}}
    assert graph.invoke({"question": "q"}, config)["verdict"]["action"] == "BLOCK"
    held = graph.get_state(config).values["verdict"]
    assert (held["action"], held["risk_score"]) == ("BLOCK", 97)
    restored = VerdictChannel().from_checkpoint(held)
    restored.update([verdict("ALLOW", 5)])
    assert restored.get()["action"] == "BLOCK"


def test_overwrite_inside_the_graph_fails_the_run() -> None:
    """LangGraph's Overwrite passes a plain reducer by; here it raises."""
    graph = _graph(lambda state: {"verdict": Overwrite(verdict("ALLOW"))})
    with pytest.raises(InvalidUpdateError, match="cannot be overwritten"):
        graph.invoke({"question": "q"}, {"configurable": {"thread_id": "o"}})
