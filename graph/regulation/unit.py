"""The units of an act: what the parser gives and the graph is made of."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "front", "recital", "division", "article", "paragraph", "subparagraph", "point", "indent",
    "closing", "signature", "annex", "annex_part",
]  # fmt: skip
DIVISIONS = ("Part", "Title", "Chapter", "Section", "Subsection")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SHORT = re.compile(r"(?:^|, )((?:Article|Recital|Annex|Preamble|Final provision|Signature)\b.*)$")
_CITED = re.compile(r"(?:Article \d|Recital \d|Annex\b|Sole Article|Preamble$)[^>\n]{0,80}")


@dataclass(slots=True)
class Unit:
    """One provision. `path` says where it stands ("Chapter III, Section 2, Article 14(3)(a)"), `name` is its last part
    from the article, recital or annex on, by which people cite it. `title` is that of a heading."""

    kind: Kind
    path: str
    name: str
    text: str
    title: str = ""
    page: int | None = None


def ordinal(number: int) -> str:
    """As a word up to "tenth", then "11th"."""
    return _ORDINALS[number - 1] if number <= len(_ORDINALS) else f"{number}th"


def ordinal_value(word: str) -> int:
    """The number an ordinal word stands for, or 0."""
    word = word.lower()
    if word in _ORDINALS:
        return _ORDINALS.index(word) + 1
    match = re.fullmatch(r"(\d{1,3})(?:st|nd|rd|th)", word)
    return int(match[1]) if match else 0


def provision(path: str) -> str:
    """The name by which people cite what stands at a path, or "" when it is no path of an act."""
    name = short(path)
    return name if _CITED.fullmatch(name) else ""


def short(path: str) -> str:
    """The part of a path by which people cite it: "Article 14(3)(a)"; the whole path of a division."""
    match = _SHORT.search(path)
    return match[1] if match else path
