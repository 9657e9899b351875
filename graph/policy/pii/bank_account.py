"""Domestic bank account numbers after a label; they have no common check digit."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LABEL = re.compile(
    r"(?:\baccount|\bacct|\ba/c|\bkonto|\bcompte|\bcuenta|اکاؤنٹ)[ .]{0,2}(?:no\b|number|num\b|nr\b|nummer|#|"
    r"نمبر)?(?:[ .:#=\-]|is){0,6}"
    r"(?P<value>\d(?:[ -]?\d){7,19})(?![\w]|[.,]\d)"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _LABEL.finditer(page.low):
        yield RuleMatch(match.start("value"), match.end("value"), 0.7)


RULE = Rule("BANK_ACCOUNT", _find, digits=8, any_of=("acc", "a/c", "konto", "compte", "cuenta", "اکاؤنٹ"))
