"""Pakistan's CNIC and NICOP: 13 digits, written 35202-1234567-1.

The first five are province, division, district and a two-digit tehsil (Pakistan Citizen rules as NADRA numbers them);
the last tells the sex. There is no check digit, so the written form, the locality code and the words around decide.
Dashed 5-7-1 is masked whatever its digits (requirement A7).
"""

import re
from collections.abc import Iterator

from graph.policy.pii.checks import ean13, varied
from graph.policy.pii.of_things import of_a_thing
from graph.policy.pii.rule import Page, Rule, RuleMatch

NAMES = re.compile(r"\b(?:s?cnic|nicop|nic)|nadra|identity\s?(?:card|no|num)|\bid\s?(?:card|no|num)|شناختی|قومی")
_OTHER = re.compile(
    r"\b(?:ean|gtin|upc|isbn|barcode|bar code|sku|imei|doi|timestamp|epoch|unix|milliseconds|millis|ms|ts|time|"
    r"logged at|created|order|batch|lot|serial|invoice|tracking|consignment|part|article|item|catalogue|reference)\b"
)
# Digits 2 to 4 of a code in use: divisions 1-7, districts 0-7, tehsil below ten.
LOCALITY = re.compile(r"[1-8][1-7][0-7]0\d")
# Khyber Pakhtunkhwa's divisions and districts; every number from 1262304000000 (2010) on is also a time in ms.
_KP_LOCALITY = re.compile(r"1(?:1[12]|2[12]|3[1-5]|4[1-3]|5[1-7]|6[12]|7[1-3])0[1-7]")

_GAP = r"(?:[ \n]{0,2}[-./_,|:~][ \n]{0,2}-?|[ \n]{1,3})"
_GROUPED = re.compile(rf"(?<!\d)\d{{5}}({_GAP})\d{{7}}({_GAP})\d(?!\d)")
_PARTED = re.compile(r"(?<!\d)(?:\d{5}[-./ ]\d{8}|\d{12}[-./ ]\d)(?![-./]?\d)")
_SOLID = re.compile(r"(?<!\d)(?<!\d[.,])\d{13}(?!\d)(?![.,]\d)")
_ONE_BY_ONE = re.compile(rf"(?<!\d)(?<!\d[ .-])\d(?:[ .-]\d){{4}}(?:{_GAP})\d(?:[ .-]\d){{6}}(?:{_GAP})\d(?![ .-]?\d)")
_LOOSE = re.compile(r"(?<!\d)\d(?:[ .\-/_]{0,2}\d){12}(?!\d)")


def _find(page: Page) -> Iterator[RuleMatch]:
    text = page.text
    for match in _GROUPED.finditer(text):
        dashed = "-" in match[1] and "-" in match[2]
        if dashed or match.group()[0] in "12345678" or _in_context(page, match):
            yield RuleMatch(match.start(), match.end(), 0.95 if dashed else 0.85)
    for match in _PARTED.finditer(text):
        if LOCALITY.match(match.group()) or _in_context(page, match):
            yield RuleMatch(match.start(), match.end(), 0.7)
    for match in _SOLID.finditer(text):
        if score := _solid_score(page, match):
            yield RuleMatch(match.start(), match.end(), score)
    for match in _ONE_BY_ONE.finditer(text):
        number = re.sub(r"\D", "", match.group())
        if (number[0] in "12345678" and varied(number)) or _in_context(page, match):
            yield RuleMatch(match.start(), match.end(), 0.75)
    if any(stem in page.low for stem in ("nic", "nadra", "identity", "id ", "شناختی", "قومی")):
        for match in _LOOSE.finditer(text):
            if _in_context(page, match):
                yield RuleMatch(match.start(), match.end(), 0.75)


def _in_context(page: Page, match: re.Match[str]) -> bool:
    return page.context(match.start(), match.end(), NAMES)


def _solid_score(page: Page, match: re.Match[str]) -> float:
    """0 for what is rather a time in milliseconds, a bar code, an ISBN, a round amount or part of an identifier."""
    number = match.group()
    if _in_context(page, match):
        return 0.95
    if not varied(number) or number.endswith("000000") or page.in_path(match.start()):
        return 0.0
    near = page.text[match.start() - 1 : match.start()] + page.text[match.end() : match.end() + 1]
    if any(char.isalpha() or char in "_" for char in near) or _OTHER.search(page.before(match.start())):
        return 0.0
    if of_a_thing(page, match.start()):
        return 0.0
    if number[0] == "1":
        return 0.7 if _KP_LOCALITY.match(number) else 0.0
    if number[0] == "8":
        return 0.6 if LOCALITY.match(number) and not ean13(number) else 0.0
    return (0.8 if LOCALITY.match(number) else 0.6) if number[0] in "234567" else 0.0


RULE = Rule("CNIC", _find, digits=13)
