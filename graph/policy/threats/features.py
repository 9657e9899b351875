"""Hashed character and word n-grams of a text: what the learned layer sees. numpy is imported on first use.

One vector has two blocks of unit length, so that a long text weighs no more than a short one. Hashes are fixed
arithmetic on code points, the same on every machine.
"""

import re
from typing import Any

BITS = 17  # 2**17 buckets for each block
SIZE = 2 << BITS
CHAR_GRAMS = (2, 3, 4, 5)
WORD_GRAMS = (1, 2, 3)
READ = 2_000  # characters of one window; more would cost time and say no more

_WORD = re.compile(r"\w+|[^\w\s]")
_DIGIT = re.compile(r"\d")
_SPACE = re.compile(r"\s+")
_P, _Q = 0x9E3779B1, 0x85EBCA6B  # odd constants of the golden ratio and of MurmurHash3's finaliser
_MASK = 0xFFFFFFFF


def normal(text: str) -> str:
    """Lower case, one space for any white space, 0 for any digit."""
    return _SPACE.sub(" ", _DIGIT.sub("0", text[:READ].lower())).strip()


def sparse(text: str) -> tuple[Any, Any]:
    """Buckets (int64, each once) and their values (float32) of a canonical text; both empty for an empty one."""
    import numpy as np

    plain = normal(text)
    if not plain:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    padded = f" {plain} "
    codes = np.frombuffer(padded.encode("utf-32-le", "replace"), np.uint32)
    words = [_hash(word) for word in _WORD.findall(plain)]
    blocks = (
        _buckets(codes, CHAR_GRAMS),
        _buckets(np.array([1, *words, 2], np.uint32), WORD_GRAMS) + (1 << BITS),
    )
    values = [np.full(len(block), len(block) ** -0.5, np.float32) for block in blocks if len(block)]
    return np.concatenate(blocks), np.concatenate(values)


def _buckets(symbols: Any, sizes: tuple[int, ...]) -> Any:
    """The distinct buckets of all n-grams of a row of symbols."""
    import numpy as np

    found = []
    rolling = np.zeros(len(symbols), np.uint32)
    for size in range(1, max(sizes) + 1):
        if size > len(symbols):
            break
        rolling = rolling[: len(symbols) - size + 1] * np.uint32(_P) + symbols[size - 1 :]
        if size in sizes:
            mixed = (rolling ^ (rolling >> np.uint32(15)) ^ np.uint32(size)) * np.uint32(_Q)
            found.append((mixed ^ (mixed >> np.uint32(13))) >> np.uint32(32 - BITS))
    return np.unique(np.concatenate(found)).astype(np.int64) if found else np.empty(0, np.int64)


def _hash(word: str) -> int:
    """FNV-1a over the word's code points, capped: words longer than 40 characters are no words."""
    value = 0x811C9DC5
    for char in word[:40]:
        value = ((value ^ ord(char)) * 0x01000193) & _MASK
    return value
