"""Whether a passage that shares a claim's words is for it or against it, looked at exactly: by what both deny, by
bounds, units, quantifiers and exceptions, and by where its words stand."""

import re
from collections.abc import Sequence

from graph.policy.grounding import contrary
from graph.policy.grounding.edits import Edits, edits
from graph.policy.grounding.features import NAMES, compare
from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.words import QUANTIFIERS, begin

_AGAINST = ("opposite", "quantifier", "quantifier_added", "comparison", "unit", "exception", "swapped")
_OPPOSING = ("opposite", "quantifier", "comparison", "unit")
_REPLY = re.compile(r"^\W*(?:yes|no|yeah|nope)\b\W*", re.I)
_DENIES = re.compile(
    r"\b(?:refus|reject|forb[aio]d|prohibit|den(?:y|ie[sd])|exclud|disallow|ban(?:s|ned)?\b|impossible|incompatible|unable)",
    re.I,
)
_MUST = re.compile(r"\b(?:must|shall|(?:is|are|be) required|ha(?:s|ve) to|mandatory|obliged|obligatory)\b", re.I)
_CLAUSE = re.compile(r";|,? (?:but|while|whereas|then)\b|, (?:and|or|nor)\b", re.I)


def agrees(claim: str, passage: str) -> bool:
    """Whether nothing in the passage is against the claim: both deny something or none does, and no contrary, bound,
    unit, quantifier, exception or "only" of the passage is another one. A condition (`conditional`) may be left out."""
    mine, theirs = read(_REPLY.sub("", claim)), read(passage)
    if _denying(mine, claim) != _denying(theirs, passage):
        return False
    return not _against(mine, theirs, edits(mine, theirs)[1]) and not contrary.denied(claim, mine, passage, theirs)


def opposes(claim: str, passage: str, asked: str) -> bool:
    """Whether the passage is against a claim that says yes or no to what was `asked`. What it denies of another thing
    ("free, no ticket is needed") is not, nor an exception."""
    mine, theirs = read(_REPLY.sub("", claim)), read(passage)
    if mine.negated:
        return not _denying(theirs, passage)
    begins = {*map(begin, mine.forms | read(asked).forms)}
    denied = any(begin(form) in begins for form in theirs.negated) or _DENIES.search(passage) is not None
    return (denied and not _DENIES.search(claim)) or _against(mine, theirs, Edits(), _OPPOSING)


def _denying(reading: Reading, text: str) -> bool:
    return bool(reading.negated) or _DENIES.search(text) is not None


def _against(mine: Reading, theirs: Reading, twin: Edits, names: Sequence[str] = _AGAINST) -> bool:
    values = compare(mine, theirs, theirs.forms, dict.fromkeys(mine.forms, 1.0), twin)
    return any(values[NAMES.index(name)] for name in names) or (_only(theirs) and not _only(mine))


def _only(reading: Reading) -> bool:
    return any(QUANTIFIERS.get(token.form) == "only" for token in reading.tokens)


def says_all(claim: str, passage: str) -> bool:
    """Whether every content word of the claim stands in one clause of the passage, which `agrees`; and where the claim
    is nearly a copy, no word of it in the place of another."""
    mine = read(_REPLY.sub("", claim))
    twin = edits(mine, read(passage))[1]
    if twin.replaced or twin.turned or (_MUST.search(claim) and not _MUST.search(passage)):
        return False
    clauses = [read(clause).forms for clause in _CLAUSE.split(passage)]
    within = any(all(form in forms or begin(form) in {*map(begin, forms)} for form in mine.forms) for forms in clauses)
    return within and agrees(claim, passage)


def conditional(text: str) -> bool:
    """Whether the text says what it says under a condition ("if", "unless", "after")."""
    return contrary.CONDITIONAL.search(text) is not None
