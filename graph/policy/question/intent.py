"""What a question wants (requirement D1): an answer from documents, or the design of an assessment."""

import re
from typing import Literal, TypedDict

from graph.policy.question.answer_type import sides
from graph.policy.question.mentioning import singular
from graph.policy.question.parts import parts

IntentName = Literal["GENERIC_QA", "ASSESSMENT_GEN"]


class Intent(TypedDict):
    """`confidence` from 0 to 1."""

    name: IntentName
    confidence: float


_MAKE = re.compile(
    r"\b(?:design|create|write|draft|develop|prepare|build|make|set|generate|produce|compose|propose|plan|outline|"
    r"come up with)\b",
    re.I,
)
_WHAT = re.compile(
    r"\b(?:assessments?|assignments?|coursework|capstones?|exams?|examinations?|quiz(?:zes)?|(?:marking )?rubrics?|"
    r"(?:assessment|assignment|project) briefs?|problem sets?|take-home (?:test|task)s?)\b",
    re.I,
)
_WORTH = re.compile(
    r"\b(?:worth|weight(?:ed|ing)?(?: of| at)?|counts? for)\s+(?:about\s+)?(\d{1,3})\s*(?:%|per ?cent)", re.I
)
_PERCENT = re.compile(r"\b(\d{1,3})\s*(?:%|per ?cent)", re.I)
# "How was the rubric made?" and "Who writes the exam?" ask about an assessment; they do not order one.
_ASKING = re.compile(
    r"^\W*(?:who|whose|when|where|why|which|what|how (?:many|much|long|often|is|are|was|were|do|does|did|should)|"
    r"is|are|was|were|do|does|did|has|have|may|must)\b",
    re.I,
)
_GAP = 60  # characters between the verb and what is to be made


def classify(question: str) -> Intent:
    """Intent and how sure it is. A request to make an assessment names a verb of making, then the thing."""
    make = _MAKE.search(question)
    what = _WHAT.search(question, make.end()) if make else None
    if make and what and what.start() - make.end() <= _GAP and not _ASKING.match(question):
        sure = 0.95 if _WORTH.search(question) or make.start() < 30 else 0.85
        return {"name": "ASSESSMENT_GEN", "confidence": sure}
    if _WHAT.search(question):
        return {"name": "GENERIC_QA", "confidence": 0.8}
    return {"name": "GENERIC_QA", "confidence": 0.95}


def weighting(request: str) -> int:
    """The percentage an assessment is to be worth, 1-100; 100 when the request names none that fits."""
    match = _WORTH.search(request) or _PERCENT.search(request)
    value = int(match[1]) if match else 100
    return value if 1 <= value <= 100 else 100


ANY = "any document"
# Only whether such documents exist: "Which reports do I have to sign in May?" asks for some of them.
_STORE = (
    r"(?:in|within) (?:the|my|our|your|this|that) (?:\w+ ){0,2}?"
    r"(?:index|corpus|knowledge base|library|space|context|collection|system|store|archive|folder)"
)
_EXISTS = (
    r"(?:(?:do|does|did) (?:(?:the|my|our|your) )?\w+ (?:have|hold|own|know)(?: access to|(?: of|about))?|"
    r"have (?:i|we|you)(?: got)?|(?:has|have) been (?:uploaded|indexed|ingested|stored|added)|exist|"
    rf"(?:are|is)(?: there| available| uploaded| indexed| ingested| stored| on file)?(?: {_STORE})?|"
    r"can (?:i|we|you) (?:see|read|use|access|search|query|ask about))"
)
_INVENTORY = re.compile(
    r"^\W*(?:(?:please\s+)?(?:list|show(?: me)?|give me|name)(?:\s+all)?(?:\s+of)?(?:\s+(?:my|our|the))?|"
    r"which|what|how many)\s+"
    r"((?:\w+\s+)?(?:datasets?|data sets?|documents?|files?|memos?|notebooks?|protocols?|sops?|minutes|notes?|policies|"
    rf"guides?|reports?|summaries))"
    rf"(?:\s+{_EXISTS}(?:\s+(?:here|there|now|right now|so far|today|altogether|in total|in all))*)?\W*$",
    re.I,
)


def inventory(question: str) -> str:
    """What kind of document a question wants listed ("Which datasets do I have?": dataset), ANY, or ""."""
    match = _INVENTORY.match(question)
    if match is None:
        return ""
    kind = singular(match[1].lower().replace("data set", "dataset"))
    return ANY if kind in ("document", "file") else kind


_OVERVIEW = re.compile(
    r"\b(?:tell me (?:more )?about|summari[sz]e[sd]?|summary|sum up|describe|overview|the gist of|"
    r"main points|key points|in a nutshell|what is .{1,80} about|outline)\b|"
    r"^\W*what(?:['’]?s| is| does| do| are)\s+(?:(?:in|inside)\s+)?(?:the|our|this|my)\s+(?:[\w&/-]+\s+){0,4}"
    r"(?:polic(?:y|ies)|plans?|schedule|protocol|procedure|handbook|guid(?:e|ance|elines?)|notice|sop|memo|minutes|reports?|"
    r"file|document|log|register|notebook|list|contract|agreement|charter)(?:\s+(?:say|contain|cover))?\W*$",
    re.I,
)


def overview(question: str) -> bool:
    """Whether it asks about a document or a thing as a whole, whose opening then answers best."""
    return _OVERVIEW.search(question) is not None


def searches(name: IntentName, query: str) -> list[str]:
    """What to look for: a comparison needs what is said of each side, several questions in one what each asks for, an
    assessment the institution's own rules."""
    if name == "GENERIC_QA":
        return [query, *(sides(query) or parts(query))]
    return [topic(query), f"{topic(query)} course outline learning outcomes", *_RULES]


_RULES = (
    "how assessments should be designed",
    "rules on the use of AI in assessed work and how it is declared",
    "marking rubric criteria and weights",
    "academic integrity policy for submissions",
)
_TOPIC = re.compile(
    r"\b(?:for|on|about|in|covering)\s+(.+?)(?:[,.;]|\s+(?:worth|that|which|with|weighted|counting)\b|$)", re.I
)


def topic(request: str) -> str:
    """What an assessment is to be about, at most 120 characters; the request itself when it names no topic."""
    match = _TOPIC.search(request)
    subject = re.sub(r"^(?:a|an|the|my|our)\s+", "", match[1].strip() if match else "", flags=re.I)
    return (subject or request)[:120]
