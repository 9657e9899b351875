"""What is wrong with a text: findings, six scores, and the risk and action that follow from them.

Three layers, the worst counts: precise rules on the canonical text; the same rules on what disguises hide; a learned
model on both. A detector of the operator's own joins them, or takes the learned model's place. Importing this costs
nothing: numpy and the weights load with the first question.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graph.policy import rubric
from graph.policy.rubric import Action, Finding, ThreatType
from graph.policy.text.canonical import Canonical, canonicalise
from graph.policy.threats import (
    cross_tenant,
    evasion,
    frame,
    injection,
    leakage,
    learned,
    mention,
    organisational_contacts,
    secrets,
    toxicity,
    who_is,
)
from graph.policy.threats.detector import Detection, Detector, detect
from graph.policy.threats.parts import parts
from graph.policy.threats.readings import Readings, read
from graph.policy.threats.rule import Table
from graph.policy.threats.thresholds import BLOCKED, Knots, Thresholds, moved

TextSource = Literal["question", "document"]
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
_LEARNED: dict[str, tuple[ThreatType, str]] = {
    "injection": ("prompt_injection", "reads like an attempt to steer the assistant"),
    "leakage": ("data_leakage", "reads like a request for personal or confidential data"),
    "cross_tenant": ("cross_tenant", "reads like a request for another tenant's data"),
    "evasion": ("policy_evasion", "reads like a wish to get round a rule"),
    "toxicity": ("toxicity", "reads like abuse"),
    "harm": ("harmful_request", "reads like a request for help with harm"),
}
_STEERING = frozenset({"prompt_injection", "jailbreak", "prompt_extraction"})
_ALONE = _STEERING | {"obfuscation", "secret", "data_leakage"}  # their rules are precise
_SIGN = 0.2  # least score of the learned layer with which other rules may block
_GUARDED_MOST = 0.79  # the guarded middle is answered with the rule's explanation, not refused (requirement D4)
_HIDDEN_MOST = 0.85
_FRAMED = 0.35  # more than frame.DAMPED, since the learned layer knows something of frames itself
_HARMLESS_MOST = 0.29  # a sentence that forbids the attack is no attack
_READ = 8_000  # characters in which the learned layer's exceptions look for words
_BESIDE = 80  # characters that hold a plea and a reason; more could ask for something else
_SCORED = 24_000  # characters of a document that the learned layer scores, for information only
_MOST = 20  # findings of one text; a long one may hold thousands

Find = Callable[[str, str], list[Finding]]  # canonical text, the asker's tenant → findings


def _plain(name: str) -> Find:
    """Finds what a table's rules match, without exceptions."""
    table = Table(name)
    return lambda text, tenant: table.find(text)


_QUESTION: tuple[Find, ...] = (
    injection.find,
    leakage.find,
    cross_tenant.find,
    evasion.find,
    toxicity.find,
    _plain("harm"),
    _plain("markup"),
    secrets.find,
)


@dataclass(frozen=True)
class Assessment:
    """What the guards make of one text."""

    findings: tuple[Finding, ...]  # strongest first; offsets in the text that was given
    scores: dict[str, float]  # each of SCORES, 0-1
    risk_score: int  # 0-100
    action: Action


def assess(
    text: str,
    *,
    source: TextSource = "question",
    tenant: str = "",
    encode: bool = False,
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> Assessment:
    """Judge a text. Deterministic; linear in its length.

    With `encode` the encoder reads a question that no rule blocks alone: it knows paraphrases better than n-grams do. A
    document is judged for instructions planted in it, a question for everything, by the tenant's `thresholds`
    where there are any. Raises Unavailable when the detector breaks.
    """
    if source == "document":
        return _document(text, detector)
    return assess_questions([text], tenant=tenant, encode=encode, detector=detector, thresholds=thresholds)[0]


def _document(text: str, detector: Detector | None) -> Assessment:
    """Judged by what is planted in it. The other scores of the learned layer are reported and decide nothing."""
    from graph.policy.threats import planted

    canonical = canonicalise(text)
    findings, planted_scores = planted.assess(canonical)
    verdict = concluded([*findings, *instructions(text, detector)], planted_scores)
    exposed = [_placed(finding, canonical) for finding in secrets.find(canonical.text, "")]
    heads = learned.scores([mention.without(canonical.text[:_SCORED])])
    scores = {
        name: max(score, heads[name].score if name != "injection" else 0.0) for name, score in verdict.scores.items()
    }
    return replace(verdict, findings=(*verdict.findings, *exposed)[:_MOST], scores=scores)


def instructions(text: str, detector: Detector | None) -> list[Finding]:
    """What the detector would block as an attempt to steer in a document, where it reads them."""
    if detector is None or not detector.documents:
        return []
    (detection,) = detect(detector, [[text]], [BLOCKED])
    return [finding for finding in _detected(detection) if finding.type == "prompt_injection"]


def _detected(detection: Detection) -> list[Finding]:
    return [
        Finding(_LEARNED[head][0], score, start, end, f"{_LEARNED[head][1]} (detector)")
        for head, score, start, end in detection.places
    ]


def assess_questions(
    texts: Sequence[str],
    *,
    tenant: str = "",
    encode: bool = False,
    detector: Detector | None = None,
    thresholds: Thresholds | None = None,
) -> list[Assessment]:
    """`assess` of each question. The encoder reads what no rule blocks alone, the detector what is not yet blocked."""
    readings = [read(text) for text in texts]
    ruled = [_ruled(reading, tenant) for reading in readings]
    if detector is not None and detector.replaces:
        verdicts = [concluded(findings, dict.fromkeys(SCORES, 0.0)) for findings in ruled]
    else:
        tuned = learned.tuned() if encode else None
        knots = thresholds.for_tenant(tenant) if thresholds else {}
        verdicts = [_judged(*question, tuned, knots) for question in zip(readings, ruled, strict=True)]
    open_ = [at for at, verdict in enumerate(verdicts) if verdict.action != "BLOCK"]
    if detector is not None and open_:
        detections = detect(detector, [[texts[at], *readings[at].learned[:2]] for at in open_])
        for at, detection in zip(open_, detections, strict=True):
            verdict = verdicts[at]
            raised = {head: max(score, detection.scores.get(head, 0.0)) for head, score in verdict.scores.items()}
            verdicts[at] = concluded([*verdict.findings, *_detected(detection)], raised)
    return verdicts


def _judged(
    readings: Readings, ruled: list[Finding], tuned: learned.Tuned | None, thresholds: Mapping[str, Knots]
) -> Assessment:
    """By the rules and the learned layer; the encoder is spared where a rule blocks alone."""
    if any(f.type in _ALONE and rubric.action(round(f.score * 100)) == "BLOCK" for f in ruled):
        tuned = None
    findings, scores = _learned(readings, learned.scores(readings.learned, tuned), thresholds)
    return concluded([*findings, *(_agreed(f, scores) if tuned else f for f in ruled)], scores)


def _agreed(finding: Finding, scores: dict[str, float]) -> Finding:
    """Only guarded, where a rule that does not block alone finds what the learned layer sees no sign of."""
    if finding.type in _ALONE or scores[_SCORE_OF[finding.type]] >= _SIGN:
        return finding
    return replace(finding, score=min(finding.score, _GUARDED_MOST))


def concluded(findings: list[Finding], scores: dict[str, float]) -> Assessment:
    """The assessment that follows from findings and from what the learned layer scored."""
    scores = dict(scores)
    findings = sorted(findings, key=lambda f: (-f.score, f.start, f.end, f.type))
    for finding in findings:
        name = _SCORE_OF[finding.type]
        scores[name] = max(scores[name], finding.score)
    serious = [score for score in scores.values() if score >= rubric.GUARDED_FROM / 100] or [max(scores.values())]
    risk = rubric.risk(serious)
    return Assessment(tuple(findings[:_MOST]), scores, risk, rubric.action(risk))


def _learned(
    readings: Readings, hits: dict[str, learned.HeadScore], thresholds: Mapping[str, Knots]
) -> tuple[list[Finding], dict[str, float]]:
    """Findings and scores of the learned layer; less sure where a text only asks about a thing."""
    text = readings.learned[0]
    framed = frame.frames(text)
    harmless = {
        "evasion": evasion.prevents(text[:_READ]),
        "leakage": organisational_contacts.of_a_function(text, beside=_BESIDE) or who_is.is_all_of(text),
    }
    findings, scores = [], {}
    for head, hit in hits.items():
        place = (hit.start, hit.end) if hit.end else (0, len(text))
        ranges = {"injection": framed.inquiries + framed.reports, "leakage": framed.inquiries}.get(head, ())
        score = moved(hit.score, head, thresholds) * (_FRAMED if frame.covers(ranges, *place) else 1.0)
        if frame.covers(framed.prohibitions, *place) or harmless.get(head):
            score = min(score, _HARMLESS_MOST)
        # An insult is answered coolly (guarded); hatred, threats and obscenity are refused (requirement C4).
        mild = head == "evasion" or (head == "toxicity" and not toxicity.is_grave(text[:_READ]))
        score = scores[head] = min(score, _GUARDED_MOST) if mild else score
        if score >= rubric.GUARDED_FROM / 100:
            start, end = _place(readings, hit)
            findings.append(Finding(_LEARNED[head][0], score, start, end, _LEARNED[head][1]))
    return findings, scores


def _ruled(readings: Readings, tenant: str) -> list[Finding]:
    """Findings of the rules in what the text says and in what it hides; offsets in the original."""
    canonical = readings.canonical
    plain = [_placed(f, canonical, begin) for begin, part in parts(canonical.text) for f in _weighed(part, tenant)]
    return plain + _hidden(readings, tenant, {finding.type for finding in plain})


def _placed(finding: Finding, canonical: Canonical, begin: int = 0) -> Finding:
    """With offsets in the original."""
    start, end = canonical.span(finding.start + begin, finding.end + begin)
    return replace(finding, start=start, end=end)


def _weighed(text: str, tenant: str) -> list[Finding]:
    """Findings of the rules, less sure where the words are only mentioned, asked about or reported."""
    findings = [finding for find in _QUESTION for finding in find(text, tenant)]
    if not findings:
        return findings
    mentioned, framed = mention.spans(text), frame.frames(text)
    weighed = []
    for finding in findings:
        score = finding.score
        place = (finding.start, finding.end)
        if mention.inside(mentioned, *place):
            score *= mention.DAMPED
        elif (
            finding.type in _STEERING | {"data_leakage", "secret"}
            and mention.inside(framed.inquiries + framed.reports, *place)
        ) or (finding.type == "policy_evasion" and mention.inside(framed.reports, *place)):
            score *= frame.DAMPED
        weighed.append(replace(finding, score=score))
    return weighed


def _hidden(readings: Readings, tenant: str, plain: set[ThreatType]) -> list[Finding]:
    """Findings of the rules in what the text hides, placed where it is hidden; those `plain` to see are left out."""
    findings = []
    for view, text in zip(readings.views, readings.hidden, strict=True):
        start, end = readings.canonical.span(view.start, min(view.end, len(readings.canonical.text)))
        for finding in _weighed(text, tenant):
            if finding.type in plain:
                continue  # it stands there in plain words and was weighed by them
            findings.append(Finding(finding.type, finding.score, start, end, f"{finding.why} ({view.how})"))
            if finding.score >= rubric.GUARDED_FROM / 100:
                score = min(finding.score, _HIDDEN_MOST)
                findings.append(Finding("obfuscation", score, start, end, f"hides a request ({view.how})"))
    return list(dict.fromkeys(findings))


def _place(readings: Readings, hit: learned.HeadScore) -> tuple[int, int]:
    """Where in the original the learned layer saw it; the whole text where that cannot be said."""
    text = readings.canonical.text
    if hit.end == 0 or readings.learned[0] != text:
        return readings.canonical.span(0, len(text))
    return readings.canonical.span(hit.start, min(hit.end, len(text)))
