"""Strict JSON, with numbers that Python's own reader would turn into infinity or refuse."""

import json
import math
from typing import Any

# Digits that int() reads and str() prints without a switch (sys.int_info.default_max_str_digits is 4,300).
MAX_DIGITS = 4_000


def decode(text: str) -> Any:
    """As json.loads, but NaN and Infinity are no JSON, and 1e999 is the integer it stands for.

    Raises ValueError for what is no JSON, or a number of more than MAX_DIGITS digits; RecursionError when too deep.
    """
    return json.loads(text, parse_constant=_no_constant, parse_float=number, parse_int=number)


def number(text: str) -> int | float:
    """A JSON number. Raises ValueError when it is not one that can be held and printed again."""
    if len(text) > MAX_DIGITS:
        raise ValueError("a number has too many digits")
    if text.lstrip("-").isdigit():
        return int(text)
    value = float(text)
    if math.isinf(value):
        mantissa, _, exponent = text.lower().partition("e")
        power = int(exponent) - len(mantissa.partition(".")[2])
        if not 0 <= power <= MAX_DIGITS:
            raise ValueError("a number is too large")
        whole: int = int(mantissa.replace(".", "")) * 10**power  # not negative, which the types do not know
        return whole
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")
