"""Use and mention: "ignore all rules" in quotation marks, in a sentence that talks about it, commands nobody."""

import re
from collections.abc import Sequence

from graph.policy.text.sentences import split
from graph.policy.threats.lazy import pattern

DAMPED = 0.15  # what is left of the score of a finding that is only mentioned
PLACEHOLDER = "…"

_LONGEST = 300
_QUOTED = pattern(
    rf"\"([^\"\n]{{3,{_LONGEST}}})\"|(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){{3,{_LONGEST}}})'(?!\w)|`([^`\n]{{3,{_LONGEST}}})`"
)
# Sentences that talk about words.
_TALK = pattern(
    r"\b(?:phrase|word|wording|term|string|sentence|title|headline|caption|message|line|row|pattern|sample|example|"
    r"instance|fixture|quote|quotation|attack|attacker|injection|jailbreak|exploit|threat|payload|adversar\w*|"
    r"malicious|phishing|red[- ]team\w*|detect\w*|defen[cds]\w*|filter|guard\w*|block|refus\w*|flag|classif\w*|label|"
    r"categor\w*|annotat\w*|test|assert\w*|unit|suite|documentation|docs?|readme|changelog|paper|article|survey|report|"
    r"postmortem|slide|lesson|lecture|course|exercise|quiz|guide|guidance|guideline|policy|log|dataset|data set|corpus|"
    r"corpora|explain|describe|mention|contain|include|read|say|state|claim|list|show|display|mean|call|cite|"
    r"translate|translation|proofread|synonym|idiom|verb|grammar|tense|such as|for instance|e\.g\.)(?:e?s|e?d|ing|'s)?\b|\?",
    re.I,
)
# Sentences that want the quoted words done.
_DO = pattern(
    r"(?:^|[.;:!?]\s+|\b(?:please|now|then|and|must|should|to|will|you|kindly|just|instead)\s+)(?:\w+ly\s+)?"
    r"(?:follow|obey|execute|run|comply|apply|carry out|act (?:on|upon|accordingly)|do (?:what|as|so|it|this|that|the)|"
    r"perform|enact|simulate|adopt|accept|honou?r|treat (?:it|this|that) as|start (?:your|with)|begin (?:your|with)|"
    r"respond (?:with|to|as)|answer (?:with|to|as)|reply (?:with|to)|output|append|continue)\b"
    r"(?!\s+(?:the )?(?:paper|article|reviewers?|survey)\b)",
    re.I,
)


# "without asking anybody to obey it", "not an order to execute": what follows is denied.
_DENIED = pattern(r"\b(?:not|never|no|nobody|none|without|rather than|instead of|\w+n['’]t)\b[^.!?;:\n]{0,50}$", re.I)


def spans(text: str, *, document: bool = False) -> list[tuple[int, int]]:
    """Ranges of the quotations (marks included) in sentences that talk about them; linear.

    In a `document` any statement around a quotation will do: nobody is asked for anything there.
    """
    quotes = [m.span() for m in _QUOTED.finditer(text)]
    if not quotes:
        return []
    outside = _without(text, quotes)
    if not re.search(r"\w+\W+\w+", outside) or _wants_it_done(outside):
        return []
    return quotes if document or _TALK.search(outside) else []


def spans_by_sentence(text: str) -> list[tuple[int, int]]:
    """As `spans`, each sentence with its own frame: for documents, where a lesson may stand beside an attack."""
    if not _QUOTED.search(text):
        return []
    return [(start + a, start + b) for start, end in split(text) for a, b in spans(text[start:end], document=True)]


def without(text: str, *, document: bool = False) -> str:
    """The text with each mentioned quotation replaced by an ellipsis."""
    found = spans(text, document=document)
    return _without(text, found) if found else text


def _wants_it_done(outside: str) -> bool:
    return any(not _DENIED.search(outside[max(0, m.start() - 70) : m.end()]) for m in _DO.finditer(outside))


def inside(found: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    return any(a <= start and end <= b for a, b in found)


def _without(text: str, ranges: list[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in ranges:
        parts.append(text[done:start] + PLACEHOLDER)
        done = end
    return "".join(parts) + text[done:]
