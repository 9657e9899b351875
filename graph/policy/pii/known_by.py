"""Numbers that mean somebody only beside their word: national, student, employee, case, customer, licence plate."""

import re
from collections.abc import Iterator
from functools import partial

from graph.policy.pii.rule import Page, Rule, RuleMatch

# Words for a person's number alone: always masked. Some of the others belong to a firm or a form: masked at `more`.
_PERSONS = (
    r"student|pupil|matriculation|enroll?ment|roll|employee|emp\.?|staff|personnel|payroll|worker|"
    r"case(?: file)?|national(?: id(?:entity|entification)?)?|identity(?: card)?|id card|citizen(?:ship)?|citizen id"
)
_OTHERS = (
    r"patient|medical record|hospital|customer|client|member(?:ship)?|account|applicant|application|"
    r"licen[cs]e holder|insurance|policy holder"
)
_NUMBER = r"(?:no\b\.?|nos\b\.?|number|num\b\.?|nr\b\.?|id\b|identifier|ref(?:erence)?\b\.?|code|#)"
_PERSONS_ABROAD = (
    r"matrikelnummer|matr(?:ikel)?\.?-?nr\.?|personalnummer|ausweisnummer|aktenzeichen|numero d['’]etudiant|"
    r"numero de (?:estudiante|empleado|cedula|expediente)|matricola|matricula"
)
_OTHERS_ABROAD = r"kundennummer|mrn|uhid"
_PLATE = re.compile(
    r"(?<![\w-])(?i:(?:licen[cs]e|number|registration|vehicle)[- ]plates?(?: (?:no\.?|number))?|"
    r"vehicle registration(?: number)?|(?:car|van|vehicle|lorry|truck|bike) with (?:the )?registration(?: number)?"
    r"|kennzeichen|plaque d['’]immatriculation)(?: ?[:=#] ?| (?:is|was) | )[\"'(]?"
    r"(?P<value>(?=[A-Z0-9 \-]*\d)(?=[A-Z0-9 \-]*[A-Z])[A-Z0-9]{1,4}(?:[ \-]?[A-Z0-9]{1,4}){1,3})(?![\w-])"
)
_DATE_OR_SUM = re.compile(r"\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{4}|\d{1,3}(?:,\d{3})+|\d+\.\d{1,2}|\d{1,3}")


def _labelled(whose: str, abroad: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?:(?:{whose})(?:['’]s)? ?{_NUMBER}(?: ?{_NUMBER})?|{abroad})"
        r"(?: ?[:=#\-]{1,2} ?|,? (?:is|was|of)(?: \w+)? |, | )[\"'(#]?"
        r"(?P<value>(?:[a-z]{1,5}[-/]?){0,2}\d[\w/.\-]{2,18}(?: \d{2,6}\b){0,3})"
    )


_OF_PERSONS, _OF_OTHERS = _labelled(_PERSONS, _PERSONS_ABROAD), _labelled(_OTHERS, _OTHERS_ABROAD)


def _numbers(labelled: re.Pattern[str], page: Page) -> Iterator[RuleMatch]:
    for match in labelled.finditer(page.low):
        value = match["value"].rstrip(".-/")
        digits = sum(char.isdigit() for char in value)
        if digits >= 4 and not _DATE_OR_SUM.fullmatch(value):
            yield RuleMatch(match.start("value"), match.start("value") + len(value), 0.7)


def _of_others(page: Page) -> Iterator[RuleMatch]:
    yield from _numbers(_OF_OTHERS, page)
    for match in _PLATE.finditer(page.text):
        yield RuleMatch(match.start("value"), match.end("value"), 0.7)


PERSONS = Rule("ID_NUMBER", partial(_numbers, _OF_PERSONS), digits=4)
OTHERS = Rule("ID_NUMBER", _of_others, digits=2)
