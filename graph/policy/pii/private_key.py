"""Private key blocks in PEM and OpenPGP armour (RFC 7468, RFC 9580), also when the end is cut off, and PuTTY's."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Hit, Page, Rule

_EDGE = re.compile(r"-{2,5} ?(?P<side>BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)? ?-{2,5}|PuTTY-User-Key-File-\d:")
_BODY = re.compile(r"(?:[ \t]*(?:\r?\n|\\n|[ \t]))*(?:[A-Za-z0-9+/=:,. \t-]|\r?\n|\\n|\\r)*")
_BLANK_LINE = re.compile(r"\n[ \t]*\n[A-Z][a-z]+ [a-z]")


def _find(page: Page) -> Iterator[Hit]:
    opened = -1
    body = -1
    for edge in _EDGE.finditer(page.text):
        if edge["side"] == "END":
            if opened >= 0:
                yield Hit(opened, edge.end(), 0.99)
            opened = -1
            continue
        if opened >= 0:
            yield Hit(opened, edge.start(), 0.9)
        opened, body = edge.start(), edge.end()
    if opened >= 0:
        yield Hit(opened, _cut_end(page.text, body), 0.9)


def _cut_end(text: str, body: int) -> int:
    """Where the key material ends when its END line is missing: at the first paragraph that reads like prose."""
    prose = _BLANK_LINE.search(text, body)
    end = prose.start() if prose else len(text)
    material = re.compile(r"[A-Za-z0-9+/=:,.\-\s\\]*").match(text, body, end)
    return material.end() if material else body


RULE = Rule("PRIVATE_KEY", _find, any_of=("private key", "putty-user-key"))
