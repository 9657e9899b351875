"""A question that holds an attack and something legitimate: keep the legitimate part (requirement C3)."""

import re
from collections.abc import Callable, Sequence

from graph.policy.rubric import GUARDED_FROM, Finding
from graph.policy.sentences import split

PREFIX = "[Safe Rewrite] [Safety Warning] "
REWRITABLE = frozenset({"prompt_injection", "jailbreak", "prompt_extraction", "obfuscation"})
_CLAUSE = re.compile(r"[;:]\s+|,?\s+(?:and then|then|and also|but first|but|also|and)\s+|\s+[-–—]\s+|\n+", re.I)
# What is left must ask for information, not merely be harmless.
_ASKS = re.compile(
    r"^\W*(?:please\s+|(?:can|could|would) you\s+(?:please\s+)?)?(?:what|which|who|whom|whose|when|where|why|how|is|"
    r"are|was|were|do|does|did|can|may|must|should|has|have|explain|summari[sz]e|describe|list|compare|define|tell me|"
    r"show me (?:the|how)|give me (?:a|an|the)|outline|find)\b",
    re.I,
)
_MIN_WORDS = 4


def remainder(question: str, findings: Sequence[Finding], risk: Callable[[str], int]) -> str:
    """The sentences and clauses of the question that no finding touches and that ask for something, or "".

    `risk` judges a text alone (0-100). Every clause kept, and all of them together, must be benign by it.
    """
    kept = []
    for start, end in _clauses(question):
        clause = question[start:end].strip(" \t\n,;:-–—")
        touched = any(f.start < end and f.end > start for f in findings)
        asks = not touched and len(re.findall(r"\w+", clause)) >= _MIN_WORDS and _ASKS.match(clause)
        if asks and risk(clause) < GUARDED_FROM:
            kept.append(clause if clause[-1] in ".?!" else clause + ".")
    text = " ".join(kept)
    return text if text and risk(text) < GUARDED_FROM else ""


def _clauses(text: str) -> list[tuple[int, int]]:
    found = []
    for start, end in split(text):
        at = start
        for match in _CLAUSE.finditer(text, start, end):
            found.append((at, match.start()))
            at = match.end()
        found.append((at, end))
    return found
