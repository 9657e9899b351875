"""What a version of a document changed, as its own table of revisions says it: "0.2; 30 March 2018; Added a scale"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from graph.extractive.enumerations import document_of
from graph.knowledge import versions
from graph.policy.text import quantities

_KIND = r"(?:version|revision|rev\.?|edition|release|issue|amendment)"
_ASKED = re.compile(rf"\b{_KIND}(?: (?:number|no\.?))? (\d+(?:\.\d+)*)\b|\bv\.? ?(\d+(?:\.\d+)+|\d+)\b", re.I)
_LAST = re.compile(rf"\b(?:last|latest|newest|most recent|current) {_KIND}", re.I)
_ABOUT_ONE = re.compile(rf"\bwhat (?:did|does) (?:the )?(?:\w+ )?{_KIND}\b", re.I)
_NUMBER = re.compile(rf"(?:{_KIND} ?|v\.? ?)?(\d+(?:\.\d+)*)", re.I)
FEWEST_WORDS = 3  # of a cell that says what changed
MOST_ROWS = 400  # that are looked at
NEAREST = 3  # sources whose documents the question may mean


def row(question: str, evidence: Sequence[Mapping[str, Any]]) -> tuple[int, str] | None:
    """(source, row) of the version that the question names, the newest where it names several, or of the last one; None
    where it asks for no change, or no row of a document near the question says it."""
    asked = [match[1] or match[2] for match in _ASKED.finditer(question)]
    of_one = asked or _LAST.search(question)
    if not of_one or not (versions.asks_for_changes(question) or _ABOUT_ONE.search(question)):
        return None
    near = {document_of(item) for item in evidence[:NEAREST]}
    rows = [one for one in islice(_rows(evidence), MOST_ROWS) if one[0] in near]
    rows = [one for one in rows if one[0] == rows[0][0]]
    wanted = max(map(_parts, asked)) if asked else max((number for _, number, *_ in rows), default=())
    return next(((n, text) for _, number, n, text in rows if number == wanted), None)


def _parts(number: str) -> tuple[int, ...]:
    return tuple(map(int, number.split(".")))


def _rows(evidence: Sequence[Mapping[str, Any]]) -> Iterator[tuple[tuple[str, str], tuple[int, ...], int, str]]:
    """(document, version, source, row) of the rows that begin with a version and have a day and a text."""
    for item in evidence:
        for line in item["text"].split("\n"):
            cells = [value for _, value in quantities.cells(line)] or line.split("; ")
            number = _NUMBER.fullmatch(cells[0].strip())
            if number is None or len(cells) < FEWEST_WORDS:
                continue
            dated = [any(quantities.dates(cell)) for cell in cells]
            says = [len(cell.split()) >= FEWEST_WORDS and not day for cell, day in zip(cells, dated, strict=True)]
            if any(dated[1:]) and any(says[1:]):
                yield document_of(item), _parts(number[1]), item["n"], line.strip()
