"""What is asked in place of a wish to get round a rule."""

import pytest

from graph.state import State
from nodes.constrain import constrain


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("How can students get around similarity checks?", "similarity checks"),
        ("What is the best way to cheat on the take-home exam?", "the take-home exam"),
        ("How do I use a chatbot to write my thesis without being caught?", "using a chatbot to write my thesis"),
        ("How can I use AI for my essay without the teacher noticing?", "using AI for my essay"),
        ("I want to get my essay written without getting caught", "getting my essay written"),
        ("Can I skip the induction?", "the induction"),
    ],
)
def test_the_topic_is_a_phrase(question: str, topic: str) -> None:
    state: State = {"query": question, "rewrite": "", "flags": []}
    made = constrain(state)
    assert made["query"] == f"What is allowed with {topic}, and what does the policy say?"
    assert made["rewrite"].endswith(f"What does the policy say about {topic}?")


def test_a_trick_to_mend_a_thing_is_no_wish_to_get_round_a_rule() -> None:
    question = "The pad does not load any more, is there a trick to get the text back?"
    made = constrain({"query": question, "rewrite": "", "flags": []})
    assert "query" not in made and made["constraints"] and made["flags"] == ["guarded"]
