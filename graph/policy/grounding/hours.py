"""An hour without its half of the day: "at 9" where the evidence says "9 a.m." or "21:00"."""

import re

_HOUR = re.compile(
    r"(?i)\b((?:at|by|until|till|from|to|before|after|around|about|past)\s+)(1[0-2]|[1-9])(?![\d:.]*\d|\s*[ap]\.?\s?m\b)\b"
)


def spelled(claim: str, forms: frozenset[str]) -> str:
    """The claim with such hours as the evidence's forms have them, where only one of the two is there."""

    def full(match: re.Match[str]) -> str:
        hour = int(match[2])
        clocks = [clock for clock in (f"{hour % 12}:00", f"{hour % 12 + 12}:00", f"{hour}:00") if clock in forms]
        return match[1] + clocks[0] if len(set(clocks)) == 1 and match[2] not in forms else match[0]

    return _HOUR.sub(full, claim)
