"""validate: lets out only sentences that this turn's evidence supports, each with the verbatim quote that does."""

from typing import Any, Literal

from graph.answering.verified import Verified, shown
from graph.models import wording
from graph.models.chat import Generator
from graph.policy.answer import refusals
from graph.state import Draft, State
from nodes.generate import task_of
from nodes.repair import TRIES


def validate(state: State, *, generator: Generator) -> State:
    draft, released = state["draft"], state["released"]
    value, flags = draft["value"], list(state["flags"])
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    # A stream's sentences left already: the whole draft is judged, and what left does not count twice.
    held = Verified(state["evidence"], guarded=guarded, before=(released["sentences"], released["citations"]))
    for claim in _claims(value):
        held.add(claim)
    silent = value is not None and not held.sentences and _silent(value, held.dropped)
    flags += ["unsupported_removed"] if held.dropped and not silent else []
    flags += ["malformed_output"] if value is None and not held.sentences else []
    errors = ["No sentence was supported by the source it names."] if not held.sentences and held.dropped else []
    draft = {**draft, "errors": [] if silent else errors, "outcome": "", "why": ""}
    if held.sentences:
        draft["outcome"] = "partly dropped" if held.dropped else "verified"
    elif not silent:
        draft["outcome"], draft["why"] = "dropped", _why(draft, held.dropped)
        if grounded({**state, "draft": draft}) == "respond" and state["intent"]["name"] == "GENERIC_QA":
            held = _quoted(state, generator, guarded=guarded)
            flags += ["extractive_fallback"] if held.sentences else []
    return {
        "sentences": held.sentences,
        "citations": held.citations,
        "assessment": _assessment(value) if value is not None and "basis" in value else {},
        "flags": list(dict.fromkeys(flags)),
        "draft": draft,
    }


def _claims(value: dict[str, Any] | None) -> list[dict[str, Any]]:
    if value is None or not value.get("answered", True):
        return []
    claims: list[dict[str, Any]] = value["basis"] if "basis" in value else value["sentences"]
    return claims


def _silent(value: dict[str, Any], dropped: list[str]) -> bool:
    """Whether the model itself says that it has no answer: in the field, or in words."""
    return not value.get("answered", True) or any(map(wording.unknown, dropped))


def _why(draft: Draft, dropped: list[str]) -> refusals.Why:
    """Why nothing of the draft may leave."""
    if any(map(wording.declined, [*dropped, draft["text"]] if draft["value"] is None else dropped)):
        return "declined"
    if draft["cut"]:
        return "cut"
    return "unreadable" if draft["value"] is None else "unsupported"


def _quoted(state: State, generator: Generator, *, guarded: bool) -> Verified:
    """What the embedded answerer finds in the same evidence, checked like any draft."""
    held = Verified(state["evidence"], guarded=guarded)
    if not generator.extractive:
        for claim in _claims(generator.quoted(task_of(state, state["evidence"]).messages)):
            held.add(claim)
    return held


def grounded(state: State) -> Literal["repair", "respond"]:
    """Back to the model when it answered and nothing of it held, as long as there are tries left."""
    draft = state["draft"]
    return "repair" if draft["errors"] and draft["value"] is not None and state["repairs"] < TRIES else "respond"


def _assessment(value: dict[str, Any]) -> dict[str, Any]:
    """The design without live links or markup, its weights made to sum to the weighting."""
    from graph.models.assessment import apportion

    clean = {key: _defanged(item) for key, item in value.items() if key != "basis"}
    weights = [row["weight"] for row in clean["rubric"]]
    if sum(weights) != clean["weighting"]:
        fitted = apportion([max(w, 1) for w in weights], clean["weighting"])
        clean["rubric"] = [{**row, "weight": w} for row, w in zip(clean["rubric"], fitted, strict=True)]
    return clean


def _defanged(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list):
        return [_defanged(item) for item in value]
    return {key: _defanged(item) for key, item in value.items()} if isinstance(value, dict) else value
