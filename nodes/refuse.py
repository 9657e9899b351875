"""refuse: the canonical text for a block, for nothing permitted, or for an outage. No model, no document."""

from graph.policy.answer import refusals
from graph.state import State


def refuse(state: State) -> State:
    """An error of the kind Forbidden reads like nothing permitted: nobody learns which of the two it was."""
    nothing: State = {"sentences": [], "citations": [], "confidence": "low"}
    error = state["error"]
    if error is not None and error["code"] != "Forbidden":
        text = refusals.UNAVAILABLE.format(what=error["message"], hint=error["hint"]).strip()
        return {
            **nothing,
            "decision": "unavailable",
            "answer": text,
            "refusal": None,
            "reasoning": f"Stage {error['stage']} could not do its work.",
        }
    if error is not None or state["refusal"] is not None:
        refusal = refusals.refusal("AccessDenied")
        why = "Nothing that may be shown to the asker remained."
    else:
        threats = [(t["type"], t["score"]) for t in state["verdict"]["threats"]]
        refusal = refusals.refusal(refusals.code_for(threats))
        why = f"Blocked before generation at risk {state['verdict']['risk_score']}."
    return {**nothing, "decision": "refusal", "refusal": refusal, "answer": refusal["text"], "reasoning": why}
