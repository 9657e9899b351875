"""A detector that the operator brought (graph/models/detector.py): what it sees in a text, and where.

It reads the whole text and, where it sees something, each sentence: so a question beside an attack is still answered
(requirement C3), and no more of a passage is withheld than has to be.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graph.policy.text.sentences import split
from graph.policy.threats.parts import parts
from graph.policy.threats.thresholds import BLOCKED, GUARDED

_PIECES = 12  # of one text; a longer one is read several sentences at a time


class Detector(Protocol):
    """Judges many texts at once, each by the heads of the learned layer."""

    replaces: bool  # the learned layer is not asked about questions
    documents: bool  # passages are read too, for instructions

    @property
    def digest(self) -> str:
        """SHA-256 of what it is, for the record."""

    def until(self, questions: int) -> float:
        """When it must be done with so many that it reads from now on, as `time.monotonic` tells it."""

    def scores(self, texts: Sequence[str], until: float) -> list[dict[str, float]]:
        """Of each text the score 0-1 of every head, guarded from GUARDED, blocked from BLOCKED. Raises Unavailable
        when it breaks or is late."""


class Place(NamedTuple):
    """Where a head scores: half-open offsets in the text as it stands, score 0-1."""

    head: str
    score: float
    start: int
    end: int


class Detection(NamedTuple):
    """The highest score of each head, and the places that reach a level."""

    scores: dict[str, float]
    places: list[Place]


def detect(
    detector: Detector, texts: Sequence[Sequence[str]], levels: Sequence[float] = (GUARDED, BLOCKED)
) -> list[Detection]:
    """Each text is given by its readings, first as it stands. The place of a score is the sentences that reach the same
    level by themselves, all of the text where none does."""
    until = detector.until(len(texts))
    whole = [
        (n, at == 0, begin, part)
        for n, readings in enumerate(texts)
        for at, reading in enumerate(dict.fromkeys(readings))
        for begin, part in parts(reading)
    ]
    whole_scores = detector.scores([part for *_, part in whole], until)
    pieces = [
        (n, begin + a, begin + b)
        for (n, stands, begin, part), scores in zip(whole, whole_scores, strict=True)
        if stands and max(scores.values(), default=0.0) >= levels[0]
        for a, b in _pieces(part)
    ]
    piece_scores = detector.scores([texts[n][0][a:b] for n, a, b in pieces], until)
    detections = [Detection({}, []) for _ in texts]
    owners = [part[0] for part in whole] + [piece[0] for piece in pieces]
    for n, scores in zip(owners, whole_scores + piece_scores, strict=True):
        for head, score in scores.items():
            detections[n].scores[head] = max(detections[n].scores.get(head, 0.0), score)
    for n, detection in enumerate(detections):
        for head, highest in detection.scores.items():
            level = max((level for level in levels if level <= highest), default=1.0)
            places = [
                Place(head, scores[head], a, b)
                for (m, a, b), scores in zip(pieces, piece_scores, strict=True)
                if m == n and scores[head] >= level
            ]
            if highest >= level:
                detection.places.extend(places or [Place(head, highest, 0, len(texts[n][0]))])
    return detections


def _pieces(text: str) -> list[tuple[int, int]]:
    """Its sentences, none where there is but one."""
    sentences = split(text)
    step = -(-len(sentences) // _PIECES)
    groups = [sentences[at : at + step] for at in range(0, len(sentences), step or 1)]
    return [(group[0][0], group[-1][1]) for group in groups] if len(groups) > 1 else []
