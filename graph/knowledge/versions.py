"""Which documents are versions of one another, by the version, year or date in their names."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from graph.stores.spaces import Record

# "v2", "v1.3", "version 2", "rev. 4", "r4" are versions; "2024", "2024-03", "2024-03-01" are dates.
_VERSION = re.compile(
    r"(?<![a-z0-9])(?:v|ver|version|rev|revision|ed|edition|r)[ ._-]*(\d{1,3}(?:[._]\d{1,3}){0,3})(?![a-z0-9])"
)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:[ ._-]?(0[1-9]|1[0-2])(?:[ ._-]?(0[1-9]|[12]\d|3[01]))?)?(?!\d)")
Age = tuple[str, tuple[int, ...]]  # of what kind its parts are, and the parts: of two alike the greater is the newer


def age(name: str) -> tuple[str, Age] | None:
    """What a file's name is without its version or date, and that; None for a name without either."""
    path = PurePath(name.lower())
    stem = str(path.parent / path.stem)
    for kind, pattern in (("version", _VERSION), ("date", _DATE)):
        if found := list(pattern.finditer(stem)):
            last = found[-1]
            parts = [part for group in last.groups() if group for part in re.split(r"[._]", group)]
            rest = " ".join(re.findall(r"[^\W_]+", f"{stem[: last.start()]} {stem[last.end() :]}"))
            return (rest, (kind, tuple(map(int, parts)))) if rest else None
    return None


def families(records: Iterable[Record]) -> dict[str, Sequence[str]]:
    """For each document that has other versions: the ids of all of them, oldest first. Documents of other groups are no
    versions of it."""
    members: dict[tuple[str, str, tuple[str, ...]], list[tuple[Age, str]]] = {}
    for record in records:
        if (found := age(record.filename)) is not None:
            rest, when = found
            members.setdefault((rest, when[0], tuple(record.groups)), []).append((when, record.doc_id))
    return {
        doc_id: [other for _, other in sorted(family)]
        for family in members.values()
        if len({when for when, _ in family}) > 1
        for _, doc_id in family
    }
