"""MAC addresses: six pairs of hexadecimal digits with one separator throughout (IEEE 802), or three fours with dots."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_MAC = re.compile(
    r"(?<![\w:.\-])[0-9a-f]{2}([:\-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}(?![\w:\-])|"
    r"(?<![\w.])[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4}(?![\w.])"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _MAC.finditer(page.low):
        written = match.group()
        if any(char.isalpha() for char in written) or ":" in written:
            yield RuleMatch(match.start(), match.end(), 0.9)


RULE = Rule("MAC", _find, digits=1, any_of=(":", "-", "."))
