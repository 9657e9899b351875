"""IPv4 and IPv6 addresses. Four small numbers with dots are more often a version or a section than a host, so those
need a word. An address of a private network or a local link (RFC 1918, 4193) says who it was only beside a word for
somebody's connection; loopback, documentation (RFC 5737, 3849), broadcasts and whole networks name nobody."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from graph.policy.pii.rule import Page, Rule, RuleMatch

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_V4 = re.compile(rf"(?<![\d.])(?<![\d.][a-z])(?:{_OCTET}(?:\.|\[\.\]|\(\.\))){{3}}{_OCTET}(?!\d)(?!\.\d)")
_V6 = re.compile(r"(?<![\w:.])(?:[0-9a-f]{1,4}|(?=::))(?::[0-9a-f]{0,4}){2,8}(?:(?:\.\d{1,3}){3})?(?![\w:])")
_CONTEXT = re.compile(
    r"\b(?:ip|ipv[46]|address|host|server|ping|client|gateway|subnet|dns|router|from|connected|login|logged|proxy|"
    r"network)\b"
)
_CONNECTION = re.compile(
    r"\b(?:my|your|his|her|their|user|client|visitor|customer|attacker|login|logged|signed in|connected|from|"
    r"ip(?:v[46])?(?: address)?(?: is| was|:))(?![a-z])"
)
_NETWORK = re.compile(r"/\d")
_VERSION = re.compile(
    r"(?:\bv|\bver|version|versions|release|build|firmware|driver|section|sec\.?|chapter|clause|annex|table|figure|"
    r"item|oid|upgrade to|update to|==|>=|<=|~=|\w-)\W{0,3}$"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _V4.finditer(page.low):
        written = match.group().replace("[", "").replace("]", "").replace("(", "").replace(")", "")
        large = any(int(part) > 31 for part in written.split("."))
        if not large and not page.context(match.start(), match.end(), _CONTEXT):
            continue
        if _names_somebody(page, match, written) and not _VERSION.search(page.before(match.start(), 20)):
            yield RuleMatch(match.start(), match.end(), 0.9 if large else 0.7)
    if ":" not in page.low:
        return
    for match in _V6.finditer(page.low):
        if _is_v6(match.group()) and _names_somebody(page, match, match.group()):
            yield RuleMatch(match.start(), match.end(), 0.9)


def _is_v6(written: str) -> bool:
    groups = "::" in written or written.count(":") >= 6
    return len(written) >= 6 and groups and any(char.isdigit() for char in written)


def _names_somebody(page: Page, match: re.Match[str], written: str) -> bool:
    import ipaddress  # not needed by most texts

    try:
        address = ipaddress.ip_address(written)
    except ValueError:
        return False
    if address.is_global:
        return not address.is_multicast
    local = address.is_private and not any(
        address in network for network in _nobody() if network.version == address.version
    )
    network = _NETWORK.match(page.text, match.end()) and written.endswith((".0", "::"))
    return local and not network and page.context(match.start(), match.end(), _CONNECTION)


@cache
def _nobody() -> tuple[Any, ...]:
    import ipaddress

    ranges = "0.0.0.0/8 127.0.0.0/8 192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 ::/127 2001:db8::/32"
    return tuple(map(ipaddress.ip_network, ranges.split()))


RULE = Rule("IP", _find, digits=3)
