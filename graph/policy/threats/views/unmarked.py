"""Marks between and inside words: markup, joined pieces, brackets, stretched letters."""

import re
from collections.abc import Iterator

from graph.policy.threats import lexicon
from graph.policy.threats.lazy import pattern
from graph.policy.threats.views.view import READ, View

_MARKUP = pattern(r"</?[a-zA-Z][^<>]{0,200}>|<!--|-->|/\*|\*/|```\w*|[`*_~^|]{1,3}|^\s*(?:#+|//|>+)\s?", re.M)
_GLUED = pattern(r"[\"'`]\s*(?:\+|\.|&|\|\||,|\.\.)\s*[\"'`]")
_INSIDE = pattern(r"(?<=[^\W\d_])[-.·•_*+~^|/\\,:;=#'\"\u00ad]{1,2}(?=[^\W\d_])")
_BRACKETS = pattern(r"(?<=\w)[(\[{](\w{1,4})[)\]}]|[(\[{](\w{1,4})[)\]}](?=\w)")
_STRETCHED = pattern(r"([a-zA-Z])\1{2,}")


def unmarked(text: str) -> Iterator[View]:
    """One reading of the whole text for each kind of marks, where it gets more readable without them."""
    head = text[:READ]
    for how, plain in (
        ("joined pieces", _GLUED.sub("", head)),
        ("markup", _MARKUP.sub("", head)),
        ("brackets", _BRACKETS.sub(lambda m: m[1] or m[2], head)),
        ("stretched letters", _STRETCHED.sub(r"\1", head)),
    ):
        if plain != head and (how == "joined pieces" or lexicon.readable(plain) > lexicon.readable(head) + 0.02):
            yield View(plain, how, 0, len(text))
    if len(_INSIDE.findall(head)) >= 3:
        for how, between in (("marks inside words", ""), ("marks between words", " ")):
            plain = _INSIDE.sub(between, head)
            if lexicon.readable(plain) > max(lexicon.readable(head) + 0.1, 0.5):
                yield View(plain, how, 0, len(text))
