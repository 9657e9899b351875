"""The reader: how well a sentence answers a question, with the headings it stands under.

The embedded one is MiniLM moved by small steps (graph/onnx/minilm.py), which reads question and sentence together;
`python -m evals.suites.reader` learned them. Another one is a cross-encoder in a folder of one's own
(graph/onnx/folder.py).
"""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from graph import turn_cache
from graph.errors import Unavailable
from graph.onnx import minilm
from graph.onnx.folder import Folder
from graph.settings import Settings

FILE = Path(__file__).with_name("weights") / "reader.npz"
PIECES = 128  # of question and sentence together are read; it learned from as many
QUESTION_CHARS, PATH_CHARS, TEXT_CHARS = 300, 120, 700  # more would not be read

Passage = tuple[str, str]  # path of headings, text


class Reader(Protocol):
    """Reads question and sentence together."""

    def scores(self, question: str, passages: Sequence[Passage]) -> np.ndarray:
        """Log-odds that each answers the question, float32, shape (len(passages),)."""
        ...


class Embedded:
    """In process, on two threads, which share a question's passages."""

    def __init__(self, file: Path = FILE, threads: int = 2) -> None:
        self._file = file
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="cordon-reader")
        self._opening = threading.Lock()

    @cached_property
    def _opened(self) -> tuple[minilm.Runner, Any, float]:
        weights = minilm.steps(self._file)
        return minilm.runner(weights, PIECES, "piece"), weights.rest["line"], float(weights.rest["bias"])

    def scores(self, question: str, passages: Sequence[Passage]) -> np.ndarray:
        texts = [pair(question, *passage) for passage in passages]
        known = turn_cache.entries()  # several stages of a turn ask for the same sentence
        new = [text for text in dict.fromkeys(texts) if ("read", text) not in known]
        known |= {("read", text): value for text, value in zip(new, self._read(new), strict=True)}
        return np.array([known["read", text] for text in texts], np.float32)

    def _read(self, texts: list[tuple[str, str]]) -> Any:
        if not texts:
            return ()
        with self._opening:
            runner, line, bias = self._opened
        return runner.embed(texts, self._pool.map if len(texts) > 1 else map) @ line + bias


class CrossEncoder:
    """A cross-encoder with one output for a pair, or two, of which the second is "answers"."""

    def __init__(self, folder: str) -> None:
        self._folder = Folder(Path(folder), "CORDON_READER")

    def scores(self, question: str, passages: Sequence[Passage]) -> np.ndarray:
        log_odds = np.zeros(len(passages), np.float32)
        for at, values, _ in self._folder.run([pair(question, *passage) for passage in passages]):
            if values.ndim != 1 or len(values) > 2 or not np.isfinite(values).all():
                raise Unavailable("the reader of CORDON_READER gave no score.", hint="Is it a cross-encoder?")
            log_odds[at] = values[-1] - (values[0] if len(values) == 2 else 0.0)
        return log_odds


def pair(question: str, path: str, text: str) -> tuple[str, str]:
    """What is read together."""
    return question[:QUESTION_CHARS], (f"{path[-PATH_CHARS:]}: " if path else "") + text[:TEXT_CHARS]


_cross_encoder = cache(CrossEncoder)


@cache
def shared() -> Embedded:
    """The one embedded reader of this process: its weights are read-only."""
    return Embedded()


def reader(settings: Settings) -> Reader:
    """That of CORDON_READER, the same one for the whole process. Raises BadSettings for a folder that is none."""
    return shared() if settings.reader == "embedded" else _cross_encoder(settings.reader)
