"""Whether a sentence of a document belongs where it stands: planted ones speak of other things than their neighbours.

A handbook that tells its readers what to do says it in the words of its page.
"""

from collections import Counter
from collections.abc import Sequence

from graph.policy.threats.lazy import pattern

NEAR = 1_500  # characters to each side
STRANGE = 0.75  # share of a sentence's words that occur nowhere near it
_FEW = 15  # different words around it; fewer say nothing about what belongs there
_OWN = 3  # words of the sentence itself, likewise
_READ = 2_000
_STEM = 5  # characters; words that begin alike are taken for one
_WORD = pattern(r"[^\W\d_]{4,}")
# Words that any text holds.
_COMMON = frozenset(
    word[:_STEM]
    for word in """this that with from have will your they them their there which what when where would could should
    about into than then only also more most some such each other these those been were does must please following
    every very just over make sure need using used include provide write give list answer response""".split()
)


def strange(ranges: Sequence[tuple[int, int]], sentences: Sequence[str]) -> list[bool | None]:
    """Of each sentence whether its words occur nowhere near it, None where too few stand around it to say; `ranges` are
    the places of the sentences in the text. Linear."""
    words = [_words(sentence) for sentence in sentences]
    counts, around = Counter[str](), Counter[str]()  # sentences and words of the window
    kinds = begin = end = 0
    verdicts: list[bool | None] = []
    for at, (start, stop) in enumerate(ranges):
        while end < len(ranges) and ranges[end][1] <= stop + NEAR:
            counts[sentences[end]] += 1
            if counts[sentences[end]] == 1:  # what is said twice does not vouch for itself
                for word in words[end]:
                    kinds += around[word] == 0
                    around[word] += 1
            end += 1
        while ranges[begin][0] < start - NEAR:
            counts[sentences[begin]] -= 1
            if counts[sentences[begin]] == 0:
                for word in words[begin]:
                    around[word] -= 1
                    kinds -= around[word] == 0
            begin += 1
        own = words[at]
        alone = sum(around[word] == 1 for word in own)  # counted once: in the sentence itself
        verdicts.append(len(own) >= _OWN and alone >= STRANGE * len(own) if kinds - len(own) >= _FEW else None)
    return verdicts


def _words(sentence: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(sentence[:_READ].lower())) - _COMMON
