"""Things of one name that are told apart by their numbers: "phase 2", "visits 4, 5 and 7-9", "STORM 1"."""

import re
from collections.abc import Collection

from graph.knowledge.index import content_words
from graph.policy.text import lexical

MOST = 200  # from the first to the last of a range
_NUMBERED = re.compile(
    r"\b(?P<noun>[^\W\d_]{3,}) (?:no\.? ?|#)?"
    r"(?P<numbers>\d{1,4}(?:(?:,? (?:and|or) | ?[–/,-] ?| (?:to|through) )\d{1,4})*)(?![\d:%]|[.,]\d)",
    re.I,
)
_RUN = re.compile(r"(\d+)(?: ?(?:[–-]|to|through) ?(\d+))?")
# What is numbered though its name begins with a small letter.
USUAL = frozenset(
    lexical.stem(noun)
    for noun in """annex appendix article building category chapter class clause experiment floor form grade group item
    level memo milestone module option part phase priority question room round section stage step stream table task tier
    type unit version visit""".split()
)
_NONE = frozenset(
    lexical.stem(word)
    for word in """january february march april may june july august september october november december jan feb mar apr
    jun jul aug sep sept oct nov dec within next last first about over under least most than every after before until
    since from only around approximately nearly minimum maximum total copyright""".split()
)


def numbered(text: str, nouns: Collection[str] | None = USUAL) -> dict[str, set[int]]:
    """The numbers by which a text calls things of one name, by the stem of the name: {"phas": {1, 2, 3}} for "Phases
    1-3". Of names with a small letter those whose stem is one of `nouns`, of all where that is None. A day of a month
    and an amount ("within 2 days") are none."""
    named: dict[str, set[int]] = {}
    for noun, numbers in ((match["noun"], match["numbers"]) for match in _NUMBERED.finditer(text)):
        stem = lexical.stem(noun.lower())
        known = nouns is None or noun[0].isupper() or stem in nouns
        if not known or stem in _NONE or not content_words(noun):
            continue
        for first, last in _RUN.findall(numbers):
            ends = int(first), int(last or first)  # "20-01" is a code
            named.setdefault(stem, set()).update(
                ends if ends[0] > ends[1] else range(ends[0], min(ends[1], ends[0] + MOST) + 1)
            )
    return named
