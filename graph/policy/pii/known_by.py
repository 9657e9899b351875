"""Numbers that mean somebody only beside their word: student, employee, patient, case, customer, licence plate."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_WHOSE = (
    r"student|pupil|matriculation|enroll?ment|roll|employee|staff|personnel|payroll|patient|medical record|hospital|"
    r"case|customer|client|member(?:ship)?|account|applicant|application|licen[cs]e holder|insurance|policy holder"
)
_NUMBER = r"(?:no\b\.?|nos\b\.?|number|num\b\.?|nr\b\.?|id\b|identifier|#)"
_LABEL = re.compile(
    rf"(?<![\w-])(?:(?:{_WHOSE})(?:['’]s)? ?{_NUMBER}|matrikelnummer|matrikel-?nr\.?|personalnummer|kundennummer|"
    r"mrn|uhid|numero d['’]etudiant)"
    r"(?: ?[:=#\-]{1,2} ?| (?:is|was|of)(?: \w+)? | )[\"'(]?(?P<value>(?:[a-z]{1,5}[-/]?)?\d[\w/.\-]{2,18})"
)
_PLATE = re.compile(
    r"(?<![\w-])(?i:(?:licen[cs]e|number|registration|vehicle)[- ]plates?(?: (?:no\.?|number))?|"
    r"vehicle registration(?: number)?|(?:car|van|vehicle|lorry|truck|bike) with (?:the )?registration(?: number)?"
    r"|kennzeichen|plaque d['’]immatriculation)(?: ?[:=#] ?| (?:is|was) | )[\"'(]?"
    r"(?P<value>(?=[A-Z0-9 \-]*\d)(?=[A-Z0-9 \-]*[A-Z])[A-Z0-9]{1,4}(?:[ \-]?[A-Z0-9]{1,4}){1,3})(?![\w-])"
)
_DATE_OR_SUM = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}|\d{1,3}(?:,\d{3})+|\d+\.\d{1,2}|\d{1,3}")


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _LABEL.finditer(page.low):
        value = match["value"].rstrip(".-/")
        digits = sum(char.isdigit() for char in value)
        if digits >= 4 and not _DATE_OR_SUM.fullmatch(value):
            yield RuleMatch(match.start("value"), match.start("value") + len(value), 0.7)
    for match in _PLATE.finditer(page.text):
        yield RuleMatch(match.start("value"), match.end("value"), 0.7)


RULE = Rule("ID_NUMBER", _find, digits=2)
