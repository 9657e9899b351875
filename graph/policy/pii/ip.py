"""IPv4 and IPv6 addresses. Four small numbers with dots are more often a version or a section than a host, so those
need a word; loopback, unspecified and broadcast addresses name nobody."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = re.compile(rf"(?<![\d.])(?<![\d.][a-z])(?:{_OCTET}(?:\.|\[\.\]|\(\.\))){{3}}{_OCTET}(?!\d)(?!\.\d)")
_V6 = re.compile(r"(?<![\w:.])(?:[0-9a-f]{1,4}|(?=::))(?::[0-9a-f]{0,4}){2,8}(?:(?:\.\d{1,3}){3})?(?![\w:])")
_CONTEXT = re.compile(
    r"\b(?:ip|ipv[46]|address|host|server|ping|client|gateway|subnet|dns|router|from|connected|login|logged|proxy|"
    r"network)\b"
)
_VERSION = re.compile(
    r"(?:\bv|\bver|version|versions|release|build|firmware|driver|section|sec\.?|chapter|clause|annex|table|figure|"
    r"item|oid|"
    r"upgrade to|update to|==|>=|<=|~=|\w-)\W{0,3}$"
)
_NOBODY = re.compile(r"127\.|0\.0\.0\.0$|255\.255\.|0\.")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _V4.finditer(page.low):
        written = match.group().replace("[", "").replace("]", "").replace("(", "").replace(")", "")
        large = any(int(part) > 31 for part in written.split("."))
        if not large and not page.context(match.start(), match.end(), _CONTEXT):
            continue
        if not _NOBODY.match(written) and not _VERSION.search(page.before(match.start(), 20)):
            yield RuleMatch(match.start(), match.end(), 0.9 if large else 0.7)
    if ":" not in page.low:
        return
    for match in _V6.finditer(page.low):
        if _is_v6(match.group()):
            yield RuleMatch(match.start(), match.end(), 0.9)


def _is_v6(written: str) -> bool:
    if (
        len(written) < 6
        or not any(char.isdigit() for char in written)
        or ("::" not in written and written.count(":") < 6)
    ):
        return False
    import ipaddress  # not needed by most texts

    try:
        address = ipaddress.IPv6Address(written)
    except ValueError:
        return False
    return not (address.is_loopback or address.is_unspecified)


RULE = Rule("IP", _find, digits=3)
