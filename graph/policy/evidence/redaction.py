"""From raw chunk text to what a prompt may hold, with the way back.

Personal values become `[REDACTED]`, sentences that give instructions are left out. `edits` keeps where, so that a
range of the shown text leads to the range of the source it stands for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.policy import pii

Edit = list[int]  # [start in the shown text, its length there, start in the source, its length there]
PLACEHOLDER = "[REDACTED]"


def public_values(evidence: Sequence[Mapping[str, Any]]) -> pii.Public:
    """Values that the passages show because they are public. A draft may say them, too."""
    return pii.Public(frozenset(form for item in evidence for form in item.get("public", ())))


def redact(
    raw: str, withhold: Sequence[tuple[int, int]] = (), personal: Sequence[pii.Span] = ()
) -> tuple[str, list[Edit]]:
    """The text to show and its edits, in order. `withhold` holds half-open ranges of `raw`, ascending, disjoint."""
    replaced = [(start, end, "") for start, end in withhold]
    replaced += [
        (span.start, span.end, PLACEHOLDER)
        for span in personal
        if not any(start <= span.start < end or start < span.end <= end for start, end in withhold)
    ]
    parts, edits, at, length = [], [], 0, 0
    for start, end, text in sorted(replaced):
        parts += [raw[at:start], text]
        length += start - at
        edits.append([length, len(text), start, end - start])
        length += len(text)
        at = end
    return "".join([*parts, raw[at:]]), edits


def to_source(edits: Sequence[Edit], start: int, end: int) -> tuple[int, int]:
    """The source range behind a range of the shown text. One that touches a placeholder covers all of what it hides."""
    return _position(edits, start, last=False), _position(edits, end, last=True)


def to_shown(edits: Sequence[Edit], at: int) -> int:
    """Where a place in the source stands in the shown text; the begin of what hides it where something does."""
    shift = 0
    for where, length, source, size in edits:
        if at < source:
            break
        if at < source + size:
            return where
        shift = where + length - source - size
    return at + shift


def _position(edits: Sequence[Edit], at: int, *, last: bool) -> int:
    shift = 0
    for where, length, source, size in edits:
        if at < where or (last and at == where):
            break
        if at < where + length:
            return source + size if last else source
        shift = source + size - where - length
    return at + shift
