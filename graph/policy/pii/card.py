"""Payment cards: the issuers' prefixes and lengths, and Luhn's check digit.

Prefixes from the issuers' published ranges (ISO/IEC 7812): Visa 4; Mastercard 51-55, 2221-2720; American Express 34, 37;
Diners 300-305, 3095, 36, 38, 39; Discover 6011, 644-649, 65; JCB 3528-3589, 1800, 2131; UnionPay 62; Maestro 50, 56-58,
6; Mir 2200-2204; RuPay 60, 81, 82, 508; Elo, Troy 9792.
"""

import re
from collections.abc import Iterator

from graph.policy.pii.checks import luhn, varied
from graph.policy.pii.rule import Hit, Page, Rule, ends

_BRANDS = re.compile(
    r"(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}|3[47]\d{13}"
    r"|(?:30[0-5]\d|3095|3[689]\d\d)(?:\d{10}|\d{12})|(?:6011|64[4-9]\d|65\d\d)(?:\d{12}|\d{15})|35(?:2[89]|[3-8]\d)\d{12}"
    r"|(?:1800|2131)\d{11}|62\d{14,17}|(?:220[0-4]|9792)\d{12}|8[12]\d{14})"
)
# Maestro's wide ranges and lengths need a word beside them, unless the number has the usual 16 digits. Beside such a
# word any number with a right check digit is taken: issuers open new ranges.
_MAESTRO = re.compile(r"(?:50|5[6-8]|6\d)\d{10,17}")
_CONTEXT = re.compile(
    r"\b(?:cards?|credit|debit|visa|master ?card|maestro|amex|american express|diners|discover|jcb|unionpay|paypak|pan|cc)\b|کارڈ"
)
_SOLID = re.compile(r"(?<!\d)(?<!\d[.,])\d{12,19}(?!\d)(?![.,]\d)")
_GROUPED = re.compile(  # 4 4 4 4, 4 6 5, 4 6 4, with what may follow
    r"(?<!\d)\d{4}(?P<gap>[ .\-_/]{1,3}|\n)\d{4,6}(?:[ .\-_/]{1,3}|\n)\d{4,5}(?:(?:[ .\-_/]{1,3}|\n)\d{1,4}){0,2}(?!\d)"
)
_ANYHOW = re.compile(r"(?<!\d)(?<!\d[ .-])\d{1,6}(?:[ .-]\d{1,6}){5,18}(?!\d)")
_GAP = re.compile(r"\D+")


def _find(page: Page) -> Iterator[Hit]:
    text = page.text
    for match in _SOLID.finditer(text):
        if score := _score(page, match.group(), match.start(), match.end()):
            yield Hit(match.start(), match.end(), score)
    at = 0
    while match := _GROUPED.search(text, at):
        first = match.group().find(match["gap"])
        at = match.start() + first  # the number may begin at the next group
        for end in ends(match.group()):
            number = _GAP.sub("", match.group()[:end])
            if score := _score(page, number, match.start(), match.start() + end):
                at = match.start() + end
                yield Hit(match.start(), at, score)
                break
    for match in _ANYHOW.finditer(text):
        number = _GAP.sub("", match.group())
        if 12 <= len(number) <= 19 and (score := _score(page, number, match.start(), match.end())):
            yield Hit(match.start(), match.end(), score)


def _score(page: Page, number: str, start: int, end: int) -> float:
    known = _BRANDS.fullmatch(number)
    if not known and not (_MAESTRO.fullmatch(number) or (len(number) >= 12 and page.mentions(_CONTEXT))):
        return 0.0
    if not luhn(number) or not varied(number):
        return 0.0
    if page.context(start, end, _CONTEXT):
        return 0.95 if known else 0.7
    if not known:
        return 0.6 if len(number) == 16 and _MAESTRO.fullmatch(number) else 0.0
    return 0.9 if len(number) in (15, 16) else 0.6


RULE = Rule("CARD", _find, digits=12)
