"""Escapes that stand for single characters: URL encoding, HTML entities, backslash escapes."""

import binascii
import html
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

from graph.policy.text.escapes import ENTITY, ESCAPE, PERCENT, unescape
from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.view import READ, READABLE, View

_QUOTED = pattern(r"(?:=[0-9A-F]{2}){1}")


def escaped(text: str) -> Iterator[View]:
    """One reading of the whole text for each kind of escape in it."""
    head = text[:READ]
    if head.count("%") >= 2 and len(PERCENT.findall(head)) >= 2:
        plain = unquote_to_bytes(head.replace("+", " ") if " " not in head.strip() else head).decode("utf-8", "replace")
        yield View(plain, "URL encoding", 0, len(text))
    if len(ENTITY.findall(head)) >= 2 and (plain := html.unescape(head)) != head:
        yield View(plain, "HTML entities", 0, len(text))
    if len(ESCAPE.findall(head)) >= 4:
        yield View(ESCAPE.sub(unescape, head), "character escapes", 0, len(text))
    if len(_QUOTED.findall(head)) >= 4:
        plain = binascii.a2b_qp(head.encode()).decode("utf-8", "replace")
        if lexicon.readable(plain) >= READABLE:
            yield View(plain, "quoted-printable", 0, len(text))
