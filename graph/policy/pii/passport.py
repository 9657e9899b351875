"""Passport numbers after the word, and the second line of a machine-readable zone (ICAO 9303 part 4, with its check
digit)."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LABEL = re.compile(r"passports?|passeport|reisepass|pasaporte|passaporto|paspoort|پاسپورٹ|جواز|पासपोर्ट")
_NUMBER = re.compile(r"(?<![\w-])(?:[a-z]{1,2} ?\d{6,8}|\d{8,9}|[a-z]\d{2}[a-z0-9]{5,6}|[cfghjk][a-z0-9]{8})(?![\w-])")
_ZONE = re.compile(r"(?<![A-Z0-9<])[A-Z0-9<]{9}\d[A-Z<]{3}\d{6}\d[MFX<]\d{6}\d[A-Z0-9<]{14}[0-9<]\d(?![A-Z0-9<])")


def _find(page: Page) -> Iterator[RuleMatch]:
    for label in _LABEL.finditer(page.low):
        window = page.after(label.end(), 48)
        for match in _NUMBER.finditer(window):
            if sum(char.isdigit() for char in match.group()) >= 4:
                yield RuleMatch(label.end() + match.start(), label.end() + match.end(), 0.8)
                break
    for match in _ZONE.finditer(page.text):
        if _check(match.group()[:9]) == match.group()[9]:
            yield RuleMatch(match.start(), match.end(), 0.98)


def _check(field: str) -> str:
    values = [0 if char == "<" else int(char, 36) for char in field]
    return str(sum(value * (7, 3, 1)[place % 3] for place, value in enumerate(values)) % 10)


RULE = Rule("PASSPORT", _find, digits=4)
