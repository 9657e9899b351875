"""Broken JSON to a value, by json-repair: bounded in time, and without what no JSON holds."""

import html
import math
import re
from typing import Any

from graph.policy.repair.shape import MAX_DEPTH, deeper_than, text_deeper_than

MAX_CHARS = 100_000
# Characters that json-repair may look at: 15 times MAX_CHARS. Output of a model needs 2 to 12 per character; some
# garbage needs the square of its length, and would take minutes.
LOOKS = 1_500_000


def mend(text: str) -> tuple[bool, Any]:
    """Whether a value was found, and the value. It holds no NaN and no infinity, which are no JSON."""
    if len(text) > MAX_CHARS or not re.search(r"[\[{(]", text) or text_deeper_than(text, MAX_DEPTH):
        return False, None
    if "&quot;" in text and '"' not in text:
        text = html.unescape(text)
    readable, value = _guess(text)
    if not readable or deeper_than(value, MAX_DEPTH):
        return False, None
    return True, _finite(value)


class _OverBudget(Exception):
    """json-repair looked at more characters than it was given."""


class _Metered(str):
    """A text that can be looked at only so often, and so can every text cut out of it."""

    __slots__ = ("left",)
    left: list[int]

    @classmethod
    def from_text(cls, text: str, left: list[int]) -> "_Metered":
        metered = cls(text)
        metered.left = left
        return metered

    def __getitem__(self, at: Any) -> str:
        part = super().__getitem__(at)
        if type(at) is int:
            self.left[0] -= 1
            if self.left[0] < 0:
                raise _OverBudget
            return part
        self.left[0] -= 1 + len(part) // 64  # a slice is copied at once
        return _Metered.from_text(part, self.left)

    def __add__(self, other: str) -> "_Metered":
        return _Metered.from_text(super().__add__(other), self.left)


def _guess(text: str) -> tuple[bool, Any]:
    import json_repair

    try:
        value = json_repair.loads(_Metered.from_text(text, [LOOKS]), skip_json_loads=True)
    except (_OverBudget, ValueError, RecursionError, IndexError, TypeError, KeyError, AttributeError):
        return False, None
    # An empty value counts only where the text itself opened one: "[", "{]".
    return value not in ("", None, [], {}) or (value in ([], {}) and text.lstrip()[:1] in "[{("), value


def _finite(value: Any) -> Any:
    if isinstance(value, str):
        # json-repair leaves "\\ud83d\\ude00" as two halves of one character, and a metered text a metered one.
        return str(value) if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_finite(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and value.bit_length() > 13_000:  # some 3,900 digits, see numbers.MAX_DIGITS
        return None
    return value
