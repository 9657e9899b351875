"""An evidence text made ready once: its spans, and how often each word occurs."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.words import begin
from graph.policy.text.sentences import split

NEIGHBOURS = 3  # sentences in the longest span


@dataclass(frozen=True)
class Window:
    """Half-open range of one to NEIGHBOURS sentences that follow one another."""

    start: int
    end: int
    first: int
    last: int  # number of its last sentence


@dataclass(frozen=True)
class Prepared:
    """Ranges of the sentences, half-open, and by sentence its reading and the first letters of its words (`begins`)."""

    text: str
    sentences: tuple[tuple[int, int], ...]
    readings: tuple[Reading, ...]
    begins: tuple[frozenset[str], ...]
    forms: frozenset[str]
    frequency: Counter[str]


@lru_cache(maxsize=256)
def prepare(text: str) -> Prepared:
    """Cached, since several claims are compared with the same text."""
    sentences = tuple(split(text))
    readings = tuple(read(text[start:end]) for start, end in sentences)
    frequency: Counter[str] = Counter()
    for reading in readings:
        frequency.update(reading.forms)
    begins = tuple(frozenset(map(begin, reading.forms)) for reading in readings)
    return Prepared(text, sentences, readings, begins, frozenset(frequency), frequency)
