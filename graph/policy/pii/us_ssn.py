"""United States social security and individual taxpayer numbers: 3-2-4, no check digit.

The Social Security Administration never issues area 000, 666 or 9xx, group 00, serial 0000; the tax office issues 9xx
with group 50-65, 70-88, 90-92 and 94-99.
"""

import re
from collections.abc import Iterator

from graph.policy.pii.checks import varied
from graph.policy.pii.rule import Page, Rule, RuleMatch

_SSN = re.compile(r"(?<![\d.,+\-])(?!000|666)\d{3}([ .\-/]?)(?!00)\d{2}\1(?!0000)\d{4}(?![\d\-])(?![.,]\d)")
_ONE_BY_ONE = re.compile(r"(?<!\d)(?<!\d[ .-])\d(?:[ .-]\d){8}(?![ .-]?\d)")
_CONTEXT = re.compile(r"\b(?:ssn|social security|social sec|itin|tin|taxpayer|soc sec)\b|\bss ?(?:#|no\b|num)")
_TAX_GROUPS = re.compile(r"9\d\d(?:5\d|6[0-5]|7\d|8[0-8]|9[0-24-9])")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _SSN.finditer(page.text):
        number = re.sub(r"\D", "", match.group())
        if number[0] == "9" and not _TAX_GROUPS.match(number):
            continue
        if page.context(match.start(), match.end(), _CONTEXT):
            yield RuleMatch(match.start(), match.end(), 0.9)
        elif match[1] == "-" and varied(number):
            yield RuleMatch(match.start(), match.end(), 0.7)
    for match in _ONE_BY_ONE.finditer(page.text):
        if page.context(match.start(), match.end(), _CONTEXT):
            yield RuleMatch(match.start(), match.end(), 0.7)


RULE = Rule("US_SSN", _find, digits=9)
