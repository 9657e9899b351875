"""Sentences that say the same of two things with other numbers, as two documents of one kind do: a claim that gives the
one thing the other's number is false, however many of its words stand there."""

import re
from collections.abc import Sequence
from itertools import permutations

from graph.policy.grounding.tokens import Reading, read

ALIKE = 0.6  # of the words of two sentences, numbers apart: they are parallel
LIKE_BOTH = 0.4  # of the words that they share, in a claim about one of them
FEWEST = 4  # words that they share
MOST = 200  # sentences that are compared with each other
_HALVES = re.compile(r"[,;]|\b(?:while|whereas|but)\b", re.I)
_OF_BOTH = re.compile(r"\b(?:both|each|either|respectively|from\b.*\bto)\b", re.I)


Pairs = Sequence[tuple[Reading, Reading]]


def pairs(sentences: Sequence[str]) -> Pairs:
    """The pairs of parallel sentences with other numbers, each in both orders, of MOST sentences with numbers."""
    readings = [reading for text in sentences if (reading := read(text)).numbers][:MOST]
    return [(one, other) for one, other in permutations(readings, 2) if _parallel(one, other)]


def crossed(claim: str, parallel: Pairs) -> bool:
    """Whether a part of the claim has a number that stands only in the sentence about one thing, and names the other
    thing of a parallel sentence: "60% for full honours", where 60 is of plain honours and 90 of full ones."""
    parts = [read(part) for part in _HALVES.split(claim) if not _OF_BOTH.search(part)] if parallel else []
    return any(_of_the_other(part, one, other) for part in parts if part.numbers for one, other in parallel)


def _parallel(one: Reading, other: Reading) -> bool:
    mine, theirs = _words(one), _words(other)
    return one.numbers != other.numbers and FEWEST <= len(mine & theirs) >= ALIKE * len(mine | theirs)


def _of_the_other(part: Reading, one: Reading, other: Reading) -> bool:
    """Whether it has a number of the one sentence alone, none of the other alone, and what only the other is about;
    where the other has none of its own, all numbers of the one as they come."""
    if not part.numbers & (one.numbers - other.numbers):
        return False
    if not other.numbers - one.numbers and _in_order(part) != _in_order(one):
        return False
    words, mine, theirs = _words(part), _words(one), _words(other)
    only = theirs - mine
    return (
        not part.numbers & (other.numbers - one.numbers)
        and 2 * len(words & only) >= len(only) > 0
        and not words & (mine - theirs)
        and len(words & mine & theirs) >= LIKE_BOTH * len(mine & theirs)
    )


def _words(reading: Reading) -> frozenset[str]:
    return reading.forms - reading.numbers


def _in_order(reading: Reading) -> list[str]:
    return [token.form for token in reading.tokens if token.kind == "number"]
