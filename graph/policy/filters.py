"""Each guard alone, as a filter (requirement X11): the objects that `cordon scan|mask|check|repair` print."""

from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

from graph.errors import BadInput
from graph.policy import grounding, pii, rubric, threats
from graph.policy import repair as ladder
from graph.policy.grounding import entailment
from graph.policy.question import rewrite
from graph.policy.threats.detector import Detector
from graph.policy.threats.thresholds import Thresholds

_AROUND = 200  # characters that tell whether a word is a secret


def scan(
    text: str,
    source: str = "question",
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> dict[str, Any]:
    """Action, risk 0-100, the six scores 0-1, threats and the safe rewrite ("" when there is none)."""
    return scan_many([text], source, detector, thresholds)[0]


def scan_many(
    texts: Sequence[str],
    source: str = "question",
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> list[dict[str, Any]]:
    """`scan` of each, in less time than one by one."""
    if source not in get_args(threats.TextSource):
        raise BadInput(f"source {source!r} is neither question nor document.")
    if source == "document":
        return [_scanned(text, threats.assess(text, source="document", detector=detector), "") for text in texts]
    assessments = threats.assess_questions(texts, encode=True, detector=detector, thresholds=thresholds)
    judge = partial(threats.assess, encode=True, thresholds=thresholds)
    whole = partial(judge, detector=detector)
    return [
        _scanned(text, assessment, rewrite.rescued(text, assessment, judge, whole))
        for text, assessment in zip(texts, assessments, strict=True)
    ]


def _scanned(text: str, assessment: threats.Assessment, safe: str) -> dict[str, Any]:
    return {
        "action": "ALLOW_WITH_GUARDRAILS" if safe else assessment.action,
        "risk_score": min(assessment.risk_score, 79) if safe else assessment.risk_score,
        "scores": assessment.scores,
        "threats": [
            {
                "type": f.type,
                "severity": rubric.severity(f.score),
                "score": round(f.score, 4),
                "evidence": _quoted(text, f.start, f.end),
            }
            for f in assessment.findings
        ],
        "rewrite": rewrite.PREFIX + pii.mask(safe).text if safe else "",
    }


def _quoted(text: str, start: int, end: int) -> str:
    """The range, masked in the light of what stands around it."""
    begin = max(0, start - _AROUND)
    masked = pii.mask(text[begin : end + _AROUND])
    a, b = masked.to_masked(start - begin, end - begin)
    return masked.text[a:b][:200]


def mask(text: str, *, typed: bool = False) -> dict[str, Any]:
    """The masked text, and each span's half-open offsets in `text` with its type; `typed` as for `pii.mask`."""
    masked = pii.mask(text, typed=typed)
    return {"text": masked.text, "spans": [{"start": s.start, "end": s.end, "type": s.type} for s in masked.spans]}


def check(claim: str, evidence: Sequence[str], encoder: entailment.Encoder = entailment.margins) -> dict[str, Any]:
    """The best support among the evidence, its three scores, which sum to 1; `best` holds offsets in
    evidence[index]."""
    supports = grounding.supports(claim, evidence, encoder) or [grounding.Support()]
    index = max(range(len(supports)), key=lambda at: supports[at].score)
    best = supports[index]
    return {
        "supported": best.score >= grounding.SUPPORTED_FROM,
        "score": best.score,
        "scores": {
            "supported": best.score,
            "contradicted": best.contradicted,
            "neutral": round(1 - best.score - best.contradicted, 4),
        },
        "best": {"index": index, "start": best.start, "end": best.end},
    }


def repair(text: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """Raises BadInput for a schema that cannot be used."""
    if schema is not None:
        from graph.policy.repair.schema import usable

        usable(schema)
    repaired = ladder.repair(text, schema)
    return {"ok": repaired.ok, "value": repaired.value, "steps": repaired.steps}
