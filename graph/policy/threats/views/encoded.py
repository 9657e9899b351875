"""Stretches that decode to bytes or letters: base64, hexadecimal, binary, Morse, spelling alphabets."""

import base64
import binascii
import re
import string
from collections.abc import Iterator

from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.segments import segmented
from graph.policy.threats.views.view import PIECES, READ, READABLE, View

_BASE64 = pattern(r"[A-Za-z0-9+/_-]{12,}(?:\s?\n\s?[A-Za-z0-9+/_-]{8,})*={0,2}")
_SPREAD64 = pattern(r"(?:[A-Za-z0-9+/]{4}[ ,.|-]){4,}[A-Za-z0-9+/]{2,4}={0,2}")
_HEX = pattern(r"(?:0x|\\x|%)?[0-9a-fA-F]{2}(?:[ ,:;-]{0,2}(?:0x|\\x|%)?[0-9a-fA-F]{2}){7,}")
_BINARY = pattern(r"[01]{7,8}(?:[ ,]?[01]{7,8}){3,}")
_DECIMAL = pattern(r"\b\d{2,3}(?:[ ,;-]{1,2}\d{2,3}){7,}\b")
_MORSE = pattern(r"[.\-·−–_]{1,6}(?:[ /|]{1,3}[.\-·−–_]{1,6}){5,}")
_MORSE_LETTERS = dict(
    zip(
        ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split(),
        string.ascii_lowercase,
        strict=True,
    )
)  # fmt: skip

_NATO = (
    "alfa|alpha bravo charlie delta echo foxtrot golf hotel india juliett|juliet kilo lima mike november oscar papa quebec "
    "romeo sierra tango uniform victor whiskey|whisky xray|x-ray yankee zulu"
).split()
_SPELT = pattern(rf"(?:\b(?:{'|'.join(_NATO)})\b[\s,/|.-]*){{6,}}", re.I)


def encoded(text: str) -> Iterator[View]:
    head = text[:READ]
    for shape, decoders in (
        (_BINARY, ((_from_binary, "binary"),)),
        (_HEX, ((_from_hex, "hexadecimal"),)),
        (_DECIMAL, ((_from_decimal, "character codes"),)),
        (_BASE64, ((_from_base64, "base64"), (_from_base32, "base32"))),
        (_SPREAD64, ((_from_base64, "base64 in groups"),)),
        (_MORSE, ((_from_morse, "Morse code"),)),
        (_SPELT, ((_from_spelling, "spelling alphabet"),)),
    ):
        for number, match in enumerate(shape.finditer(head)):
            if number == PIECES:
                break
            for decode, how in decoders:
                if plain := decode(match.group()):
                    yield View(f"{head[: match.start()]} {plain} {head[match.end() :]}", how, *match.span())
                    yield View(plain, how, *match.span())


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
    return lexicon.readable(plain) >= 0.4 or letters >= 0.85 * len(plain) or bool(_BASE64.fullmatch(plain.strip()))


def _from_base64(piece: str) -> str:
    packed = re.sub(r"[^A-Za-z0-9+/]", "", piece.replace("-", "+").replace("_", "/") if " " not in piece else piece)
    if len(packed) < 12 or (packed.isalpha() and (packed.islower() or packed.istitle())) or packed.isdigit():
        return ""
    packed = packed[: len(packed) - 1] if len(packed) % 4 == 1 else packed
    try:
        return as_text(base64.b64decode(packed + "=" * (-len(packed) % 4)))
    except (ValueError, binascii.Error):
        return ""


def _from_base32(piece: str) -> str:
    packed = re.sub(r"[^A-Z2-7]", "", piece)
    if len(packed) < 16 or len(packed) < 0.9 * len(piece.rstrip("=")):
        return ""
    packed = packed[: len(packed) // 8 * 8] if len(packed) % 8 in (1, 3, 6) else packed
    try:
        return as_text(base64.b32decode(packed + "=" * (-len(packed) % 8)))
    except (ValueError, binascii.Error):
        return ""


def _from_hex(piece: str) -> str:
    digits = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", piece)
    return as_text(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _from_binary(piece: str) -> str:
    groups = re.findall(r"[01]{7,8}", piece) if re.search(r"[ ,]", piece) else re.findall(r"[01]{8}", piece)
    return as_text(bytes(int(g, 2) for g in groups))


def _from_decimal(piece: str) -> str:
    codes = [int(n) for n in re.findall(r"\d+", piece)]
    return as_text(bytes(codes)) if all(9 <= c < 127 for c in codes) else ""


def _from_morse(piece: str) -> str:
    piece = piece.replace("·", ".").replace("−", "-").replace("–", "-").replace("_", "-")
    found = [
        "".join(_MORSE_LETTERS.get(letter, "") for letter in word.split())
        for word in re.split(r"\s*[/|]\s*|\s{3,}", piece)
    ]
    plain = " ".join(filter(None, found))
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
