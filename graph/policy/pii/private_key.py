"""Private key blocks in PEM and OpenPGP armour (RFC 7468, RFC 9580), also when the end is cut off, and PuTTY's."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_EDGE = re.compile(
    r"-{2,5} ?(?P<side>BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{2,5}|PuTTY-User-Key-File-\d:[^\n\0]{0,40}"
)
# Lines of a key whose end is missing: Base64, armour headers, a last short piece. Prose has no word that long.
_MATERIAL = re.compile(
    r"(?:(?:\s|\\[rn]){1,4}(?:[A-Z][A-Za-z-]{1,20}: [^\n]{1,80}|[A-Za-z0-9+/]{12,}={0,2}|[A-Za-z0-9+/]{1,11}={1,2}"
    r"|(?<=\n)[A-Za-z0-9+/]{4,11}(?=\r?\n[A-Z][A-Za-z-]{1,20}: |\s{0,4}\Z)))*"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    opened = body = -1
    for edge in _EDGE.finditer(page.text):
        if edge["side"] == "END":
            if opened >= 0:
                yield RuleMatch(opened, edge.end(), 0.99)
            opened = -1
            continue
        if opened >= 0:
            yield RuleMatch(opened, _cut_end(page.text, body), 0.9)
        opened, body = edge.start(), edge.end()
    if opened >= 0:
        yield RuleMatch(opened, _cut_end(page.text, body), 0.9)


def _cut_end(text: str, body: int) -> int:
    material = _MATERIAL.match(text, body)
    return material.end() if material else body


RULE = Rule("PRIVATE_KEY", _find, any_of=("private key", "putty-user-key"))
