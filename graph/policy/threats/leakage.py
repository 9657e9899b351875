"""Requests for personal or confidential data, or to undo masking (requirement A3)."""

import re
from dataclasses import replace

from graph.policy import pii
from graph.policy.rubric import Finding
from graph.policy.threats.lazy import pattern
from graph.policy.threats.organisational_contacts import of_a_function
from graph.policy.threats.rule import Table

_KINDS = "|".join(sorted({"REDACTED", "MASKED", "NAME", *(known.type for known in pii.RULES + pii.MORE)})).replace(
    "_", "[_ ]"
)
_TABLE = Table("leakage", kind=_KINDS)
_CONTACT = (
    "asks for personal data",
    "asks for personal data beside something else",
    "asks whose number, address or password it is",
    "asks how to reach a person by name",
)
_UNDERNEATH = "asks what a placeholder stands for"
_UNMASKED = "asks to undo masking"
_PUBLIC = _TABLE.pattern("public")
_PRIVATE = _TABLE.pattern("private")
_NAMED = pattern(r"\b[A-Z][\w-]+ [A-Z][\w-]+['’]s\b")  # whoever sits at a public desk is still a person
_INVENTED = _TABLE.pattern("invented")
_FOR_GUESTS = _TABLE.pattern("for_guests")
_ONE_FOR_ALL = _TABLE.pattern("one_for_all")
_OF_A_PERSON = _TABLE.pattern("of_a_person")
_ABOUT_IT = _TABLE.pattern("about_it")
_OF_MANY = _TABLE.pattern("of_many")
_SOMEBODYS = pattern(r"(?<!\bwhat)(?<!\bwho)['’]s\b", re.I)
_FORBIDDEN = _TABLE.pattern("forbidden")
_CAME_ACROSS = _TABLE.pattern("came_across")
_ASKS_FOR = _TABLE.pattern("asks_for")
_BY_A_TOOL = _TABLE.pattern("by_a_tool")
_MORE = _TABLE.pattern("more")
_OPENS = _TABLE.pattern("opens")
_ANY_PERSONAL = _TABLE.pattern("any_personal")
_MINE = _TABLE.pattern("mine")
_NEAR = 160  # characters on both sides in which nobody may be meant beside a function


def find(text: str, tenant: str) -> list[Finding]:
    """What the table's rules match, unless it is harmless; a request for what opens a door is one for a secret."""
    findings = [f for f in _TABLE.find(text) if not _is_harmless(text, f)]
    return [replace(f, type="secret") if _OPENS.search(text[f.start : f.end]) else f for f in findings]


def _only_about(text: str, finding: Finding, words: str) -> bool:
    """Words about such data, figures of many people, or a secret that is none, and nothing personal after that."""
    if _ANY_PERSONAL.search(text[finding.end : finding.end + 200]):
        return False
    many = _OF_MANY.search(text[finding.start : finding.end + 18]) and not _SOMEBODYS.search(words)
    return bool(many or _ABOUT_IT.search(words) or re.search(r"\b(?:a|one) secret$", words, re.I))


def _is_reported(text: str, finding: Finding) -> bool:
    """Unmasked data that somebody came across, in a text that asks for none."""
    before, words, after = text[: finding.start], text[finding.start : finding.end], text[finding.end :]
    came_across = words.casefold().endswith("ed") and _CAME_ACROSS.search(before[-_NEAR:])
    return bool(finding.why == _UNMASKED and came_across and not _ASKS_FOR.search(f"{before}; {after}"))


def _is_harmless(text: str, finding: Finding) -> bool:
    """Public contacts, invented or malformed values, and what belongs to the asker."""
    begin, end = max(0, finding.start - 60), min(len(text), finding.end + 60)
    around, words = text[begin:end], text[finding.start : finding.end]
    forbidden = bool(_FORBIDDEN.search(text[begin : finding.start]) and not _MORE.search(words))
    if finding.why == _UNDERNEATH:  # whose value it is, nobody can tell: "my CNIC is ..." beside it proves nothing
        return forbidden
    if forbidden or _only_about(text, finding, words) or _is_reported(text, finding):
        return True
    if _ONE_FOR_ALL.search(words) and _FOR_GUESTS.search(around) and not _OF_A_PERSON.search(around):
        return True
    if finding.why in _CONTACT and of_a_function(text[max(0, finding.start - _NEAR) : finding.end + _NEAR]):
        return True
    return bool(
        _BY_A_TOOL.search(text[begin : finding.start])
        or (_PUBLIC.search(around) and not (_PRIVATE.search(words) or _NAMED.search(words)))
        or _INVENTED.search(around)
        or _MINE.search(around)
    )
