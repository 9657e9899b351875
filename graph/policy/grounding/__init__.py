"""Does this evidence say that? Scores between 0 and 1, and the places that say it.

Two readings are weighed together. By words: every sentence of the evidence, with up to two that follow it, is compared
with the claim by shared words weighted by rarity, numbers, dates, units, names, negation and contraries, quantifiers,
bounds and order. By an encoder (entailment.py): the claim beside the span that the words like best, and beside the
sentences that together have most of it. What both are weak at is looked at exactly: a number from another row, a denial
before the claim's own words, a condition left out. `python -m evals.suites.support --train` learns the weights.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph.policy.grounding import added, contrary, entailment, hours
from graph.policy.grounding.agreement import agrees, conditional, opposes, says_all
from graph.policy.grounding.edits import edits
from graph.policy.grounding.features import NAMES, compare, coverage, weigh
from graph.policy.grounding.learned import INTERCEPT, SIGN_INTERCEPT, SIGN_WEIGHTS, SUPPORTED_FROM, WEIGHTS
from graph.policy.grounding.prepared import NEIGHBOURS, Prepared, Window, prepare
from graph.policy.grounding.signs import NAMES as SIGNS
from graph.policy.grounding.signs import number_beside, signs
from graph.policy.grounding.stretch import stretch
from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.words import begin
from graph.policy.text.sentences import split

# What a model's opinion weighs beside the embedded score; set on claims that neither learned from, with the smallest
# model that people run (docs/models.md).
OPINION, OPINION_INTERCEPT, MOST_ODDS = 1.0, 0.1, 6.0
LOOKED_AT = 3  # spans that are compared in full, the best by shared words
LONGER = 0.04  # what each further sentence of a span must bring
MORE = 0.15  # of the claim that further sentences must bring, to be cited beside the best span
READ = 2  # evidences of a claim that the encoder reads, those that have most of it
LEAST = 0.4  # of what the first of them has of the claim: others that have less are not read
LONGEST, TOO_LONG = 600, 0.3  # characters of a claim that is judged in one, and the score at most of a longer one
# From here a sentence may leave with MARK behind it, where an operator asks for that and nothing in the evidence is
# against it (`evals.suites.support`: docs/answers.md has what stands in this band).
DOUBTED_FROM, MOST_AGAINST = 0.25, 0.35
MARK = " (not fully confirmed by the source)"
# From here a sentence may make an answer one of high confidence; `evals.suites.support` tells how much of it is true.
SURE_FROM = 0.85
MOST_BESIDE = 0.3  # the score at most where a number is that of another row or thing

_WEIGHTS = np.array([WEIGHTS[name] for name in NAMES])
BESIDE = SIGNS.index("number_beside")
_SIGN_WEIGHTS = np.array([SIGN_WEIGHTS[name] for name in SIGNS])

Span = tuple[int, int]


@dataclass(frozen=True)
class Support:
    """Scores from 0 to 1; they sum to 1 where an evidence was read. `spans` are the places that say the claim."""

    score: float = 0.0
    contradicted: float = 0.0
    spans: tuple[Span, ...] = ()
    in_opinion: bool = False  # a chat model let it pass, which the embedded check doubts

    @property
    def start(self) -> int:
        """Of the first span, 0 without one."""
        return self.spans[0][0] if self.spans else 0

    @property
    def end(self) -> int:
        """Of the first span, 0 without one."""
        return self.spans[0][1] if self.spans else 0


@dataclass(frozen=True)
class Compared:
    """A claim and an evidence by their words; `ranges` are the sentences that together have most of the claim."""

    claim: str
    wanted: Reading
    ready: Prepared
    best: Window
    words: float  # margin of the words alone
    near: float  # 0-1: how nearly the claim repeats a passage
    ranges: list[Span]
    share: float  # of the claim that they have


def support(claim: str, evidence: str, encoder: entailment.Encoder = entailment.margins) -> Support:
    """How well the evidence supports the claim; 1.0, with its range, where it stands there word for word."""
    return supports(claim, [evidence], encoder)[0]


def supports(claim: str, evidences: Sequence[str], encoder: entailment.Encoder = entailment.margins) -> list[Support]:
    """`support` by each evidence; beyond READ of them the encoder reads only those that have most of the claim. Of
    several sentences the weakest counts: one that is supported carries no other."""
    claim = claim.strip()
    parts = [claim[start:end] for start, end in split(claim[: 2 * LONGEST])]
    parts = [part for part in parts if read(part).forms]
    if len(parts) < 2 or any(claim in evidence for evidence in evidences):
        return _single(claim, evidences, encoder)
    by_part = [_single(part, evidences, encoder) for part in parts]
    results = []
    for each in zip(*by_part, strict=True):
        weakest = min(each, key=lambda part: part.score)
        results.append(replace(weakest, spans=tuple(sorted({span for part in each for span in part.spans}))))
    return results


def _single(claim: str, evidences: Sequence[str], encoder: entailment.Encoder) -> list[Support]:
    results: dict[int, Support] = {}
    likely: list[tuple[float, int, Compared]] = []
    for at, evidence in enumerate(evidences):
        if (whole := _verbatim(claim, evidence)) is not None:
            results[at] = whole
        elif (comparison := compared(claim, evidence)) is not None:
            likely.append((-comparison.share, at, comparison))
    likely.sort(key=lambda item: item[:2])
    likely = [item for item in likely[:READ] if item[0] <= LEAST * likely[0][0]]
    pairs = {at: read_by_encoder(comparison) for _, at, comparison in likely}
    each = list(dict.fromkeys(pair for both in pairs.values() for pair in both))  # a short evidence is both at once
    margins = dict(zip(each, encoder(each), strict=True)) if each else {}
    for _, at, comparison in likely:
        results[at] = _weighed(comparison, *(margins[pair] for pair in pairs[at]))
    return [results.get(at, Support()) for at in range(len(evidences))]


def _verbatim(claim: str, evidence: str) -> Support | None:
    """None where the claim does not stand in the evidence word for word, and has to be compared."""
    if not claim or not evidence:
        return Support()
    at = evidence.find(claim)
    if at >= 0 and not contrary.undone(evidence[max(0, at - 300) : at]):
        return Support(1.0, 0.0, ((at, at + len(claim)),))
    return None


def compared(
    claim: str, evidence: str, coefficients: np.ndarray = _WEIGHTS, intercept: float = INTERCEPT
) -> Compared | None:
    """None where one of them has no words."""
    ready = prepare(evidence)
    wanted = read(hours.spelled(claim, ready.forms))
    if not wanted.forms or not ready.sentences:
        return None
    scored = [
        (float(features @ coefficients + intercept), n, span, features)
        for n, (span, features) in enumerate(candidates(wanted, ready))
    ]
    words, _, best, features = max(scored, key=lambda item: (item[0], -item[1]))
    ranges = stretch(wanted, ready)
    near = float(features[NAMES.index("near")])
    return Compared(claim, wanted, ready, best, words, near, ranges, _share(wanted, ready, ranges))


def read_by_encoder(comparison: Compared) -> list[entailment.Pair]:
    """The claim with the best span, and with the sentences that have most of it."""
    text = comparison.ready.text
    return [
        entailment.shown(comparison.claim, text[comparison.best.start : comparison.best.end]),
        entailment.shown(comparison.claim, " ".join(text[start:end] for start, end in comparison.ranges)),
    ]


def signs_of(comparison: Compared, window: np.ndarray, together: np.ndarray) -> np.ndarray:
    """`signs` of a comparison; `window` and `together` are the margins of the pairs of `read_by_encoder`."""
    wanted, ready, ranges = comparison.wanted, comparison.ready, comparison.ranges
    return signs(comparison.claim, wanted, ready, ranges, (comparison.words, comparison.near), window, together)


def _weighed(comparison: Compared, window: np.ndarray, together: np.ndarray) -> Support:
    values = signs_of(comparison, window, together)
    score = 1 / (1 + math.exp(-float(values @ _SIGN_WEIGHTS + SIGN_INTERCEPT)))
    passage = comparison.ready.text[comparison.best.start : comparison.best.end]
    if score > contrary.MOST and contrary.contrary(comparison.claim, comparison.wanted, passage, read(passage)):
        score = contrary.MOST
    if score > MOST_BESIDE and (values[BESIDE] or contrary.another_range(comparison.claim, comparison.ready.text)):
        score = MOST_BESIDE
    if score > added.MOST and added.added(comparison.claim, comparison.ready):
        score = added.MOST
    against = 1 / (1 + math.exp(float(together[2] - together[1])))
    if score > TOO_LONG and len(comparison.claim) > LONGEST:  # what was not read is not believed
        score = TOO_LONG
    score = round(score, 4)
    return Support(score, round((1 - score) * against, 4), _places(comparison))


def joined(score: float, odds: float) -> float:
    """The embedded score with a chat model's opinion, log-odds: 0-1, and the same border."""
    score = min(max(score, 0.001), 0.999)
    odds = min(max(odds, -MOST_ODDS), MOST_ODDS)
    both = math.log(score / (1 - score)) + OPINION * odds + OPINION_INTERCEPT
    return round(1 / (1 + math.exp(-both)), 4)


def exact(claim: str, evidence: str) -> bool:
    """Whether every number, date, unit and name of the claim stands in the evidence, none of them beside another
    thing, and nothing there says the contrary."""
    comparison = compared(claim, evidence)
    if comparison is None:
        return False
    ready, wanted = comparison.ready, comparison.wanted
    begins = frozenset().union(*ready.begins)
    names = [name for name in wanted.names if name not in ready.forms and begin(name) not in begins]
    units = {unit for reading in ready.readings for unit in reading.units.values()}
    passage = ready.text[comparison.best.start : comparison.best.end]
    return (
        wanted.numbers <= ready.forms
        and not names
        and {*wanted.units.values()} <= units
        and not number_beside(claim, ready)
        and not contrary.contrary(claim, wanted, passage, read(passage))
    )


def doubted(result: Support, claim: str, evidence: str) -> bool:
    """Whether the evidence supports the claim weakly, does not contradict it, and the claim is `exact`."""
    weak = DOUBTED_FROM <= result.score < SUPPORTED_FROM
    return weak and result.contradicted <= MOST_AGAINST and exact(claim, evidence)


def unmarked(text: str) -> str:
    """A sentence without the mark of weak support."""
    return text.removesuffix(MARK)


def _places(comparison: Compared) -> tuple[Span, ...]:
    """The best span; and sentences elsewhere where only together they have the claim."""
    best = (comparison.best.start, comparison.best.end)
    outside = [(start, end) for start, end in comparison.ranges if end <= best[0] or start >= best[1]]
    alone = _share(comparison.wanted, comparison.ready, [best])
    brought = [span for span in outside if _share(comparison.wanted, comparison.ready, [best, span]) > alone + MORE]
    return tuple(sorted([best, *brought[:1]]))


def _share(claim: Reading, ready: Prepared, spans: Sequence[Span]) -> float:
    """Of the claim's words, by weight, that the sentences in these spans have."""
    inside = [n for n, (a, b) in enumerate(ready.sentences) if any(start <= a and b <= end for start, end in spans)]
    forms: frozenset[str] = frozenset().union(*(ready.readings[n].forms for n in inside))
    begins: frozenset[str] = frozenset().union(*(ready.begins[n] for n in inside))
    return coverage(claim, weigh(claim, ready.frequency, len(ready.sentences)), forms, begins)


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


__all__ = [
    "DOUBTED_FROM", "MARK", "SUPPORTED_FROM", "SURE_FROM", "Support", "agrees", "candidates", "compared", "conditional",
    "doubted", "exact", "joined", "opposes", "read_by_encoder", "says_all", "signs_of", "support", "supports",
    "unmarked",
]  # fmt: skip
