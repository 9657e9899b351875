"""IMEI, the serial number of a mobile phone: 15 digits with Luhn's check, after the word (3GPP TS 23.003)."""

import re
from collections.abc import Iterator

from graph.policy.pii.checks import luhn
from graph.policy.pii.rule import Page, Rule, RuleMatch

_NUMBER = re.compile(r"(?<![\w.])\d{2}[ -]?\d{6}[ -]?\d{6}[ -]?\d(?![\w-])")
_CONTEXT = re.compile(r"\bimei\b")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _NUMBER.finditer(page.text):
        if page.context(match.start(), match.end(), _CONTEXT) and luhn(re.sub(r"\D", "", match.group())):
            yield RuleMatch(match.start(), match.end(), 0.95)


RULE = Rule("IMEI", _find, digits=15, any_of=("imei",))
