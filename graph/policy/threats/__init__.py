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
from graph.policy.threats.detector import Detector, Seen, look
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
_SIGN = 0.2  # of the learned layer, without which other rules only guard
_GUARDED_MOST = 0.79  # the guarded middle is answered with the rule's explanation, not refused (requirement D4)
_HIDDEN_MOST = 0.85
_FRAMED = 0.35  # the learned layer knows something of frames itself, so less is taken off what it finds
_FORBIDDEN_MOST = 0.29  # a sentence that forbids the attack is no attack
_LOOKED = 8_000
_BESIDE = 80  # a plea and a reason; in more something else could be asked
_TOLD = 24_000  # characters of a document that scores are told of which decide nothing
_KEPT = 20  # findings of one text; a long one may hold thousands

Find = Callable[[str, str], list[Finding]]  # canonical text, the asker's tenant → findings


def _plain(name: str) -> Find:
    """What finds what a table's rules say, without exceptions."""
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
    """Judged by what is planted in it; what else the learned layer sees in it is told and decides nothing."""
    from graph.policy.threats import planted

    canonical = canonicalise(text)
    found, highest = planted.assess(canonical)
    judged = concluded([*found, *instructions(text, detector)], highest)
    held = [_placed(finding, canonical) for finding in secrets.find(canonical.text, "")]
    told = learned.scores([mention.without(canonical.text[:_TOLD])])
    scores = {
        name: max(score, told[name].score if name != "injection" else 0.0) for name, score in judged.scores.items()
    }
    return replace(judged, findings=(*judged.findings, *held)[:_KEPT], scores=scores)


def instructions(text: str, detector: Detector | None) -> list[Finding]:
    """What the detector would block as an attempt to steer in a document, where it reads them."""
    if detector is None or not detector.documents:
        return []
    (seen,) = look(detector, [[text]], [BLOCKED])
    return [finding for finding in _seen(seen) if finding.type == "prompt_injection"]


def _seen(seen: Seen) -> list[Finding]:
    return [
        Finding(_LEARNED[head][0], score, start, end, f"{_LEARNED[head][1]} (detector)")
        for head, score, start, end in seen.places
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
    questions = [_Question.from_text(text, tenant) for text in texts]
    replaced = detector is not None and detector.replaces
    by = learned.tuned() if encode else None
    set_ = thresholds.for_tenant(tenant) if thresholds else {}
    judged = [one.ruled() if replaced else one.judged(None if one.settled else by, set_) for one in questions]
    open_ = [at for at, one in enumerate(judged) if one.action != "BLOCK"]
    if detector is not None and open_:
        seen = look(detector, [[texts[at], *questions[at].readings.learned[:2]] for at in open_])
        for at, one in zip(open_, seen, strict=True):
            raised = {head: max(score, one.scores.get(head, 0.0)) for head, score in judged[at].scores.items()}
            judged[at] = concluded([*judged[at].findings, *_seen(one)], raised)
    return judged


@dataclass(frozen=True)
class _Question:
    readings: Readings
    found: list[Finding]  # by the rules, in what it says and in what it hides

    @classmethod
    def from_text(cls, text: str, tenant: str) -> "_Question":
        readings = read(text)
        ruled = _ruled(readings, tenant)
        return cls(readings, ruled + _hidden(readings, tenant, ruled))

    @property
    def settled(self) -> bool:
        """Whether a rule blocks it alone."""
        return any(f.type in _ALONE and rubric.action(round(f.score * 100)) == "BLOCK" for f in self.found)

    def judged(self, by: learned.Tuned | None, thresholds: Mapping[str, Knots]) -> Assessment:
        found, scores = _learned(self.readings, learned.scores(self.readings.learned, by), thresholds)
        return concluded([*found, *(_agreed(f, scores) if by else f for f in self.found)], scores)

    def ruled(self) -> Assessment:
        return concluded(list(self.found), dict.fromkeys(SCORES, 0.0))


def _agreed(finding: Finding, scores: dict[str, float]) -> Finding:
    """Guards only, where a rule that does not block alone finds what the learned layer sees no sign of."""
    if finding.type in _ALONE or scores[_SCORE_OF[finding.type]] >= _SIGN:
        return finding
    return replace(finding, score=min(finding.score, _GUARDED_MOST))


def concluded(found: list[Finding], scores: dict[str, float]) -> Assessment:
    """The assessment that follows from findings and from what the learned layer scored."""
    scores = dict(scores)
    found.sort(key=lambda f: (-f.score, f.start, f.end, f.type))
    for finding in found:
        name = _SCORE_OF[finding.type]
        scores[name] = max(scores[name], finding.score)
    serious = [score for score in scores.values() if score >= rubric.GUARDED_FROM / 100] or [max(scores.values())]
    risk = rubric.risk(serious)
    return Assessment(tuple(found[:_KEPT]), scores, risk, rubric.action(risk))


def _learned(
    readings: Readings, hits: dict[str, learned.HeadScore], thresholds: Mapping[str, Knots]
) -> tuple[list[Finding], dict[str, float]]:
    """Findings and scores of the learned layer; less sure where a text only asks about a thing."""
    text = readings.learned[0]
    framed, prevented = frame.frames(text), evasion.prevents(text[:_LOOKED])
    public = organisational_contacts.of_a_function(text, beside=_BESIDE) or who_is.asked(text)
    findings, scores = [], {}
    for head, hit in hits.items():
        place = (hit.start, hit.end) if hit.end else (0, len(text))
        ranges = {"injection": framed.inquiries + framed.reports, "leakage": framed.inquiries}.get(head, ())
        score = moved(hit.score, head, thresholds) * (_FRAMED if frame.covers(ranges, *place) else 1.0)
        if (
            frame.covers(framed.prohibitions, *place)
            or (head == "evasion" and prevented)
            or (head == "leakage" and public)
        ):
            score = min(score, _FORBIDDEN_MOST)
        # An insult is answered coolly (guarded); hatred, threats and obscenity are refused (requirement C4).
        mild = head == "evasion" or (head == "toxicity" and not toxicity.is_grave(text[:_LOOKED]))
        score = scores[head] = min(score, _GUARDED_MOST) if mild else score
        if score >= rubric.GUARDED_FROM / 100:
            start, end = _place(readings, hit)
            findings.append(Finding(_LEARNED[head][0], score, start, end, _LEARNED[head][1]))
    return findings, scores


def _ruled(readings: Readings, tenant: str) -> list[Finding]:
    """Findings of the rules in the text as it stands; offsets in the original."""
    canonical = readings.canonical
    return [
        _placed(finding, canonical, begin)
        for begin, part in parts(canonical.text)
        for finding in _weighed(part, tenant)
    ]


def _placed(finding: Finding, canonical: Canonical, begin: int = 0) -> Finding:
    """With offsets in the original."""
    start, end = canonical.span(finding.start + begin, finding.end + begin)
    return replace(finding, start=start, end=end)


def _weighed(text: str, tenant: str) -> list[Finding]:
    """Findings of the rules, less sure where the words are only mentioned, asked about or reported."""
    found = [finding for find in _QUESTION for finding in find(text, tenant)]
    if not found:
        return found
    mentioned, framed = mention.spans(text), frame.frames(text)
    weighed = []
    for finding in found:
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


def _hidden(readings: Readings, tenant: str, ruled: Sequence[Finding]) -> list[Finding]:
    """Findings of the rules in what the text hides, placed where it is hidden."""
    found = []
    plain = {finding.type for finding in ruled}
    for view, text in zip(readings.views, readings.hidden, strict=True):
        start, end = readings.canonical.span(view.start, min(view.end, len(readings.canonical.text)))
        for finding in _weighed(text, tenant):
            if finding.type in plain:
                continue  # it stands there in plain words and was weighed by them
            found.append(Finding(finding.type, finding.score, start, end, f"{finding.why} ({view.how})"))
            if finding.score >= rubric.GUARDED_FROM / 100:
                score = min(finding.score, _HIDDEN_MOST)
                found.append(Finding("obfuscation", score, start, end, f"hides a request ({view.how})"))
    return list(dict.fromkeys(found))


def _place(readings: Readings, hit: learned.HeadScore) -> tuple[int, int]:
    """Where in the original the learned layer saw it; the whole text where that cannot be said."""
    text = readings.canonical.text
    if hit.end == 0 or readings.learned[0] != text:
        return readings.canonical.span(0, len(text))
    return readings.canonical.span(hit.start, min(hit.end, len(text)))
