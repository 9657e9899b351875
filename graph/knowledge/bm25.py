"""Words as a word index has them, by their stems, and BM25 as SQLite's FTS5 reckons it: every store ranks alike."""

import math
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

_K1, _B, _LEAST = 1.2, 0.75, 1e-6  # FTS5's, which are fixed; the last is the weight of a word in most chunks
_one_at_a_time = threading.Lock()


def damping(lengths: np.ndarray, mean: float) -> np.ndarray:
    """What the length of each chunk, in words, takes from a word's weight; `mean` is of all chunks of the space."""
    return np.asarray(_K1 * (1 - _B + _B * lengths / mean))


def scores(chunks: int, times: np.ndarray, damped: np.ndarray) -> np.ndarray:
    """What a word adds to the score of each chunk that holds it so many times, of so many chunks in all."""
    weight = math.log((chunks - len(times) + 0.5) / (len(times) + 0.5)) if chunks else 0.0
    return np.asarray((weight if weight > 0 else _LEAST) * (times * (_K1 + 1) / (times + damped)))


def tokens(texts: Sequence[str]) -> list[list[str]]:
    """The stems of each text in their order, from FTS5 itself: there is no second copy of Porter's algorithm here."""
    stemmed: list[list[str]] = [[] for _ in texts]
    with _one_at_a_time:
        db = _shared_tokenizer()
        db.execute("BEGIN")
        try:
            for number, stem in stems(db, [text.replace("\x00", " ") for text in texts], "doc, offset"):
                stemmed[number].append(stem)
        finally:
            db.execute("ROLLBACK")  # nothing of anybody's question stays
    return stemmed


def stems(db: sqlite3.Connection, texts: Iterable[str], order: str) -> Iterable[tuple[int, str]]:
    """Number of the text, counted from 0, and stem of every word."""
    db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
    yield from db.execute(f"SELECT doc, term FROM places ORDER BY {order}")


def tokenizer() -> sqlite3.Connection:
    """A database in memory with the tables that `stems` fills and reads."""
    db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    db.execute("CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = 'porter unicode61')")
    db.execute("CREATE VIRTUAL TABLE places USING fts5vocab(words, instance)")
    return db


_shared_tokenizer = cache(tokenizer)
