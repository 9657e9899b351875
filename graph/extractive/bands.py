"""The line of a scale in which an amount lies: of "50-69: high risk" and others the one for 65 points, "Ten to nineteen
years of service: 4 weeks" for 12 years."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.policy.grounding.words import NUMBER_WORDS
from graph.policy.text import lexical

WORTH, SURER = 3.0, 1.5  # what the right line of a scale is worth, and by how much the reader's log-odds rise; by hand
_LOW, _HIGH = (rf"(?P<{end}>\d{{1,6}}(?:[.,]\d{{1,3}})?)" for end in ("low", "high"))
_UNIT, _ANY_UNIT = r"(?: ?%| (?P<unit>[a-z]{3,}))?", r"(?: ?%| [a-z]{3,})?"
_ALONE, _WHOLE = r"(?<![\d./-])", r"(?![\d/-])"
_BANDS = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"{_ALONE}{_LOW}{_ANY_UNIT} ?(?:[-–]|to|through|but less than) ?{_HIGH}{_WHOLE}{_UNIT}",
        rf"(?:<|≤|\b(?:under|below|less than|up to|fewer than|at most)) ?{_HIGH}{_WHOLE}{_UNIT}",
        rf"(?:>|≥|\b(?:over|above|more than|at least|exceeding)) ?{_LOW}{_WHOLE}{_UNIT}",
        rf"{_ALONE}{_LOW} ?(?:\+|{_ANY_UNIT} ?(?:or|and) (?:more|over|above|older|longer|higher)){_UNIT}",
    )
)
_ASKED = re.compile(rf"{_ALONE}{_LOW}{_WHOLE}(?![.,]\d){_UNIT}", re.I)
_SPELLED = {"one": 1, **NUMBER_WORDS}
_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(_SPELLED, key=len, reverse=True))})\b", re.I)
_YEAR = range(1900, 2100)
Amount = tuple[float, str]  # with the stem of its unit, "" for none


@dataclass(frozen=True, slots=True)
class Band:
    """A range, its unit as a stem, and whether its line begins with it."""

    low: float
    high: float
    unit: str
    begins: bool


def asked(question: str) -> list[Amount]:
    """The amounts that a question names; no years."""
    amounts = [(_number(match["low"]), _stem(match["unit"])) for match in _ASKED.finditer(_in_digits(question))]
    return [(number, unit) for number, unit in amounts if number not in _YEAR]


def band(text: str) -> Band | None:
    """The first range in a text."""
    plain = _in_digits(text)
    for pattern in _BANDS:
        if match := pattern.search(plain):
            own = match.groupdict()
            low, high = own.get("low"), own.get("high")
            ends = _number(low) if low else -math.inf, _number(high) if high else math.inf
            if ends[0] < ends[1]:
                return Band(*ends, _stem(own["unit"]), not match.start())
    return None


def fits(amounts: Sequence[Amount], one: Band) -> bool | None:
    """Whether one of the amounts lies in the band; None where none has its unit."""
    alike = [number for number, unit in amounts if not (unit and one.unit) or unit == one.unit]
    return any(one.low <= number <= one.high for number in alike) if alike else None


def _number(text: str) -> float:
    return float(text.replace(",", ""))


def _stem(unit: str | None) -> str:
    return lexical.stem(unit.lower()) if unit else ""


def _in_digits(text: str) -> str:
    return _WORDS.sub(lambda match: str(_SPELLED[match[0].lower()]), text)
