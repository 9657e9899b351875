"""What is wrong with a text: findings, six scores, and the risk and action that follow from them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from graph.policy import rubric
from graph.policy.canonical import canonicalise
from graph.policy.rubric import Action, Finding
from graph.policy.threats import cross_tenant, evasion, harm, injection, leakage, markup, planted, toxicity

Source = Literal["question", "document"]
SCORES = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm")
_SCORE_OF = {
    "prompt_injection": "injection",
    "jailbreak": "injection",
    "prompt_extraction": "injection",
    "obfuscation": "injection",
    "data_leakage": "leakage",
    "secret": "leakage",
    "cross_tenant": "cross_tenant",
    "policy_evasion": "evasion",
    "toxicity": "toxicity",
    "harmful_request": "harm",
}

Detector = Callable[[str, str], list[Finding]]  # canonical text, the asker's tenant → findings
DETECTORS: dict[Source, tuple[Detector, ...]] = {
    "question": (
        injection.find,
        leakage.find,
        cross_tenant.find,
        evasion.find,
        toxicity.find,
        harm.find,
        markup.find,
    ),
    "document": (injection.find, planted.find),
}


@dataclass(frozen=True)
class Assessment:
    findings: tuple[Finding, ...]  # strongest first; offsets in the text that was given
    scores: dict[str, float]  # each of SCORES, 0-1
    risk_score: int  # 0-100
    action: Action


def assess(text: str, *, source: Source = "question", tenant: str = "") -> Assessment:
    """Judge a text by the rules. Deterministic; linear in the length of the text."""
    canonical = canonicalise(text)
    found = []
    for detector in DETECTORS[source]:
        for finding in detector(canonical.text, tenant):
            start, end = canonical.span(finding.start, finding.end)
            found.append(Finding(finding.type, finding.score, start, end, finding.why))
    found.sort(key=lambda f: (-f.score, f.start, f.end, f.type))
    scores = dict.fromkeys(SCORES, 0.0)
    for finding in found:
        name = _SCORE_OF[finding.type]
        scores[name] = max(scores[name], finding.score)
    risk = rubric.risk([score for score in scores.values() if score > 0])
    return Assessment(tuple(found), scores, risk, rubric.action(risk))
