"""United Kingdom National Insurance number: two letters, six digits, A to D (HMRC manual NIM39110 gives the barred
letters)."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_NUMBER = re.compile(
    r"(?<![\w-])(?!bg|gb|nk|kn|tn|nt|zz)[a-ceghj-prtw-z] ?[a-ceghj-nprtw-z]([ \-]?)"
    r"\d{2}\1\d{2}\1\d{2}\1([a-d]?)(?![\w-])"
)
_CONTEXT = re.compile(r"\b(?:ni ?no|ni number|national insurance|nino)\b")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _NUMBER.finditer(page.low):
        if page.context(match.start(), match.end(), _CONTEXT):
            yield RuleMatch(match.start(), match.end(), 0.95)
        elif match[2] and page.text[match.start() : match.start() + 2].isupper():
            yield RuleMatch(match.start(), match.end(), 0.75)


RULE = Rule("UK_NINO", _find, digits=6)
