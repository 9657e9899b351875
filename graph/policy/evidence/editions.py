"""Which of several documents of one name is in force: by the version or the year in its title or file name."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

_VERSION = re.compile(r"\b(?:version|ver|v|revision|rev|edition|issue)[ ._-]{0,2}(\d+(?:\.\d+)*)\b", re.I)
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)(?:[-_.](\d\d)(?!\d))?(?:[-_.](\d\d)(?!\d))?")
_COMPARES = re.compile(
    r"\b(?:versions?|v\d|chang\w+|differ\w*|old(?:er)?|previous(?:ly)?|earlier|former(?:ly)?|history|compar\w+|"
    r"used to|before|still|repealed|replaced|superseded)\b",
    re.I,
)
_CHANGES = re.compile(
    r"\bwhat(?:['’]s| is| has| have| did)?(?: been)? (?:chang\w+|new|different)\b|\bhow (?:do|does|did|has|have)\b.*\b"
    r"(?:chang\w+|differ)\b|\b(?:changes?|differences?)\b.{0,20} (?:between|from|since)\b",
    re.I,
)


@dataclass(frozen=True)
class Edition:
    """`name` is what the document is called without its version or year, in small letters."""

    name: str
    kind: Literal["version", "year"]
    number: tuple[int, ...]


def asks_for_changes(question: str) -> bool:
    """Whether it wants to know what is new in a document."""
    return _CHANGES.search(question) is not None


def editions(evidence: Sequence[Mapping[str, Any]]) -> dict[int, Edition]:
    """The edition of each source whose document has one, by number."""
    return {item["n"]: edition for item in evidence if (edition := _edition(item)) is not None}


def outdated(question: str, evidence: Sequence[Mapping[str, Any]]) -> set[int]:
    """Numbers of the sources of which a later edition is among the evidence, or, where the question names a year, one
    of that year. None where the question compares editions."""
    if _COMPARES.search(question):
        return set()
    years = {int(match[1]) for match in _YEAR.finditer(question)}
    there = editions(evidence)
    old = set()
    for n, one in there.items():
        others = [other for other in there.values() if (other.name, other.kind) == (one.name, one.kind)]
        if one.kind == "year" and any(other.number[0] in years for other in others):
            old |= {n} if one.number[0] not in years else set()
        elif any(other.number > one.number for other in others):
            old.add(n)
    return old


def _edition(item: Mapping[str, Any]) -> Edition | None:
    for name in (item["title"], item["filename"].rpartition(".")[0] or item["filename"]):
        spaced = name.replace("_", " ")
        if match := _VERSION.search(spaced):
            if rest := _words(_VERSION.sub(" ", spaced)):
                return Edition(rest, "version", tuple(map(int, match[1].split("."))))
        elif (match := _YEAR.search(spaced)) and (rest := _words(_YEAR.sub(" ", spaced))):
            return Edition(rest, "year", tuple(int(part) for part in match.groups() if part))
    return None


def _words(name: str) -> str:
    return " ".join(re.findall(r"[^\W\d_]+", name.casefold()))
