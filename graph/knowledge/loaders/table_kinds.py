"""What the values of a table are: numbers, amounts, dates, codes, words or texts; and columns of one kind."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

NUMBER = re.compile(r"[-+(]?[\d.,\s%$€£()/:-]*\d[\d.,\s%$€£()/:-]*")
_MONEY = re.compile(
    r"(?:(?:[A-Z]{3}|[^\W\d_]{1,2}\.?)\s|[$€£¥₨]\s?)[-+(]?\d[\d.,]*\)?|[-+(]?\d[\d.,\s]*\)?\s?(?:[A-Z]{3}|[$€£¥₨])"
)
_AMOUNT = re.compile(
    r"[-+<>≤≥~]?\s?\d[\d.,\s]*(?:[-–/]\s?\d[\d.,]*)?\s?(?:[^\W\d_][^\W\d]{0,3}|[a-zß-ÿ]{5,12})(?:/[^\W\d]{1,4}|[²³])?"
)
_DAY = re.compile(
    r"\d{4}-\d\d(?:-\d\d(?:[ T]\d\d:\d\d.{0,9})?)?|\d{1,2}:\d\d(?::\d\d)?|\d{1,2}([./])\d{1,2}\1(?:\d{4}|\d\d)"
)
_DATE = re.compile(
    r"(?=.*\d{4}|.*\d[./-]\d)\d{0,4}[\s./-]?(?:\d{1,2}|[^\W\d]{3,9})[\s./,-]+\d{1,4}(?:[\s./,-]+\d{1,4})?.{0,9}"
)
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])\S+|\S+@\S+|https?://\S+")
VALUES = ("number", "amount", "date", "code")
LOOKED_AT = 60  # rows from which the headings of a table are told
COLUMNS = 60  # likewise
KIND_LENGTH = 60  # characters of a value; a longer one is a text
ALIKE = 0.75  # of the values of a column: then they are of one kind


def tidy(cell: str) -> str:
    """On one line. What is invisible in it is left for the builder to report."""
    return " ".join(cell.split())


@lru_cache(maxsize=4096)
def kind(cell: str) -> str:
    """What a value is: number, amount (with a unit), date, code, word (a few of them), or text; "" for none."""
    if not cell or len(cell) > KIND_LENGTH:
        return "text" if cell else ""
    if _DAY.fullmatch(cell):
        return "date"
    if NUMBER.fullmatch(cell) or _MONEY.fullmatch(cell):
        return "number"
    if _AMOUNT.fullmatch(cell):
        return "amount"
    if _DATE.fullmatch(cell):
        return "date"
    if _CODE.fullmatch(cell):
        return "code"
    return "word" if len(cell.split()) <= 3 else "text"


def kinds_of(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The kind of each cell, of LOOKED_AT rows and COLUMNS columns at most."""
    return [[kind(tidy(cell)) for cell in row[:COLUMNS]] for row in rows[:LOOKED_AT]]


def share(kinds: Sequence[str]) -> tuple[str, float]:
    """The most frequent kind of a column, and its share."""
    usual, count = Counter(kinds).most_common(1)[0]
    return usual, count / len(kinds)


def contrast(grid: Sequence[Sequence[str]]) -> int:
    """Columns in which the first row has words over values of one kind, less those in which it has such a value."""
    score = 0
    for at, top in enumerate(grid[0] if grid else ()):
        below = [row[at] for row in grid[1:] if at < len(row) and row[at]]
        usual, part = share(below) if below else ("", 0.0)
        if top and part >= ALIKE and usual in VALUES:
            score += (top in ("word", "text") or (usual == "number" and top in ("code", "amount", "date"))) - (
                top == usual
            )
    return score
