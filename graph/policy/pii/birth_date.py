"""Dates of birth: a date shortly after words that say so. Other dates stay."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = (
    rf"(?:\d{{1,2}} ?[./\- ] ?\d{{1,2}} ?[./\- ] ?(?:19|20)?\d\d|(?:19|20)\d\d ?[./\-] ?\d{{1,2}} ?[./\-] ?\d{{1,2}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)?[ \-]{_MONTH},?[ \-](?:19|20)\d\d|{_MONTH} \d{{1,2}}(?:st|nd|rd|"
    rf"th)?,? (?:19|20)\d\d"
    rf"|(?:19|20)\d\d[ \-]{_MONTH}[ \-]\d{{1,2}})"
)
_LABEL = (
    r"\bborn\b|(?:date|day|year) of birth|\bdob\b|\bd\. ?o\. ?b\b\.?|birth ?(?:day|date)|\bgeboren\b|"
    r"geburtsdatum|date de naissance|\bnée? le\b|\bnee? le\b|fecha de nacimiento|nacid[oa]|data di nascita|nat[oa] il|"
    r"تاریخ پیدائش|जन्म"
)
_LABELLED = re.compile(rf"(?:{_LABEL})(?P<gap>[^\d\0]{{0,36}}?)(?P<date>{_DATE})(?!\d)")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _LABELLED.finditer(page.low):
        if "\n\n" not in match["gap"]:
            yield RuleMatch(match.start("date"), match.end("date"), 0.85)


RULE = Rule(
    "BIRTH_DATE", _find, digits=4,
    any_of=("born", "birth", "dob", "d.o.b", "d. o", "gebor", "gebur", "naissance", "nee le", "née le", "naci", "nasci",
            "nato il", "nata il", "پیدائش", "जन्म"),
)  # fmt: skip
