"""A detector that the operator brought (graph/models/detector.py): what it sees in a text, and where.

It reads the whole text, and its sentences where it sees something: so what stands beside an attack can go on
(requirement C3), and of a passage no more is withheld than has to be.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graph.policy.text.sentences import split
from graph.policy.threats.parts import parts
from graph.policy.threats.thresholds import BLOCKED, GUARDED

_PIECES = 12  # of one text; sentences of a longer one are read some together


class Detector(Protocol):
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
    head: str
    score: float
    start: int
    end: int


class Seen(NamedTuple):
    scores: dict[str, float]  # by head
    places: list[Place]  # offsets in the text as it stands


def look(by: Detector, texts: Sequence[Sequence[str]], levels: Sequence[float] = (GUARDED, BLOCKED)) -> list[Seen]:
    """Each text given by its readings, first as it stands. The place of a score is the sentences that reach the same
    level by themselves, all of the text where none does."""
    until = by.until(len(texts))
    whole = [
        (n, at == 0, begin, part)
        for n, readings in enumerate(texts)
        for at, reading in enumerate(dict.fromkeys(readings))
        for begin, part in parts(reading)
    ]
    judged = by.scores([part for *_, part in whole], until)
    pieces = [
        (n, begin + a, begin + b)
        for (n, stands, begin, part), scores in zip(whole, judged, strict=True)
        if stands and max(scores.values(), default=0.0) >= levels[0]
        for a, b in _pieces(part)
    ]
    alone = by.scores([texts[n][0][a:b] for n, a, b in pieces], until)
    looks = [Seen({}, []) for _ in texts]
    read = [part[0] for part in whole] + [piece[0] for piece in pieces]
    for n, scores in zip(read, judged + alone, strict=True):
        for head, score in scores.items():
            looks[n].scores[head] = max(looks[n].scores.get(head, 0.0), score)
    for n, seen in enumerate(looks):
        for head, highest in seen.scores.items():
            level = max((level for level in levels if level <= highest), default=1.0)
            places = [
                Place(head, scores[head], a, b)
                for (m, a, b), scores in zip(pieces, alone, strict=True)
                if m == n and scores[head] >= level
            ]
            if highest >= level:
                seen.places.extend(places or [Place(head, highest, 0, len(texts[n][0]))])
    return looks


def _pieces(text: str) -> list[tuple[int, int]]:
    """Its sentences, none where there is but one."""
    sentences = split(text)
    step = -(-len(sentences) // _PIECES)
    some = [sentences[at : at + step] for at in range(0, len(sentences), step or 1)]
    return [(one[0][0], one[-1][1]) for one in some] if len(some) > 1 else []
