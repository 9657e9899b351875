"""respond: the answer as people read it, with its confidence and a one-line account of how it came about."""

from typing import Any, Literal

from graph.policy import prose
from graph.policy.refusals import EMPTY_KNOWLEDGE_BASE, NOT_IN_DOCUMENTS, UNREADABLE
from graph.state import Decision, State
from graph.verified import certainty

# Support times the best cited chunk's score. Of the answers of `cordon eval answers` at or above HIGH, 0.85 came from
# the right source with the right words (n = 154), of those below it 0.55 (n = 40).
HIGH, MEDIUM = 0.45, 0.35


def respond(state: State) -> dict[str, Any]:
    decision, answer = _answer(state)
    confidence = _confidence(state) if decision == "answer" else "low"
    return {
        "decision": decision,
        "answer": answer,
        "sentences": state["sentences"] if decision == "answer" else [],
        "citations": state["citations"] if decision == "answer" else [],
        "confidence": confidence,
        "reasoning": _reasoning(state, decision),
        "draft": {**state["draft"], "text": "", "value": None, "errors": []},  # what was not let out is not kept
    }


def _answer(state: State) -> tuple[Decision, str]:
    if state["admitted"]:
        return "no_answer", state["admitted"]
    if "empty_knowledge_base" in state["flags"]:
        return "no_answer", EMPTY_KNOWLEDGE_BASE
    if not state["sentences"] and "malformed_output" in state["flags"]:
        return "no_answer", UNREADABLE
    if not state["sentences"]:
        return "no_answer", NOT_IN_DOCUMENTS
    if state["assessment"]:
        return "answer", prose.brief(state["assessment"], state["sentences"])
    return "answer", prose.joined(state["sentences"], "bullet" if state["listing"] else state["options"]["style"])


def _confidence(state: State) -> Literal["high", "medium", "low"]:
    measured = certainty(state["sentences"], state["citations"])
    return "high" if measured >= HIGH else "medium" if measured >= MEDIUM else "low"


def _reasoning(state: State, decision: Decision) -> str:
    if state["admitted"]:
        return "The question was not searched for: it did not pass the first checks."
    pieces = len(state["evidence"])
    if decision == "no_answer":
        if "malformed_output" in state["flags"]:
            return "The model's output could not be repaired, so nothing of it was used."
        return f"Looked at {pieces} permitted passages; none of them supports an answer."
    documents = len({c["doc_id"] for c in state["citations"]})
    how = {"ALLOW": "", "ALLOW_WITH_GUARDRAILS": " under guardrails", "BLOCK": ""}[state["verdict"]["action"]]
    what = f"{documents} document{'s' if documents > 1 else ''} among {pieces} permitted passages"
    return f"Answered{how} from {what}, each sentence checked against its source."
