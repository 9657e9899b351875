"""Documents that a question picks by their dates: "Which bylaw was revised last?", "What is our oldest policy?", "Which
procedures are overdue for review?". What a document says of its own dates stands in its fields."""

import re
from collections.abc import Sequence
from datetime import date

from graph.knowledge.index import STOP_WORDS, content_words
from graph.knowledge.mentions import Name
from graph.policy.question import mentioning
from graph.policy.text import lexical, quantities

_ASKED = re.compile(r"\W*(?:please )?(?:which|what|list|show(?: me)?|name|find|give me|are there)\b", re.I)
_LATEST = re.compile(r"\b(?:latest|newest|last|most recent(?:ly)?)\b", re.I)
_OLDEST = re.compile(r"\b(?:oldest|earliest|least recent(?:ly)?|longest ago)\b", re.I)
_OVERDUE = re.compile(
    r"\boverdue\b|\b(?:past|beyond) (?:its|their|the) (?:next )?(?:review|expiry|due)\b"
    r"|\b(?:review|expiry|due) dates? (?:that )?(?:has|have|is|are) (?:already )?(?:passed|past|over)\b",
    re.I,
)
_SMALL = {*map(lexical.stem, STOP_WORDS)}
_ANYTHING = {*lexical.stems("documents document files file pages page records record")}
# Words for one thing that a document says of itself. The first that are named in the question, else the first of which
# two documents have a date, are what is compared.
CHANGED = frozenset(lexical.stems("revised revision updated update changed change amended modified edited version"))
_KINDS = (
    CHANGED,
    frozenset(lexical.stems("effective effect valid force")),
    frozenset(lexical.stems("approved approval adopted adoption signed")),
    frozenset(lexical.stems("issued issue published publication released created written date")),
)
_REVIEW = frozenset(lexical.stems("review reviewed due expiry expires expired valid renewal"))
# What a question of this kind says beside what is asked for.
_ASIDE = {
    *lexical.stems("time times recent recently ago latest newest oldest earliest last longest day date when most")
}
_ASIDE |= {*lexical.stems("overdue past due passed already next review expiry still need needs")}


def asks(question: str) -> bool:
    """Whether it may be such a question; cheap."""
    dates = _LATEST.search(question) or _OLDEST.search(question) or _OVERDUE.search(question)
    return dates is not None and _ASKED.match(question) is not None


def picked(question: str, documents: Sequence[Name], today: date) -> list[int]:
    """The places of those documents; nothing where the question says more than the kind of document and the date, or
    fewer than two documents of the kind have such a date."""
    if not asks(question):
        return []
    asked = {*lexical.stems(" ".join(content_words(question)))} - _SMALL
    overdue = _OVERDUE.search(question) is not None
    named = _named(question)
    left = asked - _ASIDE - _ANYTHING - {word for words in (*_KINDS, _REVIEW) for word in words}
    kinds = {lexical.stem(mentioning.singular(word)) for word in lexical.words(question) if lexical.stem(word) in left}
    of_kind = [n for n, one in enumerate(documents) if not left or (left | kinds) & _called(one)]
    if (not left and not asked & _ANYTHING) or len(left) > 1 or len(of_kind) < 2:
        return []
    for words in named or _KINDS:
        days = {n: day for n in of_kind if (day := _last_day(documents[n], words))}
        if overdue:
            return [n for n, day in days.items() if day < today.toordinal()]
        if len(days) > 1:
            best = min(days.values()) if _OLDEST.search(question) else max(days.values())
            return [n for n, day in days.items() if day == best]
    return []


def line_of(question: str, lines: Sequence[str]) -> int | None:
    """Which of the first lines of a document says the date that the question picks it by."""
    dated = [(n, {*lexical.stems(line)}) for n, line in enumerate(lines) if any(quantities.dates(line))]
    return next((n for words in _named(question) or _KINDS for n, stems in dated if stems & words), None)


def _named(question: str) -> list[frozenset[str]]:
    """The kinds of dates that the question names."""
    asked = {*lexical.stems(question)}
    return [_REVIEW] if _OVERDUE.search(question) else [words for words in (*_KINDS, _REVIEW) if words & asked]


def _called(document: Name) -> frozenset[str]:
    """The stems by which a document is called: of its title, its file and the kind it says it is."""
    kinds = " ".join(value for name, value in document.fields if name.casefold() in ("type", "kind", "category"))
    return frozenset(lexical.stems(lexical.apart(f"{document.title} {document.filename} {kinds}")))


def _last_day(document: Name, words: frozenset[str]) -> int:
    """The last day that a field of these names says, as an ordinal; 0 for none."""
    values = [value for name, value in document.fields if {*lexical.stems(name)} & words]
    return max((day for value in values for day in quantities.dates(value)), default=0)
