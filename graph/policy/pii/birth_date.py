"""Dates of birth: a date shortly after words that say so. Other dates stay."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Hit, Page, Rule

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)\.?"
)
_DATE = re.compile(
    rf"(?<!\d)(?:\d{{1,2}} ?[./\- ] ?\d{{1,2}} ?[./\- ] ?(?:19|20)?\d\d|(?:19|20)\d\d ?[./\-] ?\d{{1,2}} ?[./\-] ?\d{{1,2}}"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)?[ \-]{_MONTH},?[ \-](?:19|20)\d\d|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? (?:19|20)\d\d"
    rf"|(?:19|20)\d\d[ \-]{_MONTH}[ \-]\d{{1,2}})(?!\d)"
)
_LABEL = re.compile(
    r"\bborn\b|(?:date|day|year) of birth|\bdob\b|\bd\. ?o\. ?b\b\.?|birth ?(?:day|date)|\bgeboren\b|geburtsdatum|date de naissance|"
    r"\bnée? le\b|\bnee? le\b|fecha de nacimiento|nacid[oa]|data di nascita|nat[oa] il|تاریخ پیدائش|जन्म"
)


def _find(page: Page) -> Iterator[Hit]:
    for label in _LABEL.finditer(page.low):
        if match := _DATE.search(page.after(label.end(), 60)):
            between = page.low[label.end() : label.end() + match.start()]
            if "\n\n" not in between and len(between) <= 36:
                yield Hit(label.end() + match.start(), label.end() + match.end(), 0.85)


RULE = Rule(
    "BIRTH_DATE", _find, digits=4,
    any_of=("born", "birth", "dob", "d.o.b", "d. o", "gebor", "gebur", "naissance", "nee le", "née le", "naci", "nasci", "nato il",
            "nata il", "پیدائش", "जन्म"),
)  # fmt: skip
