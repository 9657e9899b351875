"""present: the guard's evidence itself is what was asked for. No generator, no sentence of anybody's."""

from graph.state import State


def present(state: State) -> State:
    """Sentences and citations stay empty: the evidence is the result."""
    passages = len(state["evidence"])
    return {
        "decision": "answer" if passages else "no_answer",
        "answer": "",
        "sentences": [],
        "citations": [],
        "reasoning": f"A search: {passages} permitted passages, masked.",
    }
