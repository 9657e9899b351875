"""Hashed character and word n-grams of a text: what the learned layer sees. numpy is imported on first use.

One vector has two blocks of unit length, so that a long text weighs no more than a short one. Hashes are fixed
arithmetic on code points, the same on every machine.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from graph.policy.threats.lazy import pattern

BITS = 17  # 2**17 buckets for each block
SIZE = 2 << BITS
CHAR_GRAMS = (2, 3, 4, 5)
WORD_GRAMS = (1, 2, 3)
READ = 2_000  # characters of one window; more would cost time and say no more

_WORD = pattern(r"\w+|[^\w\s]")
_DIGIT = pattern(r"\d")
_SPACE = pattern(r"\s+")
_P, _Q = 0x9E3779B1, 0x85EBCA6B  # odd constants of the golden ratio and of MurmurHash3's finaliser
_MASK = 0xFFFFFFFF


def normal(text: str) -> str:
    """Lower case, one space for any white space, 0 for any digit."""
    return _SPACE.sub(" ", _DIGIT.sub("0", text[:READ].lower())).strip()


def sparse(text: str) -> tuple[Any, Any]:
    """Buckets (int64, each once) and their values (float32) of a canonical text; both empty for an empty one."""
    columns, values, _ = sparse_many([text])
    return columns, values


def sparse_many(texts: Sequence[str]) -> tuple[Any, Any, Any]:
    """Buckets and values of all texts, one after the other, and where each text begins (len(texts) + 1 numbers)."""
    import numpy as np

    plain = [normal(text) for text in texts]
    padded = [f" {text} " if text else "" for text in plain]
    codes = np.frombuffer("".join(padded).encode("utf-32-le", "replace"), np.uint32)
    words = [[1, *map(_hash, _WORD.findall(text)), 2] if text else [] for text in plain]
    symbols = np.array([word for row in words for word in row], np.uint32)
    keys = np.concatenate(
        [
            _keys(codes, [len(text) for text in padded], CHAR_GRAMS, 0),
            _keys(symbols, [len(row) for row in words], WORD_GRAMS, 1),
        ]
    )
    keys.sort()
    keys = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
    block = keys >> BITS  # two blocks to a text
    counts = np.bincount(block, minlength=2 * len(texts))
    values = (np.maximum(counts, 1) ** -0.5).astype(np.float32)[block]
    starts = np.concatenate([[0], np.cumsum(counts.reshape(-1, 2).sum(1))])
    return keys & (SIZE - 1), values, starts


def _keys(symbols: Any, lengths: Sequence[int], sizes: tuple[int, ...], block: int) -> Any:
    """One key for each n-gram: the number of its text, the block, the bucket."""
    import numpy as np

    owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    keys = []
    rolling = np.zeros(len(symbols), np.uint32)
    for size in range(1, max(sizes) + 1):
        if size > len(symbols):
            break
        rolling = rolling[: len(symbols) - size + 1] * np.uint32(_P) + symbols[size - 1 :]
        if size in sizes:
            mixed = (rolling ^ (rolling >> np.uint32(15)) ^ np.uint32(size)) * np.uint32(_Q)
            bucket = ((mixed ^ (mixed >> np.uint32(13))) >> np.uint32(32 - BITS)).astype(np.int64)
            first = owner[: len(owner) - size + 1]
            within = first == owner[size - 1 :]
            keys.append((((2 * first + block) << BITS) | bucket)[within])
    return np.concatenate(keys) if keys else np.empty(0, np.int64)


@lru_cache(maxsize=20_000)
def _hash(word: str) -> int:
    """FNV-1a over the word's code points, capped: words longer than 40 characters are no words."""
    value = 0x811C9DC5
    for char in word[:40]:
        value = ((value ^ ord(char)) * 0x01000193) & _MASK
    return value
