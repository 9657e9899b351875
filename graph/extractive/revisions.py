"""What a version of a document changed, as its own table of revisions says it: "0.2; 30 March 2018; Added a scale"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any

from graph.extractive.enumerations import document_of
from graph.knowledge import versions
from graph.policy.text import quantities

_KIND = r"(?:version|revision|rev\.?|edition|release|issue|amendment)"
_ASKED = re.compile(rf"\b{_KIND}(?: (?:number|no\.?))? (\d+(?:\.\d+)*)\b|\bv\.? ?(\d+(?:\.\d+)+|\d+)\b", re.I)
_LAST = re.compile(rf"\b(?:last|latest|newest|most recent|current) {_KIND}", re.I)
_ABOUT_ONE = re.compile(rf"\bwhat (?:did|does) (?:the )?(?:\w+ )?{_KIND}\b", re.I)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})[a-z]{{0,6}}\.? ((?:19|20)\d\d)\b", re.I)
_NUMBER = re.compile(rf"(?:{_KIND} ?|v\.? ?)?(\d+(?:\.\d+)*)", re.I)
_OF_NUMBERS = re.compile(rf"(?:document )?{_KIND}(?: (?:number|no\.?|nr\.?))?", re.I)  # the heading of a column
_OF_CHANGES = re.compile(
    r"\b(?:chang\w*|descriptions?|comments?|actions?|reasons?|summary|details?|remarks?|updates?)\b", re.I
)
FEWEST_WORDS = 3  # of a cell that says what changed, under no heading that says so
FEWEST_CELLS = 3
MOST_ROWS = 400  # that are looked at
NEAREST = 3  # sources whose documents the question may mean


@dataclass(frozen=True, slots=True)
class _Revision:
    """A row of a table of revisions; `number` has the parts of its version, `day` is an ordinal."""

    document: tuple[str, str]
    number: tuple[int, ...]
    day: int
    n: int
    text: str


def row(question: str, evidence: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """(source, row) of the version that the question names by its number or month, the newest where it names several,
    or of the last one; None where it asks for no change, or no row of a document near the question says it."""
    asked = [_parts(match[1] or match[2]) for match in _ASKED.finditer(question)]
    months = [(int(year), _MONTHS.index(month.lower()) + 1) for month, year in _MONTH.findall(question)]
    if not (asked or months or _LAST.search(question)):
        return None
    if not (versions.asks_for_changes(question) or _ABOUT_ONE.search(question)):
        return None
    near = {document_of(item) for item in evidence[:NEAREST]}
    rows = [one for one in islice(_rows(evidence), MOST_ROWS) if one.document in near]
    rows = [one for one in rows if one.document == rows[0].document]
    if asked:
        rows = [one for one in rows if one.number == max(asked)]
    elif months:
        days = [(one, date.fromordinal(one.day)) for one in rows]
        rows = [one for one, day in days if (day.year, day.month) == max(months)]
    last = max(rows, key=lambda one: (one.number, one.day), default=None)
    return (last.n, last.text) if last else None


def _parts(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _rows(evidence: Sequence[Mapping[str, Any]]) -> Iterator[_Revision]:
    """The rows that have a version, in their first cell or under a heading that says so, a day, and what changed."""
    for item in evidence:
        for line in item["text"].split("\n"):
            named = quantities.cells(line) or tuple(("", cell) for cell in line.split("; "))
            if len(named) < FEWEST_CELLS:
                continue
            numbers = [cell for at, (name, cell) in enumerate(named) if at == 0 or _OF_NUMBERS.fullmatch(name)]
            number = next((match for cell in numbers if (match := _NUMBER.fullmatch(cell.strip()))), None)
            dated = [quantities.dates(cell) for _, cell in named]
            says = [
                _OF_CHANGES.search(name) is not None or len(cell.split()) >= FEWEST_WORDS
                for (name, cell), days in zip(named, dated, strict=True)
                if not days
            ]
            day = max((day for days in dated for day in days), default=0)
            if number is not None and day and any(says):
                yield _Revision(document_of(item), _parts(number[1]), day, item["n"], line.strip())
