"""Greetings, wishes and thanks: sentences that ask for nothing. The learned layer does not judge them, and
they are no part of a search.

Texts to steer an assistant often speak to it kindly, so the n-grams of "Thank you very much for your help!" count there
as a sign of one; people who ask their colleagues something write the same. The rules still read all of it.
"""

import math
import re

from graph.policy.text.sentences import split
from graph.policy.threats.lazy import pattern
from graph.policy.threats.parts import stems

_LONGEST = 160  # characters of a sentence
_COURTESY = pattern(
    r"\b(?:thanks?|thankful|grateful|appreciated?|hello|hi|hey|greetings|dear|good (?:morning|day|afternoon|evening)"
    r"|hope|regards|wishes|cheers|sincerely|sorry)\b",
    re.IGNORECASE,
)
# Nothing here names a thing, an act or a person that could be asked for.
_WORDS = frozenset(
    """thank thanks thankful grateful appreciate appreciated hello hi hey greetings dear good morning day afternoon
    evening hope regards wishes cheers sincerely faithfully sorry i i'm we we're you you're your yours all everyone
    everybody team colleagues there sir madam folks again fine well great nice lovely wonderful happy best kind kindest
    warm warmest many much very so really truly a an the any in advance and for to of at this that it is are am be been
    do does doing find finds finding having had have week weekend time help assistance support advice patience
    understanding attention would will if possible please kindly me us my our bother bothering disturb disturbing
    trouble question another with looking forward hear hearing from soon""".split()
)
_OTHERS = 1  # words of a sentence: a name, a thing thanked for; an order takes two
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def without(text: str) -> str:
    """The text without sentences that are courtesy alone; linear in its length."""
    if not _COURTESY.search(text):
        return text
    parts, at = list[str](), 0
    for start, end in split(text):
        if _others(text[start:end]) <= _OTHERS:
            parts.append(text[at:start])
            at = end
    return "".join([*parts, text[at:]]).strip() if parts else text


def bare(question: str) -> str:
    """The question without such sentences; as it stands where it has no others."""
    return without(question) or question


def alone(text: str) -> bool:
    """Whether the text says nothing else, not even a name or a thing, and asks nothing."""
    if "?" in text or not _COURTESY.search(text):
        return False
    return all(_others(text[start:end]) == 0 for start, end in split(text))


def _others(sentence: str) -> float:
    """How many words of a sentence are none of courtesy; more than any number where it is no courtesy."""
    if len(sentence) > _LONGEST or not _COURTESY.search(sentence):
        return math.inf
    words = (word.replace("’", "'") for word in _WORD.findall(sentence.lower()))
    others = [word for word in words if word not in _WORDS]
    return math.inf if stems(" ".join(others)) else len(others)
