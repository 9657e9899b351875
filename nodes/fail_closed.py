"""fail_closed: any stage that raises leads here, and from here only to refuse, or to record when refusing or publishing
failed. What the run had made is thrown away; but an answer that waited for a reviewer, and was approved while something
was away, waits on."""

import uuid
from typing import Any, Literal

from langgraph.errors import NodeError
from langgraph.types import Command

from graph.errors import BadInput, CordonError, Forbidden, Unavailable
from graph.policy.answer import refusals
from graph.state import State, fresh_turn
from graph.timestamps import timestamp

_UNDECIDED = {"action": "BLOCK", "risk_score": 100, "risk_rationale": "not assessed: the guard failed."}


def fail_closed(state: State, error: NodeError) -> Command[Literal["refuse", "record", "review"]]:
    """Raises the cause where `record` itself failed: then the run fails, and nothing leaves."""
    cause = error.error
    if error.node == "record":
        raise cause
    code = "Forbidden" if isinstance(cause, Forbidden) else "BadInput" if isinstance(cause, BadInput) else "Unavailable"
    expected = isinstance(cause, BadInput | Unavailable)
    # The text of an unexpected error may quote a document: only its kind is told.
    message = str(cause) if expected else f"the stage {error.node} failed ({type(cause).__name__})."
    hint = cause.hint if isinstance(cause, CordonError) else "Try again; `cordon doctor` tells what is wrong."
    if error.node != "admit" and state["review"]["said"] is not None:  # the answer waits on, and the reviewer is told
        problem = f"it could not be carried out: {message} {hint}".strip()
        return Command(goto="review", update={"review": {**state["review"], "said": None, "problem": problem}})
    update: dict[str, Any] = {
        "error": {"code": code, "stage": error.node, "message": message, "hint": hint},
        "evidence": [],
        "draft": fresh_turn("", "")["draft"],
        "sentences": [],
        "citations": [],
        "refusal": None,
        "remembered": None,
    }
    if error.node != "admit" and state["verdict"]["turn"] != state["turn"]:  # what nobody judged is not allowed
        update["verdict"] = state["verdict"] | _UNDECIDED
    if error.node == "admit":  # there is no clean turn yet, only the one before and the raw question
        update = {**fresh_turn(uuid.uuid4().hex, timestamp()), "question": "", **update}
    if error.node in ("refuse", "publish"):  # these may not be tried again, but the run is still recorded
        notice = refusals.UNAVAILABLE.format(what=message, hint=hint).strip()
        update |= {"decision": "unavailable", "answer": notice, "confidence": "low", "artifacts": {}}
        return Command(goto="record", update=update)
    return Command(goto="refuse", update=update)
