"""Payment cards: the issuers' prefixes and lengths, and Luhn's check digit.

Prefixes from the issuers' published ranges (ISO/IEC 7812): Visa 4; Mastercard 51-55, 2221-2720; American Express 34,
37; Diners 300-305, 3095, 36, 38, 39; Discover 6011, 644-649, 65; JCB 3528-3589, 1800, 2131; UnionPay 62; Maestro 50,
56-58, 6; Mir 2200-2204; RuPay 60, 81, 82, 508; Elo, Troy 9792.
"""

import re
from collections.abc import Iterator
from functools import cache

from graph.policy.pii.checks import luhn, varied
from graph.policy.pii.rule import Page, Rule, RuleMatch

# The first four digits, and the lengths issued with them.
_BRANDS = (
    (re.compile("4"), (13, 16, 19)),
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720|35(?:2[89]|[3-8])|220[0-4]|9792|8[12]"), (16,)),
    (re.compile("3[47]|1800|2131"), (15,)),
    (re.compile("30[0-5]|3095|3[689]"), (14, 16)),
    (re.compile("6011|64[4-9]|65"), (16, 19)),
    (re.compile("62"), (16, 17, 18, 19)),
)
# Maestro's wide ranges and lengths need a word beside them, unless the number has the usual 16 digits. Beside such a
# word any number with a right check digit is taken: issuers open new ranges.
_MAESTRO = re.compile(r"50|5[6-8]|6\d")
NAMES = re.compile(
    r"\b(?:cards?|credit|debit|visa|master ?card|maestro|amex|american express|diners|discover|jcb|unionpay|paypak|"
    r"pan|cc)\b|کارڈ"
)
_SOLID = re.compile(r"(?<!\d)(?<!\d[.,])\d{12,19}(?!\d)(?![.,]\d)")
_SEP = r"(?:[ .\-_/]{1,3}|\n)"
# 4 4 4 4, 4 6 5, 4 6 4, with what may follow.
_GROUPED = re.compile(
    rf"(?<!\d)(\d{{4}}){_SEP}(\d{{4,6}}){_SEP}(\d{{4,5}})(?:{_SEP}(\d{{1,4}})(?:{_SEP}(\d{{1,4}}))?)?(?!\d)"
)
_ANYHOW = re.compile(r"(?<!\d)(?<!\d[ .-])\d{1,6}(?:[ .-]\d{1,6}){5,18}(?!\d)")
_GAP = re.compile(r"\D+")


def _find(page: Page) -> Iterator[RuleMatch]:
    text = page.text
    for match in _SOLID.finditer(text):
        if not page.in_path(match.start()) and (score := _score(page, match.group(), match.start(), match.end())):
            yield RuleMatch(match.start(), match.end(), score)
    at = 0
    while grouped := _GROUPED.search(text, at):
        start, end = grouped.span()
        at = grouped.end(1)  # the number may begin at the next group
        number = _GAP.sub("", grouped.group())
        for group in (5, 4, 3):
            if grouped[group] is None:
                continue
            if score := _score(page, number, start, end):
                at = end
                yield RuleMatch(start, end, score)
                break
            number = number[: -len(grouped[group])]
            end = grouped.end(group - 1)
    for match in _ANYHOW.finditer(text):
        number = _GAP.sub("", match.group())
        if 12 <= len(number) <= 19 and (score := _score(page, number, match.start(), match.end())):
            yield RuleMatch(match.start(), match.end(), score)


@cache
def _lengths(prefix: str) -> tuple[int, ...]:
    return next((lengths for pattern, lengths in _BRANDS if pattern.match(prefix)), ())


def _score(page: Page, number: str, start: int, end: int) -> float:
    known = len(number) in _lengths(number[:4])
    maestro = len(number) >= 12 and bool(_MAESTRO.match(number))
    if not known and not maestro and (len(number) < 12 or not page.mentions(NAMES)):
        return 0.0
    if not luhn(number) or not varied(number):
        return 0.0
    if page.context(start, end, NAMES):
        return 0.95 if known else 0.7
    if not known:
        return 0.6 if len(number) == 16 and _MAESTRO.match(number) else 0.0
    return 0.9 if len(number) in (15, 16) else 0.6


RULE = Rule("CARD", _find, digits=12)
