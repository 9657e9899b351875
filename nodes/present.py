"""present: the guard's evidence itself is what was asked for. No generator, no sentence of anybody's."""

from graph.state import State


def present(state: State) -> State:
    found = len(state["evidence"])
    return {
        "decision": "answer" if found else "no_answer",
        "answer": "",
        "sentences": [],
        "citations": [],
        "reasoning": f"A search: {found} permitted passages, masked.",
    }
