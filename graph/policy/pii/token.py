"""Bearer and basic credentials of an Authorization header (RFC 6750, RFC 7617), JSON web tokens (RFC 7519)."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_JWT = re.compile(r"(?<![\w-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}")
_HEADER = re.compile(r"(?:bearer|(?<=authorization: )basic|(?<=authorization:)basic)[ :]{1,3}([a-z0-9._~+/=-]{16,})")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _JWT.finditer(page.text):
        yield RuleMatch(match.start(), match.end(), 0.95)
    for match in _HEADER.finditer(page.low):
        if any(char.isdigit() for char in match[1]) or "=" in match[1]:
            yield RuleMatch(match.start(1), match.end(1), 0.9)


RULE = Rule("TOKEN", _find, any_of=("eyj", "bearer", "basic"))
