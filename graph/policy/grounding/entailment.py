"""Does a stretch of evidence say what a claim says, contradict it, or neither? MiniLM, its layers moved by small steps,
reads the two together; `python -m evals.suites.support --train-encoder` learned them."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

from graph.onnx import minilm
from graph.policy.grounding.prepared import prepare
from graph.policy.grounding.stretch import stretch
from graph.policy.grounding.tokens import read

FILE = Path(__file__).with_name("weights") / "entailment.npz"
PIECES = 160  # of claim and evidence together are read; it learned from as many
CLAIM_CHARS, PART_CHARS, HEADING_CHARS = 300, 900, 80  # more would not be read
_LOADING = threading.Lock()

Pair = tuple[str, str]
Encoder = Callable[[Sequence[Pair]], Any]  # as `margins`


def pair(claim: str, evidence: str, heading: str = "") -> Pair:
    """What is read together of a claim and a whole evidence."""
    ready = prepare(evidence)
    part = " ".join(evidence[start:end] for start, end in stretch(read(claim), ready))
    return shown(claim, (f"{heading[-HEADING_CHARS:]}: " if heading else "") + part)


def shown(claim: str, part: str) -> Pair:
    """Both cut to what is read, CLAIM_CHARS and PART_CHARS."""
    return claim[:CLAIM_CHARS], part[:PART_CHARS]


@cache
def _opened(file: Path) -> tuple[minilm.Runner, Any, Any]:
    steps = minilm.steps(file)
    return minilm.runner(steps, PIECES, "piece"), steps.rest["line"], steps.rest["bias"]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(2, thread_name_prefix="cordon-support")


def margins(pairs: Sequence[Pair], file: Path = FILE) -> Any:
    """Log-odds of supported, contradicted and neutral, float32, shape (len(pairs), 3)."""
    with _LOADING:
        runner, line, bias = _opened(file)
    return runner.embed(pairs, _pool().map if len(pairs) > 1 else map) @ line + bias
