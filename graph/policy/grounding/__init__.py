"""Does this evidence say that? A score between 0 and 1, and the place that says it best.

Every sentence of the evidence, with up to two that follow it, is compared with the claim by what is at hand: the words
they share, weighted by rarity, numbers, dates, units, names, negation and contraries, quantifiers, bounds, and the
order of who does what to whom. The weights are learned (`python -m evals.suites.support --train`). No model is asked.
"""

import math
from dataclasses import dataclass

import numpy as np

from graph.policy.grounding import added, contrary, hours
from graph.policy.grounding.edits import edits
from graph.policy.grounding.features import NAMES, compare, coverage, weigh
from graph.policy.grounding.prepared import NEIGHBOURS, Prepared, Window, prepare
from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.weights import INTERCEPT, SUPPORTED_FROM, WEIGHTS

LOOKED_AT = 3  # spans that are compared in full, the best by shared words
LONGER = 0.04  # what each further sentence of a span must bring

_WEIGHTS = np.array([WEIGHTS[name] for name in NAMES])


@dataclass(frozen=True)
class Support:
    score: float  # 0-1
    start: int  # of the best span, in the evidence text
    end: int


def support(claim: str, evidence: str) -> Support:
    """How well the best one to three neighbouring sentences of the evidence support the claim.

    A claim that stands in the evidence as it is scores 1.0, and its range is given.
    """
    claim = claim.strip()
    if not claim or not evidence:
        return Support(0.0, 0, 0)
    at = evidence.find(claim)
    if at >= 0 and not contrary.undone(evidence[max(0, at - 300) : at]):
        return Support(1.0, at, at + len(claim))
    ready = prepare(evidence)
    wanted = read(hours.spelled(claim, ready.forms))
    if not wanted.forms or not ready.sentences:
        return Support(0.0, 0, 0)
    best = Support(0.0, 0, 0)
    for span, features in candidates(wanted, ready):
        score = round(1 / (1 + math.exp(-float(features @ _WEIGHTS + INTERCEPT))), 4)
        passage = evidence[span.start : span.end]
        if score > contrary.MOST and contrary.contrary(claim, wanted, passage, read(passage)):
            score = contrary.MOST
        if score > added.MOST and added.added(claim, ready):
            score = added.MOST
        if score > best.score:
            best = Support(score, span.start, span.end)
    return best


def candidates(claim: Reading, ready: Prepared) -> list[tuple[Window, np.ndarray]]:
    """The spans that hold most of the claim, best first, each with its features."""
    weights, spans = _ranked(claim, ready)
    chosen = spans[:LOOKED_AT]
    single = [span for span in spans if span.first == span.last][:LOOKED_AT]
    passages = {span: read(ready.text[span.start : span.end]) for span in [*chosen, *single]}
    _, twin = max((edits(claim, passage) for passage in passages.values()), key=lambda pair: pair[0])
    return [(span, compare(claim, passages[span], ready.forms, weights, twin)) for span in chosen]


def _ranked(claim: Reading, ready: Prepared) -> tuple[dict[str, float], list[Window]]:
    """What each word of the claim counts for, and the spans of up to NEIGHBOURS sentences, the fullest first."""
    weights = weigh(claim, ready.frequency, len(ready.sentences))
    ranked = []
    for first, (start, _) in enumerate(ready.sentences):
        forms: frozenset[str] = frozenset()
        begins: frozenset[str] = frozenset()
        for last in range(first, min(first + NEIGHBOURS, len(ready.sentences))):
            forms |= ready.readings[last].forms
            begins |= ready.begins[last]
            share = coverage(claim, weights, forms, begins) - LONGER * (last - first)
            ranked.append((-share, last - first, first, Window(start, ready.sentences[last][1], first, last)))
    ranked.sort(key=lambda item: item[:3])
    return weights, [span for *_, span in ranked]


__all__ = ["SUPPORTED_FROM", "Support", "candidates", "support"]
