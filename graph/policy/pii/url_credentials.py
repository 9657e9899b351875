"""User name and password inside a URL (RFC 3986, 3.2.1): the part between // and @."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_USERINFO = re.compile(r"://([^\s/@:\0]{0,256}:[^\s/@\0]{1,256})@(?=[\w\[])")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _USERINFO.finditer(page.text):
        yield RuleMatch(match.start(1), match.end(1), 0.95)


RULE = Rule("URL_CREDENTIALS", _find, any_of=("://",))
