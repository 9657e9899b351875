"""Does this evidence say that? A score between 0 and 1, and the place that says it best.

Weighted word overlap with one or two neighbouring sentences, held down where overlap lies: a number the passage does
not have, or a negation that only one side has. No model is asked.
"""

from dataclasses import dataclass

from graph.policy import text as lexical
from graph.policy.sentences import split

SUPPORTED_FROM = 0.6  # below it a sentence is not let out
_MISSING_NUMBER, _NEGATION_DIFFERS = 0.4, 0.5
_FUNCTION_WORDS = frozenset(
    "a an the of to in on at by for from with and or as is are was were be been being it its this that these those "
    "which who whom will would shall should can could may might must do does did has have had there their they he "
    "she his her we our you your i into also such than then so".split()
)


@dataclass(frozen=True)
class Support:
    score: float  # 0-1
    start: int  # of the best span, in the evidence text
    end: int


def support(claim: str, evidence: str) -> Support:
    """How well the best one or two neighbouring sentences of the evidence support the claim."""
    claim = claim.strip()
    if not claim or not evidence:
        return Support(0.0, 0, 0)
    at = evidence.find(claim)
    if at >= 0:
        return Support(1.0, at, at + len(claim))
    spans = split(evidence)
    best = Support(0.0, 0, 0)
    for first, (start, end) in enumerate(spans):
        for last in (first, first + 1):
            if last < len(spans):
                end = spans[last][1]
                score = _overlap(claim, evidence[start:end]) - 0.02 * (last - first)
                if score > best.score:
                    best = Support(round(max(score, 0.0), 4), start, end)
    return best


def _overlap(claim: str, passage: str) -> float:
    wanted = {w for w in lexical.stems(claim) if w not in _FUNCTION_WORDS}
    if not wanted:
        return 0.0
    held = set(lexical.stems(passage))
    weight = {w: 2.0 if w[:1].isdigit() else 1.0 + min(len(w), 10) / 20 for w in wanted}
    score = sum(weight[w] for w in wanted if w in held) / sum(weight.values())
    if lexical.numbers(claim) - lexical.numbers(passage):
        score *= _MISSING_NUMBER
    if lexical.negated(claim) != lexical.negated(passage):
        score *= _NEGATION_DIFFERS
    return score
