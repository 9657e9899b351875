"""Passages that say the contrary in the claim's own words, which sharing words would speak for.

Four forms that no weighing of features tells apart: the passage denies it, says it under a condition that the claim
leaves out, has the contrary of each word it lacks, or has who and whom the other way round.
"""

import re

from graph.policy.grounding.tokens import Reading, Token, read
from graph.policy.grounding.words import begin, opposed

MOST = 0.3  # the score of such a passage at most
_DENIED = re.compile(
    r"\b(?:it is|it's|it was|is it) (?:simply |quite )?"
    r"(?:false|untrue|not true|not the case|not so|wrong|a myth|a rumou?r) that\b"
    r"|\b(?:nobody|no one|no-one) (?:\w+ )?(?:said|says|claim(?:s|ed)|believe[sd]|thinks|thought|stated|proved) that\b"
    r"|\b(?:den(?:y|ies|ied)|refute[sd]?|contradict(?:s|ed)) (?:that|the claim)\b",
    re.I,
)
_CONDITION = re.compile(r"^\W*(?:only )?(?:if|unless|in case|provided that|should|had|were)\b[^.;:]*?,", re.I)
CONDITIONAL = re.compile(r"\b(?:if|unless|in case|provided|should|when|where|once|after|until)\b", re.I)
_RANGE = re.compile(r"(?<![\w./,-])(\d{1,3}) ?(?:[-–]|to) ?(\d{1,3})(?![\d/-]|[.,]\d)")  # not of years
_END = re.compile(r"[.!?\n]\s")
# What holds of two things holds of them in either order.
_MUTUAL = frozenset(
    "and or with both between than same as meet met marri equal similar like near differ compar".split()
)


def contrary(sentence: str, claim: Reading, text: str, passage: Reading) -> bool:
    """Whether the passage `text` says the contrary of the claim `sentence`."""
    return denied(sentence, claim, text, passage) or _unconditional(sentence, claim, text)


def denied(sentence: str, claim: Reading, text: str, passage: Reading) -> bool:
    """As `contrary`, a condition that the claim leaves out apart."""
    return (
        (_DENIED.search(text) is not None and _DENIED.search(sentence) is None)
        or _each_opposed(claim, passage)
        or _turned_round(claim, passage)
    )


def another_range(sentence: str, evidence: str) -> bool:
    """Whether the evidence lacks a range of numbers ("5-5 weeks") and has another one with one of its ends ("3-5").
    "9 to 5" may stand there as "9 a.m. to 5 p.m."."""
    theirs = {*_RANGE.findall(evidence)}
    return any(
        any({low, high} & {*other} for other in theirs)
        and not re.search(rf"(?<![\d.,]){low}\D{{1,20}}{high}(?![\d,])", evidence)
        for low, high in _RANGE.findall(sentence)
    )


def undone(before: str) -> bool:
    """Whether what stands before the claim's very words, in their sentence, denies them or makes them conditional."""
    begun = _END.split(before)[-1]
    return _DENIED.search(begun) is not None or _CONDITION.fullmatch(begun.rstrip()) is not None


def _unconditional(sentence: str, claim: Reading, text: str) -> bool:
    """The claim is what follows a condition, without it; not where what follows it is something else."""
    if CONDITIONAL.search(sentence):
        return False
    begins = [begin(form) for form in claim.forms]
    for part in _END.split(text):
        match = _CONDITION.match(part)
        if match is None or any(one in match.group().casefold() for one in begins):
            continue
        follows = frozenset(map(begin, read(part[match.end() :]).forms))
        if 2 * sum(one in follows for one in begins) >= len(begins):
            return True
    return False


def _each_opposed(claim: Reading, passage: Reading) -> bool:
    begins = frozenset(map(begin, passage.forms))
    absent = [form for form in claim.forms if form not in passage.forms and begin(form) not in begins]
    theirs = passage.forms - claim.forms
    return 0 < len(absent) < len(claim.forms) and all(opposed(form, theirs) for form in absent)


def _turned_round(claim: Reading, passage: Reading) -> bool:
    """The first and the last thing changed places around the same words."""
    mine, theirs = _content(claim.tokens), _content(passage.tokens)
    if len(mine) < 3 or sorted(mine) != sorted(theirs) or claim.passive != passage.passive:
        return False
    if _MUTUAL & {t.form for t in (*claim.tokens, *passage.tokens)}:
        return False
    return mine[0] == theirs[-1] and mine[-1] == theirs[0]


def _content(tokens: tuple[Token, ...]) -> list[str]:
    return [token.form for token in tokens if token.content]
