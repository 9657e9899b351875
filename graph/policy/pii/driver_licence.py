"""Driving licence numbers after the words; every state and country has its own form."""

import re
from collections.abc import Iterator

from graph.policy.pii.rule import Page, Rule, RuleMatch

_LABEL = re.compile(
    r"(?:driv(?:er|ing)(?:'?s)?'? (?:licen[cs]e|permit)|\bdl ?(?:no|num|#)|fuhrerschein|permis de conduire)"
    r"(?: (?:no|number|num|nr|is|id))*[ .:#=\-]{0,5}(?:is )?(?P<value>[a-z0-9](?:[ -]?[a-z0-9]){4,19})(?!\w)"
)


def _find(page: Page) -> Iterator[RuleMatch]:
    for match in _LABEL.finditer(page.low):
        value = re.match(r"[a-z]{0,5}[ -]?(?:\d[a-z]{0,3}[ -]?)+(?<![ -])", match["value"])
        if value and sum(char.isdigit() for char in value.group()) >= 4:
            yield RuleMatch(match.start("value"), match.start("value") + value.end(), 0.75)


RULE = Rule("DRIVER_LICENCE", _find, digits=4, any_of=("licen", "permi", "dl ", "dl#", "fuhrersch"))
