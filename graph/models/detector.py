"""The operator's own detector, which joins the guards: a classifier in a folder, or a function of a package.

Whatever it does wrong, or too late, is Unavailable: what it did not judge is not allowed.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

from graph.errors import Unavailable
from graph.models.classifier import Classifier
from graph.models.entry_points import Function
from graph.policy.threats import SCORES
from graph.policy.threats.thresholds import knots, moved, pairs
from graph.settings import Settings

_ENTRY = "entry:"
_SETTING = "CORDON_DETECTOR_BORDERS"
_BORDERS = dict.fromkeys(SCORES, "0.5/0.9") | {"evasion": "0.5"}  # uncalibrated; evasion is guarded (requirement D4)


class DetectorModel(Protocol):
    """A classifier in a folder, or a function of a package."""

    @property
    def digest(self) -> str:
        """SHA-256 of what tells it from others. Raises OSError."""

    def open(self) -> Any:
        """Load what is loaded once."""

    def read(self, texts: Sequence[str], until: float) -> Sequence[Mapping[str, float]]:
        """For each text the probabilities by head. Raises TimeoutError when it is not done by then."""


class OperatorDetector:
    """A source as graph.policy.threats.detector wants it: with thresholds, a limit of time, and nothing let through."""

    def __init__(self, source: DetectorModel, settings: Settings) -> None:
        self._source, self._limit_s = source, settings.detector_ms / 1_000
        self.replaces, self.documents = settings.detector_role == "replaces", settings.detector_documents
        thresholds = _BORDERS | pairs(_SETTING, settings.detector_borders, SCORES)
        self._borders = {head: knots(_SETTING, value) for head, value in thresholds.items()}

    @cached_property
    def digest(self) -> str:
        try:
            return self._source.digest
        except OSError:
            return "unreadable"

    def open(self) -> None:
        """Raises BadSettings where it does not load."""
        self._source.open()

    def until(self, questions: int) -> float:
        with _closed():
            self._source.open()
        return time.monotonic() + questions * self._limit_s

    def scores(self, texts: Sequence[str], until: float) -> list[dict[str, float]]:
        if not texts:
            return []
        with _closed():
            probabilities = self._source.read(texts, until)
            if len(probabilities) != len(texts) or any(one.keys() - set(SCORES) for one in probabilities):
                raise ValueError("no probabilities by head for each text")
            if not all(0 <= p <= 1 for one in probabilities for p in one.values()):
                raise ValueError("no probability")
            return [{head: moved(one.get(head, 0), head, self._borders) for head in SCORES} for one in probabilities]


@contextmanager
def _closed() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        what = "took too long" if isinstance(error, TimeoutError) else f"failed ({type(error).__name__})"
        raise Unavailable(
            f"the detector of CORDON_DETECTOR {what}.", hint="`cordon doctor` tells whether it works."
        ) from error


def detector(settings: Settings) -> OperatorDetector | None:
    """None where the setting names none. Raises BadSettings when what it names is not there."""
    if not settings.detector:
        return None
    name = settings.detector.removeprefix(_ENTRY)
    return OperatorDetector(Function(name) if name != settings.detector else Classifier(settings), settings)
