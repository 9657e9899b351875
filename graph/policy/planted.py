"""Instructions planted in documents: sentences that address the machine instead of informing the reader."""

from graph.policy.sentences import split
from graph.policy.threats import planted

WITHHELD_FROM = planted.WITHHELD_FROM  # injection score (0-1) of a sentence as part of a document


def ranges(text: str) -> list[tuple[int, int]]:
    """Half-open ranges of the sentences that try to give instructions; ascending, disjoint."""
    found = [(f.start, f.end) for f in planted.find(text) if f.score >= WITHHELD_FROM]
    if not found:
        return []
    return [(a, b) for a, b in split(text) if any(start < b and end > a for start, end in found)]
