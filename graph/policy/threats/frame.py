"""Who is spoken about: a question about a rule, or a report on what others do, commands nobody.

The precise rules know words. Whether the sentence orders the assistant to act, or asks what is allowed, how something
works or what somebody did, is seen here; a finding in the latter weighs less.
"""

import re
from dataclasses import dataclass

from graph.policy.text.sentences import split
from graph.policy.threats.lazy import pattern

DAMPED = 0.3

# The assistant is meant: nothing is damped.
_ADDRESSED = pattern(
    r"\b(?:you|your|yours|yourself|u|ur|assistant|chatbot)\b"
    r"|(?:^|[,;:.!?]\s*|\b(?:and|then|but|or|also|please|kindly|just|now|first|instead)\s+)"
    r"(?:list|show|give|tell|reveal|send|print|dump|output|display|share|export|extract|expose|leak|release|provide|read|"
    r"write|get|fetch|find|collect|compile|ignore|disregard|forget|bypass|override|disable|remove|switch|turn|unmask|"
    r"pretend|act|play|simulate|imagine|repeat|answer|reply|respond|say|enter|enable|stop|drop)\b",
    re.I,
)
# Asks what is allowed, what something means, how something is done properly.
_INQUIRY = pattern(
    r"^\W*(?:please |(?:can|could|would) you (?:please )?(?:explain|describe|tell me (?:what|how|why|whether|if|who|when))|"
    r"i (?:want|need|would like) to (?:know|understand)|i wonder)?\s*"
    r"(?:(?:what|which) (?:is|are|was|were) (?:the |our |an? )?(?:legal |correct |right )?(?:rules?|polic\w+|laws?|process|procedure|"
    r"format|difference|purpose|meaning|retention|definition|penalt\w+|consequences?|requirements?|limits?|risks?|reasons?)\b|"
    r"(?:what|which) (?:is|are|was|were|does|do|did|kinds?|types?|sorts?|counts?|happens?|should|must|may|can|laws?|"
    r"rules?|polic\w+|training|documents?|steps?|tools?|signs?|forms?|office|data)\b(?! (?:the |his |her |their |my )?"
    r"(?:[\w'’.-]+ ){0,3}(?:cnic|phone|mobile|number|address|password|salary|iban|passport|e-?mail|birth)\w*\b(?! "
    r"(?:polic|rule|manager|scale|review|band|format|law|training|field)))"
    r"|why\b|when\b|where (?:do|can|should|is|are) (?:i|we|the|they)\b|who (?:may|can|must|should|is allowed|decides|"
    r"approves)\b|how (?:is|are|was|were|do|does|did|should|must|may|can|could|would|long|often|many|much|reliable)\b|"
    r"is (?:it|there|an?|the|un\w+|\w+ing)\b|are (?:there|we|they|the)\b|does\b|do (?:we|i|the|they)\b|did\b|may\b|"
    r"must\b|should\b|can (?!you\b)\w+|could (?!you\b)\w+|explain\b|define\b|describe\b|discuss\b|compare\b|summari[sz]e "
    r"(?:the |our )?(?:polic|rule|guid|law|history|research|debate)\w*|(?:give|show|list|send|find) (?:me )?(?:an? |the |"
    r"all |our )?(?:\w+ )?(?:rules?|polic\w+|guid\w+|categor\w+|overview|example|definition|retention|template|procedure)"
    # ... unless something of people is asked for as well
    r"\b(?![^.!?\n]{0,200}\band\b[^.!?\n]{0,60}\b(?:numbers?|address(?:es)?|passwords?|credentials|salar(?:y|ies)|cnics?|ibans?)\b))",
    re.I,
)
# Somebody else is said to do it.
_REPORTED = pattern(
    r"\b(?:(?:an? |the |some |many |most )?(?:attackers?|hackers?|adversar(?:y|ies)|criminals?|scammers?|intruders?|"
    r"someone|somebody|people|users?|students?|pupils?|participants?|employees?|customers?|researchers?|journalists?|"
    r"paper|article|survey|report|log|slide|lecture|lesson|policy|test|suite|tester|pages?|documents?|emails?|"
    r"bot|model|models|vendor|company)\b[^.!?\n]{0,80}?)\b(?:ask\w*|tell\w*|told|try|tries|tried|say\w*|said|get\w*|"
    r"make\w*|instruct\w*|refus\w*|check\w*|contain\w*|claim\w*|trick\w*|use[ds]?|want\w*|could|can|might|may|will|"
    r"sends?|sent|forbids?|describes?|shows?|reveal\w*|leak\w*|ignor\w*|bypass\w*|overr\w+|that|whether|to)\b",
    re.I,
)

# "Do not forget the safety rules": one clause that forbids what an attack would ask for. "Do not forget that you are" is
# none, nor is what asks for it after all ("do not forget to ignore").
_PROHIBITION = pattern(
    r"^\W*(?:(?:please|and|so|always remember|remember) ?,? )?(?:do not|don['’]?t|never|you (?:must|should) (?:not|never)|nobody (?:may|must))\s+"
    r"(?:ever\s+)?(?:forget|ignore|disregard|overlook|override|bypass|skip|violate|disable|leak|disclose|reveal)\b(?!\s+(?:to|that)\b)"
    r"(?![^.!?]*\b(?:and|but|then|instead|unless|except|until|my|me|i|from now|you (?:are|must|will|have)|you'?re)\b)[^;:.!?\n]{0,120}[.!]?\s*$",
    re.I,
)
_OPENING = pattern(r"^\W*(?:please |(?:can|could|would) you )?\s*\w+ (?:me )?", re.I)
_YOU = pattern(r"\b(?:you|your|u|ur)\b", re.I)


@dataclass(frozen=True)
class Frames:
    """Ranges of sentences that only ask about a thing, of those that report what somebody does, and of prohibitions."""

    inquiries: tuple[tuple[int, int], ...]
    reports: tuple[tuple[int, int], ...]
    prohibitions: tuple[tuple[int, int], ...]


def frames(text: str) -> Frames:
    """Linear; of a very long text only the first 20,000 characters are looked at."""
    inquiries, reports, prohibitions = [], [], []
    for start, end in split(text[:20_000]):
        sentence = text[start:end][:1_000]
        if _PROHIBITION.match(sentence):
            prohibitions.append((start, end))
        elif _INQUIRY.match(sentence):
            if not _ADDRESSED.search(_OPENING.sub("", sentence, count=1)):
                inquiries.append((start, end))
        elif (
            (said := _REPORTED.search(sentence))
            and not _YOU.search(sentence)
            and not _ADDRESSED.match(sentence[: said.start()].strip() or "-")
        ):
            reports.append((start, end))
    return Frames(tuple(inquiries), tuple(reports), tuple(prohibitions))


def covers(ranges: tuple[tuple[int, int], ...], start: int, end: int) -> bool:
    """Whether the ranges, in order, hold all of [start, end) but for a few characters between them."""
    at = start
    for a, b in ranges:
        if a > at + 2:
            continue
        at = max(at, b)
    return at + 2 >= end
