"""Stretches of a text that stand for bytes: base64, base32, hexadecimal, binary and character codes.

Here is only what such a stretch looks like and what its bytes are. The callers judge whether those say anything: the
guards want words (graph/policy/threats/views), masking wants what it would mask (graph/policy/pii).
"""

import base64
import binascii
import re
from collections.abc import Callable

BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:\s?\n\s?[A-Za-z0-9+/_-]{8,})*={0,2}")
_SPREAD64 = re.compile(r"(?:[A-Za-z0-9+/]{4}[ ,.|-]){4,}[A-Za-z0-9+/]{2,4}={0,2}")
HEX = re.compile(r"(?:0x|\\x|%)?[0-9a-fA-F]{2}(?:[ ,:;-]{0,2}(?:0x|\\x|%)?[0-9a-fA-F]{2}){7,}")
_BINARY = re.compile(r"[01]{7,8}(?:[ ,]?[01]{7,8}){3,}")
_DECIMAL = re.compile(r"\b\d{2,3}(?:[ ,;-]{1,2}\d{2,3}){7,}\b")


def _from_base64(piece: str) -> bytes:
    packed = re.sub(r"[^A-Za-z0-9+/]", "", piece.replace("-", "+").replace("_", "/") if " " not in piece else piece)
    if len(packed) < 12 or (packed.isalpha() and (packed.islower() or packed.istitle())) or packed.isdigit():
        return b""
    packed = packed[: len(packed) - 1] if len(packed) % 4 == 1 else packed
    try:
        return base64.b64decode(packed + "=" * (-len(packed) % 4))
    except (ValueError, binascii.Error):
        return b""


def _from_base32(piece: str) -> bytes:
    packed = re.sub(r"[^A-Z2-7]", "", piece)
    if len(packed) < 16 or len(packed) < 0.9 * len(piece.rstrip("=")):
        return b""
    packed = packed[: len(packed) // 8 * 8] if len(packed) % 8 in (1, 3, 6) else packed
    try:
        return base64.b32decode(packed + "=" * (-len(packed) % 8))
    except (ValueError, binascii.Error):
        return b""


def _from_hex(piece: str) -> bytes:
    digits = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", piece)
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


def _from_binary(piece: str) -> bytes:
    groups = re.findall(r"[01]{7,8}", piece) if re.search(r"[ ,]", piece) else re.findall(r"[01]{8}", piece)
    return bytes(int(group, 2) for group in groups)


def _from_decimal(piece: str) -> bytes:
    codes = [int(number) for number in re.findall(r"\d+", piece)]
    return bytes(codes) if all(9 <= code < 127 for code in codes) else b""


# What a stretch looks like, and the ways it can be read, each with its name; b"" where it cannot.
SHAPES: tuple[tuple[re.Pattern[str], tuple[tuple[Callable[[str], bytes], str], ...]], ...] = (
    (_BINARY, ((_from_binary, "binary"),)),
    (HEX, ((_from_hex, "hexadecimal"),)),
    (_DECIMAL, ((_from_decimal, "character codes"),)),
    (BASE64, ((_from_base64, "base64"), (_from_base32, "base32"))),
    (_SPREAD64, ((_from_base64, "base64 in groups"),)),
)
