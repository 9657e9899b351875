"""validate: lets out only sentences that this turn's evidence supports, each with the verbatim quote that does."""

from typing import Any, Literal

from graph.policy import pii, plain
from graph.state import State
from graph.verified import Verified
from nodes.repair import TRIES


def validate(state: State) -> dict[str, Any]:
    value, released = state["draft"]["value"], state["released"]
    flags = list(state["flags"])
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    held = Verified(state["evidence"], guarded=guarded, before=(released["sentences"], released["citations"]))
    if value is None and not released["sentences"]:
        return {"sentences": [], "citations": [], "flags": [*flags, "malformed_output"]}
    value = value or {"sentences": []}  # what left already stands; nothing more can be read out of the draft
    claims = value["basis"] if "basis" in value else value["sentences"]
    judged = 0 if state["repairs"] else released["claims"]  # a draft written anew is judged from its beginning
    dropped = judged - len(released["sentences"])
    for claim in claims[judged:] if value.get("answered", True) else []:
        dropped += held.add(claim) is None
    errors = [] if held.sentences or not dropped else ["No sentence was supported by the source it names."]
    if dropped:
        flags.append("unsupported_removed")
    return {
        "sentences": held.sentences,
        "citations": held.citations,
        "assessment": _assessment(value) if "basis" in value else {},
        "flags": list(dict.fromkeys(flags)),
        "draft": {**state["draft"], "errors": errors},
    }


def grounded(state: State) -> Literal["repair", "respond"]:
    """Back to the model when it answered and nothing of it held, as long as there are tries left."""
    draft = state["draft"]
    return "repair" if draft["errors"] and draft["value"] is not None and state["repairs"] < TRIES else "respond"


def _assessment(value: dict[str, Any]) -> dict[str, Any]:
    """The design without live links or markup, its weights made to sum to the weighting."""
    from graph.models.assessment import apportion

    clean = {key: _plain(item) for key, item in value.items() if key != "basis"}
    weights = [row["weight"] for row in clean["rubric"]]
    if sum(weights) != clean["weighting"]:
        fitted = apportion([max(w, 1) for w in weights], clean["weighting"])
        clean["rubric"] = [{**row, "weight": w} for row, w in zip(clean["rubric"], fitted, strict=True)]
    return clean


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return plain.text(pii.mask(value).text)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return {key: _plain(item) for key, item in value.items()} if isinstance(value, dict) else value
