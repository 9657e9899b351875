"""What a text says, in all the ways that deserve a look: as it stands, and with its disguises undone."""

from dataclasses import dataclass

from graph.policy.text.canonical import Canonical, canonicalise
from graph.policy.threats import courtesy, lexicon, mention
from graph.policy.threats.views import views
from graph.policy.threats.views.view import View

_BETTER = 0.15  # so much more readable must a view be to take the place of the text
_READABLE = 0.5


@dataclass(frozen=True)
class Readings:
    canonical: Canonical  # of the text as it stands
    views: tuple[View, ...]
    hidden: tuple[str, ...]  # the canonical text of each view
    learned: tuple[str, ...]  # what the learned layer reads, likeliest first; quotations and courtesies left out


def read(text: str) -> Readings:
    canonical = canonicalise(text)
    found = tuple(views(text if not text.isascii() and _hides(text) else canonical.text))
    plain = courtesy.without(mention.without(canonical.text))
    if not found:
        return Readings(canonical, (), (), (plain,))
    hidden = tuple(canonicalise(view.text).text for view in found)
    others = [courtesy.without(mention.without(text)) for text in hidden]
    shares = {other: lexicon.readable(other) for other in others}
    best = max(others, key=lambda other: shares[other])
    readable = [other for other in others if shares[other] > _READABLE and other != best]
    if shares[best] > lexicon.readable(canonical.text) + _BETTER:
        return Readings(canonical, found, hidden, (best, *readable))
    best_too = [best] if shares[best] > _READABLE else []
    return Readings(canonical, found, hidden, (plain, *best_too, *readable))


def _hides(text: str) -> bool:
    """Whether there are characters that the canonical form drops or changes and a view would read."""
    return any(
        c > "\U000e0000" or "\ufe00" <= c <= "\ufe0f" or "\u2801" <= c <= "\u28ff" or c in "ɐɔǝɟƃɓɥᴉıɾʞɯɹʇʌʍʎ"
        for c in text
    )
