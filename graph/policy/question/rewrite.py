"""A question that holds an attack and something legitimate: keep the legitimate part (requirement C3)."""

import re
from collections.abc import Callable, Sequence
from typing import Protocol

from graph.policy.rubric import BLOCKED_FROM, GUARDED_FROM, Finding
from graph.policy.text.sentences import split

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
_MARKUP = re.compile(
    r"<\s*(script|style|iframe|object|embed|svg)\b[^<>]{0,2000}>(?:.{0,5000}?<\s*/\s*\1\s*>)?|</?[a-z][^<>]{0,500}>",
    re.I | re.S,
)
_MIN_WORDS = 4


class Assessed(Protocol):
    """What `graph.policy.threats.assess` gives."""

    @property
    def findings(self) -> Sequence[Finding]:
        """Their offsets are those of the judged text."""

    @property
    def risk_score(self) -> int:
        """From 0 to 100."""


def rescued(
    question: str, verdict: Assessed, judge: Callable[[str], Assessed], whole: Callable[[str], Assessed]
) -> str:
    """The part of a question with this verdict that may go on: its remainder where only REWRITABLE blocks it, or "".

    `judge` judges each clause; `whole`, which may take longer, judges the remainder.
    """
    kinds = {f.type for f in verdict.findings if f.score >= GUARDED_FROM / 100}
    if verdict.risk_score < BLOCKED_FROM or not kinds <= REWRITABLE:
        return ""
    safe = remainder(question, lambda text: verdict if text == question else judge(text))
    return safe if safe and whole(safe).risk_score < GUARDED_FROM else ""


def remainder(question: str, judge: Callable[[str], Assessed]) -> str:
    """The sentences and clauses of the question that no finding touches and that ask for something, or "".

    Each of them, and all of them together, must be benign by `judge`. Markup is no part of a question.
    """
    text = _MARKUP.sub(lambda match: " " * len(match.group()), question)  # offsets stay
    findings = judge(text).findings

    def usable(start: int, end: int, sentence: tuple[int, int]) -> str:
        """The range as a sentence of its own where it is benign and asks for something, or "".

        A finding over a whole longer sentence does not tell which clause is meant: each is judged by itself.
        """
        clause = " ".join(text[start:end].split()).strip(" ,;:-–—")
        touched = any(
            f.start < end
            and f.end > start
            and ((start, end) == sentence or f.start > sentence[0] or f.end < sentence[1])
            for f in findings
        )
        if touched or len(re.findall(r"\w+", clause)) < _MIN_WORDS or not _ASKS.match(clause):
            return ""
        return clause + ("" if clause[-1] in ".?!" else ".") if judge(clause).risk_score < GUARDED_FROM else ""

    parts = []
    for start, end in split(text):
        whole = usable(start, end, (start, end))
        clauses = [] if whole else _clauses(text, start, end)
        parts += [whole] if whole else [part for a, b in clauses if (part := usable(a, b, (start, end)))]
    safe = " ".join(parts)
    return safe if safe and judge(safe).risk_score < GUARDED_FROM else ""


def _clauses(text: str, start: int, end: int) -> list[tuple[int, int]]:
    clauses = []
    for match in _CLAUSE.finditer(text, start, end):
        clauses.append((start, match.start()))
        start = match.end()
    return [*clauses, (start, end)]
