"""Classes of words in a sentence of a document, which tell an order to a machine from information.

N-grams know the words of the training texts. These classes also know words of the same kind that no training text held.
"""

from graph.policy.threats.lazy import pattern
from graph.policy.threats.rule import Table

_TABLE = Table("cues")
NAMES = tuple(_TABLE.content["patterns"])
_SHORTEST = 8  # characters that say anything: a document may be a million full stops
_PATTERNS = tuple(_TABLE.pattern(name, 0) for name in NAMES)  # of lower case: twice as fast as ignoring case
SIZE = len(NAMES) * (len(NAMES) + 1) // 2


def columns(sentence: str) -> list[int]:
    """The classes that occur in a sentence and the pairs of them, as numbers below SIZE, ascending."""
    if len(sentence) < _SHORTEST:
        return []
    sentence = sentence.lower()
    classes = [at for at, pattern in enumerate(_PATTERNS) if pattern.search(sentence)]
    return sorted(b * (b + 1) // 2 + a for n, a in enumerate(classes) for b in classes[n:])


_MOOD = ("say", "do", "ask", "please", "must", "hide", "right", "instead", "link", "forged", "tongue")
_DIRECTS = tuple(_PATTERNS[NAMES.index(name)] for name in _MOOD)


def directs(sentence: str) -> bool:
    """Whether the sentence orders, asks, obliges, permits or forges; a plain statement about machines does not."""
    sentence = sentence.lower()
    return any(pattern.search(sentence) for pattern in _DIRECTS)


_SAYS = _PATTERNS[NAMES.index("say")]
_ASKS = pattern(r"^\W*(?:please )?(?:can|could|would|will) you\b")

_NOTES = pattern(r"^\W*(?:(?:please|and|also|then) )*write (?:it |them |this |that |these )?(?:down|up)\b")  # on paper


def asks_for_words(sentence: str) -> bool:
    """Whether the sentence orders something that is done with words, or asks as one asks an assistant."""
    sentence = sentence.lower()
    return not _NOTES.search(sentence) and bool(_SAYS.search(sentence) or _ASKS.search(sentence))
