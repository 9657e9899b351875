"""Instructions planted in documents: sentences that address the machine instead of informing the reader."""

from bisect import bisect_left
from itertools import accumulate

from graph.policy.sentences import split
from graph.policy.threats import Detector, instructions, planted

WITHHELD_FROM = planted.WITHHELD_FROM  # injection score (0-1) of a sentence as part of a document


def ranges(text: str, detector: Detector | None = None) -> list[tuple[int, int]]:
    """Half-open ranges of the sentences that try to give instructions; ascending, disjoint."""
    judged = [*planted.find(text), *instructions(text, detector)]
    found = sorted((f.start, f.end) for f in judged if f.score >= WITHHELD_FROM)
    if not found:
        return []
    starts = [start for start, _ in found]
    furthest = list(accumulate((end for _, end in found), max))  # of all findings up to each

    def touched(a: int, b: int) -> bool:
        before = bisect_left(starts, b)  # findings that begin before the sentence ends
        return before > 0 and furthest[before - 1] > a

    return [(a, b) for a, b in split(text) if touched(a, b)]
