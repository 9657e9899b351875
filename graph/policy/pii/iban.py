"""IBAN: country, two check digits, an account number of the country's length (ISO 13616), modulo 97 (ISO 7064).

Lengths from the SWIFT IBAN registry.
"""

import re
from collections.abc import Iterator
from functools import cache

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LENGTHS = {
    country: length
    for length, countries in {
        15: "no", 16: "be", 18: "dk fi fo gl nl sd fk", 19: "mk si", 20: "at ba ee kz lt lu xk mn",
        21: "ch cr hr li lv", 22: "bg bh de gb ge ie me rs va", 23: "ae gi il iq om tl so",
        24: "ad cz es md pk ro sa se sk tn vg", 25: "ly pt st", 26: "is tr", 27: "bi dj fr gr it mc mr sm",
        28: "al az by cy do gt hu lb ni pl sv", 29: "br eg ps qa ua", 30: "jo kw mu ye", 31: "mt sc",
        32: "lc", 33: "ru",
    }.items()
    for country in countries.split()
}  # fmt: skip
# Where the account number has digits only; elsewhere most of it is digits too. Without this the words after a number
# could complete it: "at 1749216327477 by the".
_DIGITS_ONLY = (
    "ae", "at", "ba", "be", "cz", "de", "dk", "ee", "es", "fi", "fo", "gl", "hr", "hu", "il", "is", "lt", "me", "no",
    "pl", "pt", "rs", "se", "si", "sk", "tn", "xk",
)  # fmt: skip
_FEWEST_DIGITS = 6
_START = re.compile(r"(?<![a-z0-9])([a-z])([a-z])[ -]?\d ?\d(?=(?:[ .\-/]{0,2}|\n)[a-z0-9])")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _START.finditer(page.low):
        length = _LENGTHS.get(match[1] + match[2])
        if not length or not (whole := _shape(length).match(page.low, match.start())):
            continue
        compact = re.sub(r"[^a-z0-9]", "", whole.group())
        account = compact[4:]
        if match[1] + match[2] in _DIGITS_ONLY and not account.isdigit():
            continue
        if sum(char.isdigit() for char in account) >= _FEWEST_DIGITS and _mod97(compact):
            yield RuleMatch(match.start(), whole.end(), 0.98)


@cache
def _shape(length: int) -> re.Pattern[str]:
    return re.compile(rf"[a-z0-9](?:(?:[ .\-/]{{0,2}}|\n)[a-z0-9]){{{length - 1}}}(?![a-z0-9])")


def _mod97(compact: str) -> bool:
    return int("".join(str(int(char, 36)) for char in compact[4:] + compact[:4])) % 97 == 1


RULE = Rule("IBAN", _find, digits=8)
