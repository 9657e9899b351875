"""Instructions planted in documents: sentences that address the machine instead of informing the reader."""

from graph.policy.sentences import split
from graph.policy.threats import assess

WITHHELD_FROM = 0.6  # injection score (0-1) of a sentence as part of a document


def ranges(text: str) -> list[tuple[int, int]]:
    """Half-open ranges of the sentences that try to give instructions; ascending, disjoint."""
    if assess(text, source="document").scores["injection"] < WITHHELD_FROM:
        return []
    return [(a, b) for a, b in split(text) if assess(text[a:b], source="document").scores["injection"] >= WITHHELD_FROM]
