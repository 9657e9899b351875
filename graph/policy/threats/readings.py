"""What a text says, in all the ways that deserve a look: as it stands, and with its disguises undone."""

from dataclasses import dataclass

from graph.policy.text.canonical import Canonical, canonicalise
from graph.policy.threats import courtesy, lexicon, mention
from graph.policy.threats.views import views
from graph.policy.threats.views.view import View

_BETTER = 0.15  # how much more readable than the text a view must be to take its place
_READABLE = 0.5


@dataclass(frozen=True)
class Readings:
    """One text in all its readings."""

    canonical: Canonical  # of the text as it stands
    views: tuple[View, ...]
    hidden: tuple[str, ...]  # the canonical text of each view
    learned: tuple[str, ...]  # what the learned layer reads, likeliest first; quotations and courtesies left out


def read(text: str) -> Readings:
    """All readings of a text; linear in its length."""
    canonical = canonicalise(text)
    disguises = tuple(views(text if not text.isascii() and _hides(text) else canonical.text))
    plain = courtesy.without(mention.without(canonical.text))
    if not disguises:
        return Readings(canonical, (), (), (plain,))
    hidden = tuple(canonicalise(view.text).text for view in disguises)
    others = [courtesy.without(mention.without(text)) for text in hidden]
    shares = {reading: lexicon.readable(reading) for reading in others}
    best = max(others, key=lambda reading: shares[reading])
    readable = [reading for reading in others if shares[reading] > _READABLE and reading != best]
    if shares[best] > lexicon.readable(canonical.text) + _BETTER:
        return Readings(canonical, disguises, hidden, (best, *readable))
    best_too = [best] if shares[best] > _READABLE else []
    return Readings(canonical, disguises, hidden, (plain, *best_too, *readable))


def _hides(text: str) -> bool:
    """Whether there are characters that the canonical form drops or changes and a view would read."""
    return any(
        c > "\U000e0000" or "\ufe00" <= c <= "\ufe0f" or "\u2801" <= c <= "\u28ff" or c in "ɐɔǝɟƃɓɥᴉıɾʞɯɹʇʌʍʎ"
        for c in text
    )
