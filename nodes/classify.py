"""classify: what the question wants, and what to look for, with a follow-up completed from memory."""

from typing import Any

from graph import memory
from graph.policy import intent
from graph.state import State


def classify(state: State) -> dict[str, Any]:
    question, kind = state["question"], state["options"]["memory"]
    follow_up = memory.resolve(question, state["memory"], kind)
    return {
        "intent": intent.classify(question),
        "listing": intent.inventory(follow_up.query),
        "query": " ".join(follow_up.query.split()),
        "follow_up": {"about": follow_up.about, "doc_ids": list(follow_up.doc_ids)} if follow_up.turns_used else {},
        "turns_used": len(memory.recalled(state["memory"], kind)),
    }
