"""Instructions planted in documents: sentences that address the machine instead of informing the reader."""

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import accumulate

from graph.policy import pii
from graph.policy.rubric import Finding
from graph.policy.text.sentences import split
from graph.policy.threats import instructions, planted
from graph.policy.threats.detector import Detector

WITHHELD_FROM = planted.WITHHELD_FROM  # injection score (0-1) of a sentence as part of a document


def sentences(text: str, detector: Detector | None = None, known: planted.Margins | None = None) -> list[Finding]:
    """The sentences that try to give instructions, each as its worst finding; ascending, disjoint. `known` as for
    `planted.find`."""
    judged = [*planted.find(text, known), *instructions(text, detector)]
    findings = sorted((f for f in judged if f.score >= WITHHELD_FROM), key=lambda f: (f.start, f.end))
    if not findings:
        return []
    starts = [f.start for f in findings]
    furthest = list(accumulate((f.end for f in findings), max))  # of all findings up to each
    touched = []
    for a, b in split(text):
        near = findings[bisect_right(furthest, a) : bisect_left(starts, b)]  # the first of them reaches beyond `a`
        if near:
            worst = max((f for f in near if f.end > a), key=lambda f: f.score)
            touched.append(replace(worst, start=a, end=b))
    return touched


def ranges(text: str, detector: Detector | None = None, known: planted.Margins | None = None) -> list[tuple[int, int]]:
    """Half-open ranges of these sentences; ascending, disjoint."""
    return [(finding.start, finding.end) for finding in sentences(text, detector, known)]


def unreleased(text: str, places: Iterable[tuple[int, int]], released: Collection[str]) -> list[tuple[int, int]]:
    """Those of these half-open ranges whose `digest` was not released."""
    return [(a, b) for a, b in places if not released or digest(text[a:b]) not in released]


def digest(sentence: str) -> str:
    """SHA-256 of a sentence as people see it: masked, so that nobody finds out a value by trying, and whatever the
    white space."""
    return hashlib.sha256(" ".join(pii.mask(sentence).text.split()).encode("utf-8", "surrogatepass")).hexdigest()
