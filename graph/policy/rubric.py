"""From findings to an action: the rubric of requirement D3, as code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

Action = Literal["ALLOW", "ALLOW_WITH_GUARDRAILS", "BLOCK"]
ACTIONS: tuple[Action, ...] = ("ALLOW", "ALLOW_WITH_GUARDRAILS", "BLOCK")  # rising
Severity = Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]
ThreatType = Literal[
    "prompt_injection",
    "jailbreak",
    "prompt_extraction",
    "data_leakage",
    "cross_tenant",
    "policy_evasion",
    "toxicity",
    "harmful_request",
    "secret",
    "obfuscation",
]

GUARDED_FROM, BLOCKED_FROM = 30, 80  # risk 0-100; requirement D3


class Threat(TypedDict):
    """One finding. `evidence` is the masked span that gave it away."""

    type: ThreatType
    severity: Severity
    score: float  # 0-1
    evidence: str
    exploit_path: str


@dataclass(frozen=True)
class Finding:
    """What a detector found: half-open offsets in the text it was given, and how sure it is (0-1)."""

    type: ThreatType
    score: float
    start: int
    end: int
    why: str


def severity(score: float) -> Severity:
    """The rubric's thresholds on the 0-1 scale: from 0.3 guarded, from 0.8 blocked, from 0.95 beyond doubt."""
    if score >= 0.95:
        return "CRITICAL"
    if score >= 0.8:
        return "HIGH"
    return "MEDIUM" if score >= 0.3 else "LOW"


def risk(scores: Sequence[float]) -> int:
    """0-100 from findings of 0-1: the worst one counts, others add a little (independent evidence, damped)."""
    if not scores:
        return 0
    first, *rest = sorted(scores, reverse=True)
    doubt = 1 - first
    for score in rest:
        doubt *= 1 - 0.25 * score
    return round(100 * (1 - doubt))


def action(risk_score: int) -> Action:
    """0-30 benign, 30-80 borderline, 80-100 blocked."""
    if risk_score >= BLOCKED_FROM:
        return "BLOCK"
    return "ALLOW_WITH_GUARDRAILS" if risk_score >= GUARDED_FROM else "ALLOW"


def grantable(threats: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a person may have a blocked question answered all the same, under guardrails: not one that asks for what
    belongs to another tenant."""
    return not any(t["type"] == "cross_tenant" and t["score"] >= GUARDED_FROM / 100 for t in threats)
