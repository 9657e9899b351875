"""Stretches that decode to bytes or letters: base64, hexadecimal, binary, Morse, spelling alphabets."""

import re
import string
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from graph.policy.text import encodings
from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.segments import segmented
from graph.policy.threats.views.view import PIECES, READ, READABLE, View

_MORSE = pattern(r"[.\-·−–_]{1,6}(?:[ /|]{1,3}[.\-·−–_]{1,6}){5,}")
_MORSE_LETTERS = dict(
    zip(
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- "
        "-. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split(),
        string.ascii_lowercase,
        strict=True,
    )
)  # fmt: skip

_NATO = (
    "alfa|alpha bravo charlie delta echo foxtrot golf hotel india juliett|juliet kilo lima mike november oscar papa "
    "quebec romeo sierra tango uniform victor whiskey|whisky xray|x-ray yankee zulu"
).split()
_SPELT = pattern(rf"(?:\b(?:{'|'.join(_NATO)})\b[\s,/|.-]*){{6,}}", re.I)


def encoded(text: str) -> Iterator[View]:
    """Two readings of each stretch: decoded where it stands, and the decoded text alone."""
    head = text[:READ]
    for shape, decoders in encodings.SHAPES:
        yield from _views(head, shape, [(partial(_decoded, decode), how) for decode, how in decoders])
    yield from _views(head, _MORSE, [(_from_morse, "Morse code")])
    yield from _views(head, _SPELT, [(_from_spelling, "spelling alphabet")])


def _views(head: str, shape: re.Pattern[str], decoders: list[tuple[Callable[[str], str], str]]) -> Iterator[View]:
    for match in islice(shape.finditer(head), PIECES):
        for decode, how in decoders:
            if plain := decode(match.group()):
                yield View(f"{head[: match.start()]} {plain} {head[match.end() :]}", how, *match.span())
                yield View(plain, how, *match.span())


def _decoded(decode: Callable[[str], bytes], piece: str) -> str:
    return as_text(decode(piece))


def as_text(data: bytes) -> str:
    """The bytes as text, if they are text that people can read, else ""."""
    try:
        plain = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if len(plain.strip()) < 4 or sum(c.isprintable() or c.isspace() for c in plain) < len(plain):
        return ""
    return plain if not plain.isascii() or _sayable(plain) else ""


def _sayable(plain: str) -> bool:
    """Readable now, or readable once undone again (an encoding in an encoding, rotated letters)."""
    letters = sum(c.isalpha() or c == " " for c in plain)
    if lexicon.readable(plain) >= 0.4 or letters >= 0.85 * len(plain):
        return True
    return encodings.BASE64.fullmatch(plain.strip()) is not None


def _from_morse(piece: str) -> str:
    piece = piece.replace("·", ".").replace("−", "-").replace("–", "-").replace("_", "-")
    words = [
        "".join(_MORSE_LETTERS.get(letter, "") for letter in word.split())
        for word in re.split(r"\s*[/|]\s*|\s{3,}", piece)
    ]
    plain = " ".join(filter(None, words))
    if len(plain) < 6:
        return ""
    return plain if lexicon.readable(plain) >= READABLE else segmented(plain.replace(" ", ""))


def _from_spelling(piece: str) -> str:
    letters = {name: chr(97 + at) for at, names in enumerate(_NATO) for name in names.split("|")}
    words = [
        "".join(letters.get(name, "") for name in re.findall(r"x-ray|[a-z]+", word.lower()))
        for word in re.split(r"\s*[/|.,]\s*|\n|\s{2,}", piece)
    ]
    plain = " ".join(filter(None, words))
    return plain if lexicon.readable(plain) >= READABLE else segmented(plain.replace(" ", ""))
