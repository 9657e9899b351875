"""The guard's own reading of a text: MiniLM, its layers moved by small steps, and a line on the result for each head.

The steps were learned by `python -m evals.training.finetune` (graph/onnx/minilm.py).
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graph.onnx import minilm

FILE = Path(__file__).with_name("weights") / "encoder.npz"
PIECES = 256  # of a text are read; it learned from as many
_LOADING = threading.Lock()  # two questions at once must not both build the session


@dataclass(frozen=True)
class Heads:
    """What reads the embedding; heads in the order of learned.HEADS."""

    lines: Any  # (384, heads)
    bias: Any  # (heads,)
    share: Any  # (heads,), of these margins next to the n-grams'
    knots: list[tuple[Any, Any]]  # of each head: margins and scores, both rising, of n-grams and encoder together
    digest: str


@cache
def heads(file: Path = FILE) -> Heads:
    """The heads of a weights file, read once."""
    steps = minilm.steps(file)
    knots = list(zip(steps.rest["knot_margins"], steps.rest["knot_scores"], strict=True))
    return Heads(steps.rest["line"], steps.rest["bias"], steps.rest["share"], knots, steps.digest)


@cache
def _runner(file: Path) -> minilm.Runner:
    return minilm.runner(minilm.steps(file), PIECES)


def margins(texts: Sequence[str], file: Path = FILE) -> Any:
    """How much each text looks like what each head knows: (texts, heads), in standard deviations of training texts."""
    with _LOADING:
        lines, bias, runner = heads(file).lines, heads(file).bias, _runner(file)
    return runner.embed(texts) @ lines + bias
