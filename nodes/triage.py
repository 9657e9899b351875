"""triage: how risky the question is, by the guards and the operator's detector; a model's opinion may raise the risk,
never lower it."""

from collections.abc import Sequence
from functools import partial

from langgraph.runtime import Runtime

from graph.context import Context, granted, principal
from graph.models.opinion import Opinion
from graph.policy import rubric
from graph.policy.answer import refusals
from graph.policy.evidence.redaction import PLACEHOLDER
from graph.policy.question import rewrite
from graph.policy.rubric import ACTIONS, Action
from graph.policy.threats import Assessment, assess
from graph.policy.threats.detector import Detector
from graph.policy.threats.thresholds import Thresholds
from graph.state import State, TurnVerdict

_CONTROLS = {
    "ALLOW": [],
    "ALLOW_WITH_GUARDRAILS": ["answer from policy documents only", "leave out steps that help to evade a rule"],
    "BLOCK": ["do not call the generator", "record the attempt"],
}
_FILLER = "0" * len(PLACEHOLDER)
_GUARDED = "Cordon explains the rule and its reasons, and what may be done instead; it gives no way round it."


def triage(
    state: State,
    runtime: Runtime[Context],
    *,
    opinion: Opinion | None,
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> State:
    """A block that a reviewer granted on appeal becomes ALLOW_WITH_GUARDRAILS, at the score just below a block."""
    tenant = principal(runtime).tenant_id
    question = state["question"]
    own = "pii_in_question" in state["flags"] and "placeholder_in_question" not in state["flags"]
    judge = partial(_judged, tenant=tenant, own=own, thresholds=thresholds)
    whole = partial(judge, detector=detector)
    assessment = whole(question)
    safe = rewrite.rescued(question, assessment, judge, whole)
    if state["follow_up"] and not safe:
        completed = whole(state["query"])  # an attack may be told in two halves
        if completed.risk_score > assessment.risk_score:
            assessment, question = completed, state["query"]
    verdict = _verdict(state["turn"], assessment, question, safe)
    update: State = {"rewrite": safe}
    if opinion is not None and verdict["action"] != "BLOCK":
        second = opinion(question)
        update["prompts"] = state["prompts"] | second.prompts
        if second.risk_score > verdict["risk_score"]:
            action = rubric.action(second.risk_score)
            verdict = verdict | {
                "risk_score": second.risk_score,
                "action": action,
                "risk_rationale": f"{verdict['risk_rationale']} The model: {second.rationale}",
                "safe_response": _safe_response(action, [(t["type"], t["score"]) for t in verdict["threats"]]),
                "recommended_controls": _CONTROLS[action],
            }
    if granted(runtime) and verdict["action"] == "BLOCK" and rubric.grantable(verdict["threats"]):
        verdict = verdict | {
            "action": "ALLOW_WITH_GUARDRAILS",
            "risk_score": rubric.BLOCKED_FROM - 1,
            "risk_rationale": f"{verdict['risk_rationale']} A reviewer granted it on appeal.",
            "safe_response": _safe_response("ALLOW_WITH_GUARDRAILS", []),
            "recommended_controls": _CONTROLS["ALLOW_WITH_GUARDRAILS"],
        }
    return {**update, "verdict": verdict}


def _judged(
    text: str, *, tenant: str, own: bool, detector: Detector | None = None, thresholds: Thresholds | None
) -> Assessment:
    """Where all that is masked is the asker's `own`, the guards read a filler: to ask for masked data is an attack, to
    give one's own number is none. The filler is as long as the placeholder, so that the positions of findings hold."""
    text = text.replace(PLACEHOLDER, _FILLER) if own else text
    return assess(text, tenant=tenant, encode=True, detector=detector, thresholds=thresholds)


def enforce(state: State) -> Action:
    """The deterministic edge: the verdict of this very turn decides, nothing else."""
    verdict = state["verdict"]
    if verdict["turn"] != state["turn"] or verdict["action"] not in ACTIONS:
        raise RuntimeError("this turn was never assessed")
    return verdict["action"]


def _verdict(turn: str, assessment: Assessment, question: str, safe: str) -> TurnVerdict:
    # With a legitimate remainder the question goes on, guarded, without its attack (requirement C3).
    action, score = ("ALLOW_WITH_GUARDRAILS", 79) if safe else (assessment.action, assessment.risk_score)
    kinds = sorted({f.type for f in assessment.findings if f.score >= 0.3})
    why = "; ".join(dict.fromkeys(f.why for f in assessment.findings if f.score >= 0.3)) or "no threat found"
    return {
        "turn": turn,
        "action": action,  # type: ignore[typeddict-item]
        "risk_score": score,
        "risk_rationale": f"{', '.join(kinds)}: {why}." if kinds else f"{why}.",
        "threats": [
            {
                "type": f.type,
                "severity": rubric.severity(f.score),
                "score": round(f.score, 3),
                "evidence": question[f.start : f.end][:200],
                "exploit_path": f.why,
            }
            for f in assessment.findings
        ],
        "safe_response": _safe_response(action, [(f.type, round(f.score, 3)) for f in assessment.findings]),
        "recommended_controls": _CONTROLS[action],
    }


def _safe_response(action: str, threats: Sequence[tuple[str, float]]) -> str:
    if action == "BLOCK":
        return refusals.TEXTS[refusals.code_for(threats)]  # as `refuse` will say it
    return _GUARDED if action == "ALLOW_WITH_GUARDRAILS" else ""
