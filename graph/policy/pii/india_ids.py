"""India's Aadhaar (twelve digits, not beginning 0 or 1, Verhoeff check: UIDAI) and PAN (Income-tax Rules, rule 114)."""

import re
from collections.abc import Iterator

from graph.policy.pii.checks import varied, verhoeff
from graph.policy.pii.rule import Page, Rule, RuleMatch

_AADHAAR = re.compile(r"(?<![\w.,+\-])[2-9]\d{3}([ \-.]?)\d{4}\1\d{4}(?![\w\-])(?![ .,]\d)")
_AADHAAR_WORD = re.compile(r"aadha+r|\baadhar|\badhaar|\buid(?:ai)?\b|आधार")
# The fourth letter is the kind of holder.
_PAN = re.compile(r"(?<![\w-])[A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z](?![\w-])")
_PAN_WORD = re.compile(r"\bpan\b|income.tax|permanent account|पैन")
_PAN_LOW = re.compile(r"(?<![\w-])[a-z]{3}[abcfghljpt][a-z]\d{4}[a-z](?![\w-])")


def _find_aadhaar(page: Page) -> Iterator[RuleMatch]:
    for match in _AADHAAR.finditer(page.text):
        number = re.sub(r"\D", "", match.group())
        if not verhoeff(number) or not varied(number):
            continue
        if page.context(match.start(), match.end(), _AADHAAR_WORD):
            yield RuleMatch(match.start(), match.end(), 0.95)
        elif match[1] in (" ", "-"):
            yield RuleMatch(match.start(), match.end(), 0.75)


def _find_pan(page: Page) -> Iterator[RuleMatch]:
    for match in _PAN.finditer(page.text):
        yield RuleMatch(match.start(), match.end(), 0.75)
    if _PAN_WORD.search(page.low):
        for match in _PAN_LOW.finditer(page.low):
            if page.context(match.start(), match.end(), _PAN_WORD):
                yield RuleMatch(match.start(), match.end(), 0.8)


AADHAAR = Rule("AADHAAR", _find_aadhaar, digits=12)
PAN = Rule("INDIA_PAN", _find_pan, digits=4)
