"""The learned layer: six linear models over hashed n-grams and, where given, the sentence embedding.

Weights, calibration and their making: `python -m evals.train`, docs/guards.md. They are read without pickle.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graph.policy.sentences import split
from graph.policy.threats import encoder, features
from graph.policy.threats.parts import parts, stems

FILE = Path(__file__).with_name("weights") / "threats.npz"
HEADS = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm")
EMBEDDED = 256  # characters that are embedded: 4 ms for a short question, 12 ms for this many
WINDOWS = 12  # of one reading
_INJECTION = HEADS.index("injection")
_SHORTEST, _LONGEST = 12, 400

Embed = Callable[[list[str]], Any]  # texts → rows of length 1


@dataclass(frozen=True)
class Model:
    """Coefficients by head. A margin is the n-grams' plus, if there is one, the embedding's; both on one scale."""

    words: Any  # (heads, features.SIZE) float32
    bias: Any  # (heads,)
    vector: Any  # (heads, dimensions)
    vector_bias: Any  # (heads,)
    knots: dict[str, tuple[Any, Any]]  # "plain:injection" or "embedded:injection" → margins, scores (both rising)
    digest: str


@dataclass(frozen=True)
class Tuned:
    """An encoder fine-tuned for injection: its margins of texts, their share, and the knots of its sum with the n-grams."""

    margins: Callable[[Sequence[str]], Any]
    share: float
    knots: tuple[Any, Any]


@dataclass(frozen=True)
class Hit:
    """The highest score of one head, and the part of the reading that has it."""

    score: float
    start: int
    end: int


@cache
def model() -> Model:
    """The shipped weights; raises FileNotFoundError without them, ValueError when they do not fit this code."""
    import numpy as np

    data = FILE.read_bytes()
    with np.load(FILE, allow_pickle=False) as stored:
        if stored["words"].shape != (len(HEADS), features.SIZE):
            raise ValueError(f"{FILE.name} was trained for other features: {stored['words'].shape!r}.")
        words = stored["words"].astype(np.float32) * stored["scale"].astype(np.float32)[:, None]
        knots = {
            f"{mode}:{head}": (stored[f"{mode}_margins"][at], stored[f"{mode}_scores"][at])
            for mode in ("plain", "embedded")
            for at, head in enumerate(HEADS)
        }
        return Model(
            words, stored["bias"], stored["vector"], stored["vector_bias"], knots, hashlib.sha256(data).hexdigest()
        )


def tuned() -> Tuned | None:
    """The shipped encoder; None without its weights."""
    if not encoder.present():
        return None
    steps = encoder.steps()
    return Tuned(encoder.margins, steps.share, steps.knots)


def digest() -> str:
    """SHA-256 of the digests of both weights files, for the record."""
    both = model().digest + (encoder.steps().digest if encoder.present() else "")
    return hashlib.sha256(both.encode()).hexdigest()


def windows(text: str) -> list[tuple[int, int]]:
    """The whole, and sentence by sentence where there are several: a long text must not hide a short attack.

    Of many sentences the first and last three are taken, and between them those with most words of attacks.
    """
    whole = (0, len(text))
    if len(text) <= _SHORTEST * 2:
        return [whole]
    pieces = [
        (at, min(begin + b, at + _LONGEST))
        for begin, part in parts(text)
        for a, b in split(part)
        for at in range(begin + a, begin + b, _LONGEST)
        if begin + b - at >= _SHORTEST
    ]
    if len(pieces) <= 1:
        return [whole]
    if len(pieces) <= WINDOWS:
        return [whole, *pieces]
    ends = WINDOWS // 4
    middle = pieces[ends:-ends]
    densest = sorted(middle, key=lambda piece: (-stems(text[piece[0] : piece[1]]), piece))[: WINDOWS - 2 * ends]
    return [whole, *pieces[:ends], *sorted(densest), *pieces[-ends:]]


def margins(weights: Model, texts: Sequence[str]) -> Any:
    """n-gram margins, shape (len(texts), heads)."""
    import numpy as np

    columns, values, starts = features.sparse_many(texts)
    parts = weights.words[:, columns] * values
    sums = np.concatenate([np.zeros((len(weights.words), 1)), np.cumsum(parts, axis=1, dtype=np.float64)], axis=1)
    return (sums[:, starts[1:]] - sums[:, starts[:-1]]).T + weights.bias


def scores(
    readings: Sequence[str], embed: Embed | None = None, weights: Model | None = None, by: Tuned | None = None
) -> dict[str, Hit]:
    """For each head the calibrated score 0-1 of the worst window of the readings; offsets are in that window's reading.

    Only the first reading's offsets mean anything to the caller: hits of the others span (0, 0). For injection an
    encoder takes the embedding's place: the shipped one beside the shipped weights, beside others only one that is
    given (so that weights learned without a source are not judged with an encoder that knows it).
    """
    import numpy as np

    by = tuned() if weights is None and embed is not None else by
    weights = weights or model()
    places = [(n, a, b) for n, reading in enumerate(readings) for a, b in windows(reading)]
    found = margins(weights, [readings[n][a:b] for n, a, b in places])
    mode = "plain"
    if embed is not None:
        looked = [shown(reading) for reading in readings[:2]]
        vectors = np.asarray(embed(looked), np.float32)
        if vectors.shape[1:] != weights.vector.shape[1:]:
            raise ValueError(
                f"the weights want embeddings of {weights.vector.shape[1]} numbers, not {vectors.shape!r}."
            )
        mode = "embedded"
        extra = vectors @ weights.vector.T + weights.vector_bias
        if by is not None:
            extra[:, _INJECTION] = by.share * by.margins(looked)
        found = found + extra[np.minimum([n for n, _, _ in places], len(extra) - 1)]
    result = {}
    for at, head in enumerate(HEADS):
        best = int(found[:, at].argmax())
        n, start, end = places[best]
        knots = by.knots if by is not None and at == _INJECTION else weights.knots[f"{mode}:{head}"]
        score = float(np.interp(found[best, at], *knots))
        result[head] = Hit(score, *((start, end) if n == 0 else (0, 0)))
    return result


def shown(text: str) -> str:
    """What is embedded of a reading: its head and tail."""
    return text if len(text) <= EMBEDDED else f"{text[: EMBEDDED * 2 // 3]} {text[-EMBEDDED // 3 :]}"
