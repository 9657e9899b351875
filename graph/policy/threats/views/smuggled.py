"""Text in characters that draw nothing, or that draw letters upside down or as dots."""

from collections.abc import Iterator

from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.encoded import as_text
from graph.policy.threats.views.view import READ, READABLE, View

_TAGS = pattern("[\U000e0020-\U000e007e]{4,}")
_SELECTORS = pattern("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")


def smuggled(text: str) -> Iterator[View]:
    """One reading of each invisible run, and of the whole text where letters are flipped or in Braille."""
    if text.isascii():
        return
    for match in _TAGS.finditer(text):
        hidden = "".join(chr(ord(c) - 0xE0000) for c in match.group()[:READ])
        yield View(hidden, "invisible tag characters", *match.span())
    for match in _SELECTORS.finditer(text):
        data = bytes(ord(c) - 0xFE00 if ord(c) < 0xFF00 else ord(c) - 0xE0100 + 16 for c in match.group()[:READ])
        if hidden := as_text(data):
            yield View(hidden, "variation selectors", *match.span())
    flipped = text[:READ].translate(_FLIPPED)[::-1]
    if sum(c in _FLIPPED_CHARS for c in text[:READ]) >= 4 and lexicon.readable(flipped) >= READABLE:
        yield View(flipped, "upside-down letters", 0, len(text))
    if len(dots := _BRAILLE.findall(text[:READ])) and sum(map(len, dots)) >= 6:
        yield View(text[:READ].translate(_BRAILLE_LETTERS), "Braille", 0, len(text))


_FLIPPED = str.maketrans("ɐqɔpǝɟƃɓɥᴉıɾʞןʅɯuodbɹsʇnʌʍxʎz", "abcdefgghiijkllmnopqrstuvwxyz")
_FLIPPED_CHARS = frozenset("ɐɔǝɟƃɓɥᴉıɾʞןʅɯɹʇʌʍʎ")
_BRAILLE = pattern("[\u2801-\u28ff]+")
_BRAILLE_LETTERS = str.maketrans(dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵⠀", "abcdefghijklmnopqrstuvwxyz ", strict=True)))
