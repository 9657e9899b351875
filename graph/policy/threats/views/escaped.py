"""Escapes that stand for single characters: URL encoding, HTML entities, backslash escapes."""

import binascii
import html
import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.view import READ, READABLE, View

_PERCENT = pattern(r"(?:%[0-9a-fA-F]{2}|[\w.~+/?=&;:,()!*'-]){4,}")
_ENTITY = pattern(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});?")
_ESCAPE = pattern(
    r"\\(?:u\{?([0-9a-fA-F]{2,6})\}?|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3}))|[uU]\+([0-9a-fA-F]{4,6}) ?"
)
_QUOTED = pattern(r"(?:=[0-9A-F]{2}){1}")


def escaped(text: str) -> Iterator[View]:
    head = text[:READ]
    if head.count("%") >= 2 and len(re.findall(r"%[0-9a-fA-F]{2}", head)) >= 2:
        plain = unquote_to_bytes(head.replace("+", " ") if " " not in head.strip() else head).decode("utf-8", "replace")
        yield View(plain, "URL encoding", 0, len(text))
    if len(_ENTITY.findall(head)) >= 2 and (plain := html.unescape(head)) != head:
        yield View(plain, "HTML entities", 0, len(text))
    if len(_ESCAPE.findall(head)) >= 4:
        yield View(_ESCAPE.sub(_unescape, head), "character escapes", 0, len(text))
    if len(_QUOTED.findall(head)) >= 4:
        plain = binascii.a2b_qp(head.encode()).decode("utf-8", "replace")
        if lexicon.readable(plain) >= READABLE:
            yield View(plain, "quoted-printable", 0, len(text))


def _unescape(match: re.Match[str]) -> str:
    wide, wider, byte, octal, named = match.groups()
    code = int(octal, 8) if octal else int(wide or wider or byte or named, 16)
    return chr(code) if 9 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
