"""United Kingdom NHS number: ten digits, usually 3 3 4, the last a modulo 11 check (NHS Data Dictionary)."""

import re
from collections.abc import Iterator

from graph.policy.pii.checks import varied
from graph.policy.pii.rule import Page, Rule, RuleMatch

_NUMBER = re.compile(r"(?<![\w.,+\-])\d{3}([ \-]?)\d{3}\1\d{4}(?![\w\-])(?![.,]\d)")
_CONTEXT = re.compile(r"\b(?:nhs|patients?|health service|gp|hospital|medical record|clinic)\b")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _NUMBER.finditer(page.text):
        number = re.sub(r"\D", "", match.group())
        if not _valid(number) or not varied(number):
            continue
        if page.context(match.start(), match.end(), _CONTEXT):
            yield RuleMatch(match.start(), match.end(), 0.95)
        elif match[1] == " ":
            yield RuleMatch(match.start(), match.end(), 0.5)


def _valid(number: str) -> bool:
    total = sum((10 - place) * int(digit) for place, digit in enumerate(number[:9]))
    return (11 - total % 11) % 11 == int(number[9])


RULE = Rule("UK_NHS", _find, digits=10)
