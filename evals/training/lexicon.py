"""Makes the list of common words (graph/policy/threats/lexicon.py) from texts that may ship."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ONE_LETTER = frozenset("ai")
# Two letters are mostly noise (names, codes) unless they are one of these.
_TWO_LETTERS = frozenset(
    "am an as at be by do go he hi if in is it me my no of oh ok on or so to up us we ai ip it's pi".split()
)
# Words of the trade that other people's questions seldom hold.
_ALWAYS = """ignore disregard forget override bypass reveal print dump previous prior instructions instruction system
prompt prompts rules guidelines developer mode unrestricted secret secrets password passwords confidential hidden
policy policies filter filters disable unmask redact redacted exfiltrate tenant tenants phone numbers jailbreak
unfiltered uncensored restrictions limits configuration initial verbatim repeat above execute admin administrator
credentials private personal data memory context assistant model decode follow""".split()


def write(texts: Iterable[str], file: Path, most: int = 9_000) -> int:
    """Writes the commonest words with their log frequency; returns how many."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(set(_WORD.findall(text.lower())))
    for word in _ALWAYS:
        counts[word] = max(counts[word], 40)
    kept = [
        (word, n)
        for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if n >= 3 and len(word) <= 18 and (len(word) > 2 or word in _TWO_LETTERS or word in _ONE_LETTER)
    ][:most]
    total = sum(n for _, n in kept)
    words = np.frombuffer("\n".join(word for word, _ in kept).encode(), np.uint8)
    np.savez(file, words=words, logs=np.log(np.array([n / total for _, n in kept])).astype(np.float16))
    return len(kept)
