"""What a question lists or counts: its noun, and the words of "highest" and "lowest" around it."""

import re

from graph.policy.question.answer_type import GREATEST, SMALLEST
from graph.policy.text import lexical

_NOUN = re.compile(
    r"\b(?:which|what|list|how many|number of|count of|name|show|give|are the)\b"
    r"(?: (?:me|us|all|of|the|are|were|is|our|my|their|your|other|every|each|different|main))*"
    r" (.+?)(?= (?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|in|on|at|of|for|to"
    r"|from|that|which|with|need|needs|i|we|you|they|came|not|it|there|under|by|a|an|the|no|any)\b|[?.,;:]|$)",
    re.I,
)
_DONE = re.compile(r"((?:\S+ )*?[\w-]+[^\Wsui]s) \w+(?:ed|ent|ot)\b", re.I)
MOST = re.compile(rf"\b(?:{GREATEST}|greatest|maximum|heaviest)\b", re.I)
FEWEST = re.compile(rf"\b(?:{SMALLEST}|first|minimum|youngest|lightest)\b", re.I)


def noun_of(question: str) -> list[str]:
    """The stems of what is listed or counted: "Which GCP regions can we use?": gcp, region."""
    return lexical.stems(asked_for(question))


def asked_for(question: str) -> str:
    """What is listed or counted, as the question writes it; "" where it says nothing of the kind."""
    match = _NOUN.search(question)
    if match is None:
        return ""
    counted = _DONE.match(match[1])  # "requests ended up denied"
    return counted[1] if counted else match[1]
