"""The learned layer: six linear models over hashed n-grams and, where it is asked, an encoder.

Weights, calibration and their making: `python -m evals.training.train`, `python -m evals.training.finetune`,
docs/guards-measured.md. They are read without pickle.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from graph.policy.text.sentences import split
from graph.policy.threats import abuse, encoder, features, surroundings
from graph.policy.threats.parts import parts, stems

FILE = Path(__file__).with_name("weights") / "threats.npz"
HEADS = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm")
SHOWN = 1_000  # characters that the encoder reads
WINDOWS = 12  # of one reading
_AGAIN = 1.2  # off the margin of a sentence that the encoder reads alone, out of a long text
SIZE = features.SIZE + 1  # n-grams, then whether a word of abuse occurs
_ABUSE = 0.6  # its value, next to n-gram blocks of length 1; as planted.py has it for its classes of words
_SHORTEST, _LONGEST = 12, 400

Knots = tuple[Any, Any]  # margins and scores, both rising


@dataclass(frozen=True)
class Model:
    """Coefficients of the n-grams by head, and the knots that turn their margins into scores."""

    words: Any  # (heads, SIZE) float32
    bias: Any  # (heads,)
    knots: Sequence[Knots]
    digest: str


@dataclass(frozen=True)
class Tuned:
    """A fine-tuned encoder: its margins of texts, their shares, and each head's knots of its sum with the n-grams."""

    margins: Callable[[Sequence[str]], Any]  # texts → (texts, heads)
    share: Any  # (heads,)
    knots: Sequence[Knots]


@dataclass(frozen=True)
class HeadScore:
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
        if stored["words"].shape != (len(HEADS), SIZE):
            raise ValueError(f"{FILE.name} was trained for other features: {stored['words'].shape!r}.")
        words = stored["words"].astype(np.float32) * stored["scale"].astype(np.float32)[:, None]
        words = np.asfortranarray(words)  # the heads of one n-gram side by side: they are asked together
        knots = list(zip(stored["knot_margins"], stored["knot_scores"], strict=True))
        return Model(words, stored["bias"], knots, hashlib.sha256(data).hexdigest())


def tuned(file: Path = encoder.FILE) -> Tuned:
    """The encoder of a weights file, by default the shipped one."""
    steps = encoder.heads(file)
    return Tuned(partial(encoder.margins, file=file), steps.share, steps.knots)


@cache
def digest() -> str:
    """SHA-256 of the digests of both weights files, for the record."""
    return hashlib.sha256((model().digest + encoder.heads().digest).encode()).hexdigest()


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


def sparse(text: str) -> tuple[Any, Any]:
    """Columns below SIZE (int64) and their values (float32)."""
    import numpy as np

    columns, values = features.sparse(text)
    if not _abuses(text):
        return columns, values
    return np.append(columns, features.SIZE), np.append(values, np.float32(_ABUSE))


def _abuses(text: str) -> bool:
    return abuse.occurs(text[: features.READ])


def margins(weights: Model, texts: Sequence[str]) -> Any:
    """Margins without the encoder, shape (len(texts), heads): `sparse` times the weights, for all texts at once."""
    import numpy as np

    columns, values, starts = features.sparse_many(texts)
    parts = weights.words.T[columns] * values[:, None]
    sums = np.concatenate([np.zeros((1, len(weights.words))), np.cumsum(parts, axis=0, dtype=np.float64)])
    abusive = np.array([[_ABUSE * _abuses(text)] for text in texts])
    return sums[starts[1:]] - sums[starts[:-1]] + abusive * weights.words[:, -1] + weights.bias


def scores(readings: Sequence[str], by: Tuned | None = None, weights: Model | None = None) -> dict[str, HeadScore]:
    """For each head the calibrated score 0-1 of the worst window of the readings; offsets are in that window's reading.

    Only the first reading's offsets mean anything to the caller: hits of the others span (0, 0). An encoder, if given,
    looks at the first two readings, and at what `_doubted` gives.
    """
    import numpy as np

    weights = weights or model()
    if not any(reading.strip() for reading in readings):
        return {head: HeadScore(0.0, 0, 0) for head in HEADS}
    places = [(n, a, b) for n, reading in enumerate(readings) for a, b in windows(reading)]
    by_part = _each(partial(margins, weights), [readings[n][a:b] for n, a, b in places])
    if by is not None:
        again = _doubted(readings[0], places, by_part[:, 0])
        texts = [*map(shown, readings[:2]), *(readings[0][a:b] for _, a, b in places[again])]
        extra = by.share * _each(by.margins, texts)
        alone = by_part[again, 0] + extra[len(extra) - len(places[again]) :, 0] - _AGAIN
        by_part = by_part + extra[np.minimum([n for n, _, _ in places], min(len(readings), 2) - 1)]
        by_part[again, 0] = np.maximum(by_part[again, 0], alone)
    knots = weights.knots if by is None else by.knots
    result = {}
    for at, head in enumerate(HEADS):
        best = int(by_part[:, at].argmax())
        n, start, end = places[best]
        score = float(np.interp(by_part[best, at], *knots[at]))
        result[head] = HeadScore(score, *((start, end) if n == 0 else (0, 0)))
    return result


def _doubted(text: str, places: Sequence[tuple[int, int, int]], margins: Any) -> slice:
    """The sentence of a long text that looks most like an attack, where it is a stranger on its page: the encoder sees
    head and tail. System prompts and policies give orders too, in the words of their page."""
    own = [at for at, (n, a, b) in enumerate(places) if n == 0 and b - a < len(text)]
    likeliest = max(own, key=lambda at: margins[at], default=0)
    _, start, end = places[likeliest]
    beside = ((max(0, start - surroundings.NEAR), start), (start, end), (end, end + surroundings.NEAR))
    strange = len(text) > SHOWN and surroundings.strange(beside, [text[a:b] for a, b in beside])[1]
    return slice(likeliest, likeliest + bool(strange))


def _each(margins: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Any:
    """A row for each text. Readings of one text have most of their sentences in common."""
    rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    return margins(list(rows))[[rows[text] for text in texts]]


def shown(text: str) -> str:
    """What the encoder reads of a reading: its head and tail."""
    return text if len(text) <= SHOWN else f"{text[: SHOWN * 2 // 3]} {text[-SHOWN // 3 :]}"
