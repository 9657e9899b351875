"""Sentences that say the same of two things with other numbers, as two documents of one kind do: a claim that gives the
one thing the other's number is false, however many of its words stand there."""

import re
from collections.abc import Iterator, Sequence
from itertools import permutations

from graph.policy.grounding.tokens import Reading, read

ALIKE = 0.6  # of the words of two sentences, numbers apart: they are parallel
LIKE_BOTH = 0.4  # of the words that they share, in a claim about one of them
FEWEST = 4  # words that they share
MOST = 200  # sentences that are compared with each other
_HALVES = re.compile(r"[,;]|\b(?:while|whereas|but)\b", re.I)
_OF_BOTH = re.compile(r"\b(?:both|each|either|respectively|from\b.*\bto)\b", re.I)


def crossed(claim: str, sentences: Sequence[str]) -> bool:
    """Whether a part of the claim has a number that stands only in the sentence about one thing, and names the other
    thing of a parallel sentence: "60% for full honours", where 60 is of plain honours and 90 of full ones."""
    parts = [read(part) for part in _HALVES.split(claim) if not _OF_BOTH.search(part)]
    parts = [part for part in parts if part.numbers]
    numbers = frozenset().union(*(part.numbers for part in parts))
    readings = [reading for text in sentences[:MOST] if (reading := read(text)).numbers] if parts else []
    return any(_of_the_other(part, one, other) for one, other in _parallel(readings, numbers) for part in parts)


def _parallel(readings: Sequence[Reading], numbers: frozenset[str]) -> Iterator[tuple[Reading, Reading]]:
    """The pairs of which the first has one of these numbers."""
    for one, other in permutations(readings, 2):
        if not numbers & one.numbers:
            continue
        mine, theirs = _words(one), _words(other)
        both = len(mine & theirs)
        if one.numbers != other.numbers and FEWEST <= both >= ALIKE * len(mine | theirs):
            yield one, other


def _of_the_other(part: Reading, one: Reading, other: Reading) -> bool:
    """Whether it has a number of the one sentence alone, none of the other alone, and what only the other is about;
    where the other has none of its own, all numbers of the one as they come."""
    if not other.numbers - one.numbers and _in_order(part) != _in_order(one):
        return False
    words, mine, theirs = _words(part), _words(one), _words(other)
    only = theirs - mine
    return (
        bool(part.numbers & (one.numbers - other.numbers))
        and not part.numbers & (other.numbers - one.numbers)
        and 2 * len(words & only) >= len(only) > 0
        and not words & (mine - theirs)
        and len(words & mine & theirs) >= LIKE_BOTH * len(mine & theirs)
    )


def _words(reading: Reading) -> frozenset[str]:
    return reading.forms - reading.numbers


def _in_order(reading: Reading) -> list[str]:
    return [token.form for token in reading.tokens if token.kind == "number"]
