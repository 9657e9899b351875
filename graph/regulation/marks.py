"""The marks that open parts of a provision: "3.", "(b)", "(iv)", "—", and what comes after each."""

import re
from dataclasses import dataclass
from typing import Literal

Style = Literal["paragraph", "number", "letter", "roman", "indent"]
_MARK = re.compile(
    r"(?:(?P<paragraph>\d{1,3}[a-z]{0,2})\.|\((?P<inside>\d{1,3}[a-z]{0,2}|[a-z]{1,6})\)|(?P<indent>[—–•-]))(?:\s+(?=\S)|$)"
)
_ROMANS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class Mark:
    """`value` counts from 1 within its style; `text` is what stands between the brackets."""

    style: Style
    text: str
    value: int


def read(line: str) -> tuple[list[Mark], int]:
    """Every reading of the mark that `line` opens with, and where the text after it begins; ([], 0) when there is
    none. "(i)" may be the letter after h or the first Roman numeral: both are given."""
    match = _MARK.match(line)
    if match is None:
        return [], 0
    if match["paragraph"]:
        return [Mark("paragraph", match["paragraph"], _number(match["paragraph"]))], match.end()
    if match["indent"]:
        return [Mark("indent", match["indent"], 0)], match.end()
    inside = match["inside"]
    if inside[0].isdigit():
        return [Mark("number", inside, _number(inside))], match.end()
    readings = []
    if len(set(inside)) == 1 and len(inside) <= 2:
        readings.append(Mark("letter", inside, ord(inside[0]) - 96 + 26 * (len(inside) - 1)))
    elif len(inside) == 2:
        readings.append(Mark("letter", inside, ord(inside[0]) - 96))  # (ab), put in by an amendment
    if (value := roman(inside)) > 0:
        readings.append(Mark("roman", inside, value))
    return readings, match.end() if readings else 0


def follows(mark: Mark, last: Mark) -> bool:
    """Whether `mark` may come next after `last` in one list: "3a" after "3", and "3b" or "4" after "3a"."""
    next_one = mark.value == last.value + 1 or (mark.value == last.value and mark.text > last.text)
    return mark.style == last.style and (mark.style == "indent" or next_one)


def first(mark: Mark) -> bool:
    """Whether a list may open with the mark."""
    return mark.style == "indent" or mark.value == 1


def roman(text: str) -> int:
    """The value of a small or large Roman numeral up to 399, or 0."""
    values = [_ROMANS.get(letter, 0) for letter in text.lower()]
    if not values or 0 in values:
        return 0
    total = sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))
    return total if written(total) == text.lower() else 0


def written(value: int) -> str:
    """The small Roman numeral of a number; "" for 0."""
    parts = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
    text = ""
    for worth, letters in parts:
        while value >= worth:
            text += letters
            value -= worth
    return text


def _number(text: str) -> int:
    return int(re.match(r"\d+", text)[0])  # type: ignore[index]
