"""The cells of a row ("Item: Boat tour; Cost: $52"), and what a cell measures: an amount, a time, a date, or a step of
a scale such as low to high."""

import re
from dataclasses import dataclass
from datetime import datetime

from graph.policy.text.structure import CELL_HEADING

_CELL = re.compile(rf"(?:^|; )({CELL_HEADING}): ")
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_ISO = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_WRITTEN = re.compile(
    r"\b(?:(\d{1,2})(?:st|nd|rd|th)?[ -]([a-z]{3,9})\.?,?[ -](\d{4})"
    r"|([a-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4}))\b",
    re.I,
)
_SLASHED = re.compile(r"\b(\d{1,2})[/.](\d{1,2})[/.](\d{4})\b")
# None of a code ("CR-0007", "A12"), but that of a version ("v2") or behind a currency ("PKR15").
_NUMBER = re.compile(
    r"(?:(?<![^\W_])(?<![^\W_][.,−-])|(?<=\bv)|(?<=USD|EUR|GBP|CHF|PKR|INR|JPY)|(?<=\bRs))"
    r"[-−]?\d+(?:,\d{3})*(?:\.\d+)?"
)
_MONEY = re.compile(r"[$€£¥]|\b(?:USD|EUR|GBP|CHF|PKR|INR|JPY|Rs)\b")
_SUM = re.compile(r"[$€£¥]\s?(\d+(?:,\d{3})*(?:\.\d+)?)")
_TIMES = {
    "second": 1 / 86_400, "sec": 1 / 86_400, "minute": 1 / 1_440, "min": 1 / 1_440, "hour": 1 / 24, "hr": 1 / 24,
    "day": 1, "week": 7, "month": 30.4, "quarter": 91.3, "year": 365.25,
}  # days  # fmt: skip
_TIME = re.compile(rf"\b(\d+(?:\.\d+)?)\s*(?:-\s*\d+(?:\.\d+)?\s*)?(?:[a-z]+ ){{0,2}}({'|'.join(_TIMES)})s?\b", re.I)
# Hours or minutes first: they compare alike.
_CLOCK = re.compile(r"(?<![\d:])(\d{1,3}):([0-5]\d)(?::([0-5]\d))?(?![\d:])")
_SCALES = (
    "none very_low low medium high very_high critical".split(),
    "minimal minor moderate major severe".split(),
    "simplest simple moderate complex".split(),
)
_TIMES_LARGER = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9}
_LARGER = re.compile(r"\s?(k|m|bn|thousand|million|billion)\b", re.I)


def cells(row: str) -> tuple[tuple[str, str], ...]:
    """Heading and value of each cell. What stands before the first heading is the name of the row, under ""."""
    marks = list(_CELL.finditer(row))
    ends = [*(mark.start() for mark in marks[1:]), len(row)][: len(marks)]
    named = [(mark[1].strip(), row[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    before = row[: marks[0].start()].strip() if marks else ""
    return (("", before), *named) if before else tuple(named)


@dataclass(frozen=True)
class Quantity:
    """`number` in days for a time, as an ordinal day for a date, as a place in its scale for a step."""

    kind: str  # number, money, time, date or step
    number: float


def quantity(text: str) -> Quantity | None:
    """None where the text measures nothing: it holds no number, or is longer than a cell that measures."""
    text = text.strip().replace("*", "")
    if not text or len(text) > 120:
        return None
    if (day := _date(text)) is not None:
        return Quantity("date", day) if day else None
    if match := _CLOCK.search(text):
        return Quantity("time", int(match[1]) + int(match[2]) / 60 + int(match[3] or 0) / 3_600)
    if (match := _TIME.search(text)) and not _SUM.search(text):  # "$25 per day" is money
        return Quantity("time", float(match[1]) * _TIMES[match[2].lower()])
    if match := _NUMBER.search(text):
        number = float(match.group().replace(",", "").replace("−", "-"))
        if larger := _LARGER.match(text, match.end()):
            number *= _TIMES_LARGER[larger[1].lower()]
        return Quantity("money" if _MONEY.search(text) else "number", number)
    word = "_".join(text.lower().split()[:2])
    for scale in _SCALES:
        for name in (word, word.split("_")[0]):
            if name in scale:
                return Quantity("step", float(scale.index(name)))
    return None


def largest_sum(text: str) -> float | None:
    """The largest amount of money that a text names with its sign: 1000.0 of "first offense $500, second $1,000"."""
    return max((float(amount.replace(",", "")) for amount in _SUM.findall(text)), default=None)


def dates(text: str) -> list[int]:
    """The ordinals of the days that a text names: "2025-04-01", "1 April 2025", "April 1st, 2025", "13.4.2025"."""
    matches = (match for pattern in (_ISO, _WRITTEN, _SLASHED) for match in pattern.finditer(text))
    return [int(day) for match in matches if (day := _date(match.group()))]


def _date(text: str) -> float | None:
    """The ordinal of the day; 0 for one that does not exist, such as the 31st of February; None where there is none."""
    try:
        if match := _ISO.search(text):
            return float(datetime(int(match[1]), int(match[2]), int(match[3])).toordinal())
        if match := _WRITTEN.search(text):
            day, month, year = (match[1], match[2], match[3]) if match[1] else (match[5], match[4], match[6])
            return float(datetime(int(year), _MONTHS.index(month[:3].lower()) + 1, int(day)).toordinal())
        if match := _SLASHED.search(text):
            first, second, year = map(int, match.groups())
            return float(datetime(year, *((second, first) if first > 12 else (first, second))).toordinal())
    except ValueError:
        return 0.0
    return None
