"""Phone numbers of any country.

With + or 00 the country is known and its numbering plan decides (the `phonenumbers` package, from Google's
libphonenumber metadata). Without it a number counts when a word such as "call" or "fax" stands by it, or when it has a
shape that little else has: (555) 123-4567, 020 7946 0958, 021-34567890.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any

from graph.policy.pii.of_things import of_a_thing
from graph.policy.pii.rule import Page, Rule, RuleMatch, ends

_SEP = r"[ .\-/()\n]"
_ABROAD = re.compile(
    rf"(?:\(?\+ ?\(?|(?<![\w.,:/+\-])\(?00[ \-]?)[1-9](?:{_SEP}{{0,3}}\d){{6,16}}(?:(?: ?x| ext\.? ?)\d{{1,5}})?"
)
_EXTENSION = re.compile(r"(?: ?x| ?ext\.? ?)\d{1,5}$")
_NORTH_AMERICA = re.compile(
    r"(?<![\w.,:/+\-$€£])(?:1[ .\-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d([.\-]))[2-9]\d\d[.\- ]\d{4}(?:x\d{1,5})?(?![\w/]|"
    r"[.,\-]\d)"
)
_TRUNK = re.compile(
    r"(?<![\w.,:/+\-$€£%#])(?:\(0\d{1,5}\)|0\d{1,5})[ .\-/]{1,2}\d{2,8}(?:[ .\-]\d{2,4}){0,4}(?![\w/%]|[.,:\-]\d)"
)
_WORD = (
    r"(?:tele)?phones?|tele?|mobiles?|mob|cell(?:phone)?|call(?:ed|ing)?|fax|whats ?app|viber|sms|text me|contact|"
    r"dial|ring|reach|hotline|helpline|landline|desk|office|direct line|telefono?|telefone|handy|mobil|portable|"
    r"celular|answering|registered|receiving (?:calls|messages)"
)
_OTHER_WORD = r"فون|موبائل|رابطہ|نمبر|هاتف|फोन|फ़ोन|मोबाइल|телефон|тел|电话|手机|電話"
# One of these is in every label: a test at a fraction of the pattern's cost.
_STEMS = (
    "phon", "tel", "mob", "cel", "call", "fax", "app", "viber", "sms", "text me", "contact", "dial", "ring", "reach",
    "line", "desk", "office", "handy", "portable", "registered", "receiving", *_OTHER_WORD.split("|"),
)  # fmt: skip
_LABELLED = re.compile(
    rf"(?:(?<![a-z])(?:{_WORD})(?![a-z])|{_OTHER_WORD})(?P<gap>[^\d\0\n]{{0,30}}\n?[^\d\0\n]{{0,8}}?)(?=\d)"
)
_LOCAL = re.compile(r"\d(?:[ .\-/()]{0,2}\d){5,14}(?:(?: ?x| ?ext\.? ?)\d{1,5})?(?![\w%°]|[.,:/\-]\d|\.[a-z]{2,4}\b)")
_IN_ADDRESS = re.compile(r"://[^\s<>\"]*$")  # a web address, whose digits are no phone number
_BEFORE_LABEL_AFTER = re.compile(
    r"(?<![\w.,:/+\-$€£])(?<!\d[ .\-/()])\(?\d(?:[ .\-/()]{0,2}\d){5,14}(?:x\d{1,5})?(?=[ \-(,]{0,3}(?:office|fax|"
    r"mobile|cell|home|desk)\b)"
)
_NORTH_AMERICAN = re.compile(r"1[2-9]\d\d[2-9]\d{6}")
_NO_DIGIT = re.compile(r"\D")
_NO_PHONE = re.compile(
    r"\d{1,2}[./\-]\d{1,2}[./\-](?:19|20)\d\d|(?:19|20)\d\d[./\-]\d{1,2}[./\-]\d{1,2}|\d+\.\d+|\d{1,4}-\d{1,4}"
)
_OTHER_NUMBER = re.compile(
    r"(?:article|articles|art\.?|section|paragraph|recital|chapter|page|pp?\.|version|isbn|issn|doi|order|ticket|case|"
    r"ref(?:erence)?|id|usd|eur|pkr|rs\.?|\$|€|£|grid|room|cnic|ssn|account|card)\W{0,3}"
    r"(?:no\W{0,3}|number\W{0,3}|# ?)?$"
)
# "The archive is called 2024117", "a room called 0300": there the number is a name. People are called on the phone.
_NAMED_SO = re.compile(
    r"\b(?:is|are|was|were|be|been|being)(?: \w+ly| often| also| now| still)? called\W{0,3}$|"
    r"\b(?:a|an|the|any|each|every|this|that|no) "
    r"(?:folder|server|register|[a-z]+(?<!er)(?<!or)(?<!nt)(?<!man)(?<!son)) called\W{0,3}$"
)
# Services of public interest and directories all over Europe (116 117, 118 118): nobody's, and published to be called.
_SERVICE = re.compile(r"11[68][ .\-]?\d{3}")
_NUMBER_KINDS = "fixed_line mobile toll_free premium_rate shared_cost voip uan personal_number".split()
# Home plans tried for a number that starts with the trunk zero and has no country.
_HOME = (
    "PK", "GB", "IN", "FR", "DE", "BE", "NL", "CH", "AT", "ES", "IT", "SE", "FI", "AU", "NZ", "ZA", "AE", "SA", "TR",
    "BD",
)  # fmt: skip


def _find(page: Page) -> Iterator[RuleMatch]:
    text = page.text
    if "+" in text or "00" in text:
        yield from _abroad(text)
    for match in _NORTH_AMERICA.finditer(text):
        number = re.sub(r"\D", "", _EXTENSION.sub("", match.group()))[-10:]
        if not _of_another(page, match.start()):
            yield RuleMatch(match.start(), match.end(), 0.75 if _in_plan("US", number) else 0.5)
    at = 0
    while trunk := _TRUNK.search(text, at):
        end = 0 if _of_another(page, trunk.start()) else _home_end(trunk.group())
        at = trunk.start() + (end or ends(trunk.group())[-1])
        if end:
            yield RuleMatch(trunk.start(), at, 0.65)
    yield from _labelled(page)


def _abroad(text: str) -> Iterator[RuleMatch]:
    at = 0
    while match := _ABROAD.search(text, at):
        written = match.group()
        at = match.end()
        plus = "+" in written[:2]
        bare = _EXTENSION.sub("", written)
        possible = 0
        for end in ends(bare):
            number = _NO_DIGIT.sub("", bare[:end].replace("(0)", ""))
            known = _country_plan(number if plus else number[2:])
            if not known:
                continue
            possible = possible or (len(written) if end == len(bare) else end)
            if known == "valid":
                possible = len(written) if end == len(bare) else end
                break
        # Invented numbers are common in forms and are masked too, but only where the + says what they are.
        if possible and (known == "valid" or plus or "-" in written):
            at = match.start() + possible
            yield RuleMatch(match.start(), at, 0.9 if known == "valid" else 0.6)


def _labelled(page: Page) -> Iterator[RuleMatch]:
    if not any(stem in page.low for stem in _STEMS):
        return
    text = page.text
    for label in _LABELLED.finditer(page.low):
        at = label.end()
        while match := _LOCAL.match(text, at):
            written = match.group()
            count = sum(char.isdigit() for char in _EXTENSION.sub("", written))
            near = re.fullmatch(
                r"[^\w]{0,6}\n?[^\w]{0,4}|.{0,12}(?:is|on|to|me|us|at|no|number)\W{0,5}\n?[^\w]{0,4}", label["gap"]
            )
            if not (6 <= count <= 15) or _NO_PHONE.fullmatch(written) or (not near and count < 7):
                break
            if _of_another(page, match.start()) or _IN_ADDRESS.search(page.before(label.end(), 200)):
                break
            if _SERVICE.fullmatch(written) or _NAMED_SO.search(page.before(match.start())):
                break
            opening = match.start() - 1 if text[match.start() - 1 : match.start()] in ("(", "+") else match.start()
            yield RuleMatch(opening, match.end(), 0.6)
            # "call 0300…, 0321… or 042…": the label holds for the list.
            more = re.compile(r"(?:[ ,;/&]|or|and){1,6}\(?(?=\d)").match(text, match.end())
            if not more:
                break
            at = more.end()
    for match in _BEFORE_LABEL_AFTER.finditer(page.low):
        if not _NO_PHONE.fullmatch(match.group()):
            yield RuleMatch(match.start(), match.end(), 0.6)


def _of_another(page: Page, start: int) -> bool:
    """Whether the words before a number say that it is no phone number."""
    return _OTHER_NUMBER.search(page.before(start, 24)) is not None or of_a_thing(page, start)


def _home_end(written: str) -> int:
    """How much of a number with a trunk zero is a number in some home plan; 0 for nothing."""
    for end in ends(written):
        number = _NO_DIGIT.sub("", written[:end])
        if 10 <= len(number) <= 12 and _at_home(number):
            return end
    return 0


@lru_cache(maxsize=4096)
def _at_home(number: str) -> bool:
    return any(_in_plan(region, number[1:]) or _in_plan(region, number) for region in _HOME)


@cache
def _plan(region: str) -> "re.Pattern[str] | None":
    """One region's fixed-line, mobile and special numbers, without country code and trunk prefix."""
    from phonenumbers import PhoneMetadata  # 100 ms to import; most texts never need it

    data: Any
    if region.isdigit():  # 800 and the like, which belong to no country
        data = PhoneMetadata.metadata_for_nongeo_region(int(region), None)
    else:
        data = PhoneMetadata.metadata_for_region(region, None)
    if data is None:
        return None
    kinds = [getattr(data, name) for name in _NUMBER_KINDS]
    patterns = [kind.national_number_pattern for kind in kinds if kind is not None and kind.national_number_pattern]
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns)) if patterns else None


def _in_plan(region: str, number: str) -> bool:
    plan = _plan(region)
    return bool(plan and plan.fullmatch(number))


@lru_cache(maxsize=4096)
def _country_plan(number: str) -> str:
    """What the plan of its country says: "valid", "possible" (a country and 7 to 15 digits) or ""."""
    if not 7 <= len(number) <= 15:
        return ""
    if number[0] == "1":  # one plan for North America, whatever the region
        return "valid" if _NORTH_AMERICAN.fullmatch(number) else "possible" if len(number) == 11 else ""
    from phonenumbers import COUNTRY_CODE_TO_REGION_CODE

    for width in (1, 2, 3):
        code = number[:width]
        regions = COUNTRY_CODE_TO_REGION_CODE.get(int(code))
        if regions:
            national = number[width:]
            names = [code] if regions == ("001",) else regions
            if any(_in_plan(name, national) for name in names):
                return "valid"
            return "possible" if len(national) >= 6 else ""
    return ""


RULE = Rule("PHONE", _find, digits=6)
