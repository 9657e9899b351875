"""Which documents are versions of one another, by the version, year or date in their names, and which is meant."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from graph.stores.spaces import Record

# "v2", "v1.3", "version 2", "rev. 4", "r4", "amendment 5", "draft 2" are versions; "2024", "2024-03", "2024-03-01" are
# dates.
_VERSION = re.compile(
    r"(?<![a-z0-9])(?:v|ver|version|rev|revision|ed|edition|amendment|draft|r)[ ._-]*"
    r"(\d{1,3}(?:[._]\d{1,3}){0,3})(?![a-z0-9])"
)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[ ._-]?(0[1-9]|1[0-2])(?:[ ._-]?(0[1-9]|[12]\d|3[01]))?)?(?!\d)")
_JOINED = re.compile(r"(?<=[a-z])(?=[A-Z])")  # "ProtocolV02"
Age = tuple[str, tuple[int, ...]]  # kind (version or date) and parts; of two of one kind the greater is the newer
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


class Version(NamedTuple):
    """Of a source: `family` is the same for all versions of one document."""

    family: tuple[str, str, str]  # space, name without version or date, kind of its age
    parts: tuple[int, ...]


def age(name: str) -> tuple[str, Age] | None:
    """What a file's name is without its version or date, and that; None for a name without either."""
    path = PurePath(name)
    return _age(str(path.parent / path.stem))


def _age(stem: str) -> tuple[str, Age] | None:
    stem = _JOINED.sub(" ", stem).lower()
    for kind, pattern in (("version", _VERSION), ("date", _DATE)):
        if matches := list(pattern.finditer(stem)):
            last = matches[-1]
            parts = [part for group in last.groups() if group for part in re.split(r"[._]", group)]
            rest = " ".join(re.findall(r"[^\W_]+", f"{stem[: last.start()]} {stem[last.end() :]}"))
            return (rest, (kind, tuple(map(int, parts)))) if rest else None
    return None


def families(records: Iterable[Record]) -> dict[str, Sequence[str]]:
    """For each document that has other versions: the ids of all of them, oldest first. Documents of other groups are no
    versions of it."""
    members: dict[tuple[str, str, tuple[str, ...]], list[tuple[Age, str]]] = {}
    for record in records:
        if (dated := age(record.filename)) is not None:
            rest, when = dated
            members.setdefault((rest, when[0], tuple(record.groups)), []).append((when, record.doc_id))
    return {
        doc_id: [other for _, other in sorted(family)]
        for family in members.values()
        if len({when for when, _ in family}) > 1
        for _, doc_id in family
    }


def compares(question: str) -> bool:
    """Whether it asks about versions, or about what was before."""
    return _COMPARES.search(question) is not None


def asks_for_changes(question: str) -> bool:
    """Whether it wants to know what is new in a document."""
    return _CHANGES.search(question) is not None


def of_sources(evidence: Sequence[Mapping[str, Any]]) -> dict[int, Version]:
    """By the number of the source, where the title of its document or else the file name tells a version."""
    ages = ((item, _age(item["title"]) or age(item["filename"])) for item in evidence)
    return {item["n"]: Version((item["where"], one[0], one[1][0]), one[1][1]) for item, one in ages if one is not None}


def outdated(question: str, evidence: Sequence[Mapping[str, Any]]) -> set[int]:
    """Numbers of the sources of which a later version is among the evidence, or, where the question names a year, one
    of that year. None where the question compares versions."""
    if compares(question):
        return set()
    years = {int(match[1]) for match in _DATE.finditer(question)}
    versions = of_sources(evidence)
    old = set()
    for n, version in versions.items():
        others = [other.parts for other in versions.values() if other.family == version.family]
        if version.family[2] == "date" and any(parts[0] in years for parts in others):
            old |= {n} if version.parts[0] not in years else set()
        elif max(others) > version.parts:
            old.add(n)
    return old
