"""Slurs and obscenities, in English and in Urdu of Latin letters.

A word of them proves nothing by itself (people swear at printers, report what they were called, study it): the
learned layer weighs it among the rest. Words with a plain use in laboratories and on maps stay out (prick, dyke, coon).
"""

import re

from graph.policy.threats import literal_prefilter
from graph.policy.threats.lazy import pattern

_WORDS = pattern(
    r"\b(?:(?:mother)?fuck\w*|cunts?|bitch(?:es|y)?|whor(?:es?|ing)|sluts?|retard(?:s|ed)?|fag(?:s|g?ots?)?|nigg(?:a|er)s?|"
    r"assholes?|arseholes?|bastards?|dickheads?|dumbass(?:es)?|jackass(?:es)?|twats?|wankers?|puss(?:y|ies)|scumbags?|"
    r"shit(?:s|ty|heads?)?|bullshit|pakis?|kikes?|trann(?:y|ies)|ragheads?|towelheads?|morons?|idiots?|imbeciles?|"
    r"subhumans?|vermin|haram(?:i|zad[ai])|kutt[aei]|madarch\w+|behench\w+|chutiy\w+)\b",
    re.I,
)


def occurs(text: str) -> bool:
    """Whether one of the words stands in a canonical text."""
    return literal_prefilter.search(_WORDS, text) is not None
