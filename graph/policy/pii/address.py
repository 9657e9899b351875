"""Street addresses after a label: "Address: House 12, Street 4, Islamabad". Without a label addresses are left alone:
there is no format to tell them from the prose of a report."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LABEL = re.compile(
    r"(?<![\w\-.])(?P<what>\w{0,20} ?)(?:addr(?:ess|\.)?|adresse|anschrift|direccion|indirizzo|پتہ|ایڈریس|"
    r"पता) ?(?:is ?)?[:=][ \t]{0,4}\n?[ \t]{0,4}"
)
_NOT_STREET = re.compile(
    r"^(?:ip|ipv4|ipv6|e|mail|email|mac|web|url|site|memory|wallet|contract|bitcoin|btc|eth|base|return|host|we|"
    r"they|to|must|will|should|not|also|that|you) ?$"
)
_PROSE = re.compile(r"(?i:see|as|in|under|refer|section|article|according)\b")
_VALUE = re.compile(r"[^\n;|\0]{6,160}")
_NEXT_LABEL = re.compile(
    r"[,.]? +(?:\w+ )?(?:phone|tel|mobile|cell|e-?mail|cnic|dob|fax|contact|name|date|passport|id)\b ?[:=#]|"
    r"\. +(?=[A-Z][a-z]+ [a-z])"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    at = 0
    while label := _LABEL.search(page.low, at):
        at = label.end()
        if _NOT_STREET.match(label["what"]) or not (value := _VALUE.match(page.text, at)):
            continue
        written = value.group()
        if stop := _NEXT_LABEL.search(written) or _NEXT_LABEL.search(written.lower()):
            written = written[: stop.start()]
        written = written.rstrip(" .,-\t")
        if _PROSE.match(written):
            continue
        if any(char.isdigit() for char in written) and len(written.split()) >= 2 and "@" not in written:
            at += len(written)
            yield RuleMatch(value.start(), value.start() + len(written), 0.65)


RULE = Rule("ADDRESS", _find, digits=1, any_of=("addr", "anschrift", "direccion", "indirizzo", "پتہ", "ایڈریس", "पता"))
