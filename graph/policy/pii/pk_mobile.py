"""Pakistani mobile numbers: 03XX and seven digits, at home or after +92, 0092 or 92, however they are spaced.

Operators' prefixes are 300-349 and 355 (Pakistan Telecommunication Authority), but the tens are reassigned and forms
are filled with invented ones, so any 3XX is taken.
"""

import re
from collections.abc import Iterator

from graph.policy.pii.of_things import of_a_thing
from graph.policy.pii.rule import Page, Rule, RuleMatch

_SEP = r"[ .\-/_()\n,]"
_COUNTRY = (
    rf"(?:\(?\+{_SEP}{{0,2}}|\(?0{_SEP}{{0,2}}0{_SEP}{{0,2}}|\(|(?<![\w.]))9{_SEP}{{0,2}}2"
    rf"{_SEP}{{0,3}}(?:0{_SEP}{{0,3}})?"
)
_MOBILE = re.compile(rf"(?:{_COUNTRY}|\(?(?<![\w.])0{_SEP}{{0,2}})3(?:{_SEP}{{0,3}}\d){{9}}(?!\d)")
# "Mob0300-1234567": a letter may stand before the number only at the end of such a word.
_GLUED = re.compile(
    r"(?<=ph|ll|el|ob|le|ne|ct|pp|ms|no|um|er)(?:92|0)?3\d{2}[ \-.]?\d{7}(?!\d)|(?<=[a-z_:=])0?3\d{2}-\d{7}(?!\d)"
)
_ONE_BY_ONE = 0.9  # the score of digits written one by one
_GROUP = re.compile(r"\d+")
_ROW_BEFORE = re.compile(r"\d[ .\-,]{1,2}$")
_ROW_AFTER = re.compile(r"[ .\-,]{1,2}\d")
_LABEL = re.compile(r"(?:ph|cell|call|tel|mob|mobile|phone|contact|whatsapp|sms|no|num|number|cel)$")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _MOBILE.finditer(page.text):
        score = _score(match.group())
        if score == _ONE_BY_ONE and (
            _ROW_BEFORE.search(page.before(match.start(), 3)) or _ROW_AFTER.match(page.after(match.end(), 3))
        ):
            continue  # a row of a table goes on before or behind
        # Divided as phone numbers are it is one, whatever stands before.
        if score and not (match.group().isdecimal() and of_a_thing(page, match.start())):
            yield RuleMatch(match.start(), match.end(), score)
    for match in _GLUED.finditer(page.low):
        if "-" in match.group() or _LABEL.search(page.before(match.start(), 12)):
            yield RuleMatch(match.start(), match.end(), 0.7)


def _score(written: str) -> float:
    """0 when the digits are grouped as no phone number is, as in a date with a count after it: 03/10/2025 105."""
    groups = _GROUP.findall(written)
    if len(groups) >= 10:
        return _ONE_BY_ONE
    gaps = {gap.strip() for gap in _GROUP.split(written)[1:-1]}
    if written.lstrip("(")[0] == "+" or "".join(groups).startswith(("0092", "92")):
        return 0.95
    if len(groups[0]) >= 4:
        return 0.95 if len(gaps) < 3 else 0.7
    return 0.7 if len(gaps - {"(", ")"}) == 1 and "/" not in gaps and "," not in gaps and len(groups) > 4 else 0.0


RULE = Rule("PHONE", _find, digits=10)
