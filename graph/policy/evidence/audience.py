"""Whom a passage is meant for: a student who asks how to get round a check is told what students may do, not what
markers do about it."""

import re
from typing import Literal

Asker = Literal["ruled", "judge"]

_JUDGE = (
    r"(?:reviewer|marker|examiner|assessor|grader|invigilator|moderator|teacher|lecturer|instructor|supervisor|manager|"
    r"administrator|auditor|officer|committee|panel|staff|investigator|help ?desk|security team)s?"
)
_RULED = (
    r"(?:you|students?|learners?|candidates?|authors?|applicants?|users?|members?|visitors?|contractors?|employees?)"
)
_MAY = r"(?:may|must|can|cannot|should|shall|need|has|have|is|are|receives?|keeps?|declares?|agrees?)"
_BY_JUDGE = re.compile(
    rf"\b(?:as an?|i am an?|i['’]m an?) (?:\w+ )?{_JUDGE}\b|\bmy (?:\w+ )?(?:students?|staff|team|class|employees)\b|"
    rf"\b(?:can|do|should|may|must) (?:the )?{_JUDGE}\b|\bi (?:mark|grade|teach|supervise|review)\b",
    re.I,
)
_TO_JUDGE = re.compile(
    rf"\b{_JUDGE} (?:\w+ly )?(?:with|may|must|can|cannot|should|shall|needs?|will|do|does|considers?|looks?|checks?|"
    rf"asks?|decides?|refers?|records?|writes?|keeps?)\b|^\W*(?:for|to): .*\b{_JUDGE}\b|"
    rf"^\W*(?:invite|ask|tell|talk(?:ing)? (?:to|with)|show|give|explain to|warn) the {_RULED}\b|"
    rf"\b(?:does|did|can|could|has|have|is|was) the {_RULED} [^.]{{0,60}}\?|\bby the same {_RULED}\b",
    re.I | re.M,
)
_TO_RULED = re.compile(rf"\b{_RULED} (?:\w+ly )?{_MAY}\b|\b(?:your|yourself)\b", re.I)


def asker(question: str) -> Asker:
    """Who asks how a rule may be got round: one of those whom it binds, unless the question says that it is the other
    side."""
    return "judge" if _BY_JUDGE.search(question) else "ruled"


def for_others(passage: str, who: Asker) -> bool:
    """Whether a passage speaks to the other side and not to `who` as well."""
    to_judge, to_ruled = bool(_TO_JUDGE.search(passage)), bool(_TO_RULED.search(passage))
    return (to_judge and not to_ruled) if who == "ruled" else (to_ruled and not to_judge)
