"""Escapes that stand for single characters: URL encoding, HTML entities, backslash escapes, invisible tag letters."""

import html
import re

ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z]{2,8});?")
ESCAPE = re.compile(
    r"\\(?:u\{?([0-9a-fA-F]{2,6})\}?|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|([0-7]{3}))|[uU]\+([0-9a-fA-F]{4,6}) ?"
)
PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_ANY = re.compile(
    rf"((?:{PERCENT.pattern})+)|((?:=[0-9A-F]{{2}}){{3,}})|({ENTITY.pattern})|([\U000e0020-\U000e007e])|(?:{ESCAPE.pattern})"
)


def unescape(match: re.Match[str]) -> str:
    """The character that a match of ESCAPE stands for."""
    return _character(*match.groups()[-5:])


def undone(text: str) -> tuple[str, list[int]]:
    """`text` with its escapes undone once, and where each of its characters began; one more place for the end.

    Escapes of bytes are read as UTF-8. The places are [] when nothing was undone.
    """
    parts: list[str] = []
    places: list[int] = []
    done = 0
    for match in _ANY.finditer(text):
        plain = _meaning(match)
        if plain == match.group():
            continue
        parts += text[done : match.start()], plain
        places += range(done, match.start())
        if match.lastindex in (1, 2):  # three characters for each byte
            at = match.start()
            for char in plain:
                places.append(min(at, match.end() - 1))
                at += 3 * (len(char.encode()) if char != "\ufffd" else 1)
        else:
            places += [match.start()] * len(plain)
        done = match.end()
    if not parts:
        return text, []
    return "".join([*parts, text[done:]]), [*places, *range(done, len(text) + 1)]


def _meaning(match: re.Match[str]) -> str:
    percent, quoted, entity, tag = match.groups()[:4]
    if written := percent or quoted:
        return bytes.fromhex(written.replace(written[0], "")).decode("utf-8", "replace")
    if entity:
        return html.unescape(entity)
    if tag:
        return chr(ord(tag) - 0xE0000)
    return unescape(match)


def _character(wide: str, wider: str, byte: str, octal: str, named: str) -> str:
    code = int(octal, 8) if octal else int(wide or wider or byte or named, 16)
    return chr(code) if 9 <= code < 0x110000 and not 0xD800 <= code < 0xE000 else " "
