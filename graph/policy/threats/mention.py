"""Quotations that are only mentioned: "ignore all rules", in a sentence that talks about the words, commands nobody."""

import re
from collections.abc import Sequence

from graph.policy.text.sentences import split
from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import Table

DAMPED = 0.15  # what is left of the score of a finding that is only mentioned
PLACEHOLDER = "…"

_LONGEST = 300
_QUOTED = pattern(
    rf"\"([^\"\n]{{3,{_LONGEST}}})\"|(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w)){{3,{_LONGEST}}})'(?!\w)|`([^`\n]{{3,{_LONGEST}}})`"
)

_TABLE = Table("mention")
_TALK = _TABLE.pattern("talk")
_DO = _TABLE.pattern("do")
_DENIED = _TABLE.pattern("denied")


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
    return _without(text, spans(text, document=document))


def _wants_it_done(outside: str) -> bool:
    return any(not _DENIED.search(outside[max(0, m.start() - 70) : m.end()]) for m in _DO.finditer(outside))


def inside(ranges: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the ranges covers all of [start, end)."""
    return any(a <= start and end <= b for a, b in ranges)


def _without(text: str, ranges: list[tuple[int, int]]) -> str:
    parts, done = [], 0
    for start, end in ranges:
        parts.append(text[done:start] + PLACEHOLDER)
        done = end
    return "".join(parts) + text[done:]
