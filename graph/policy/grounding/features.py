"""What speaks for and against a passage saying what a claim says, as numbers between 0 and about 1."""

import itertools
import math
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import numpy as np

from graph.policy.grounding.edits import Edits
from graph.policy.grounding.tokens import Reading, Token
from graph.policy.grounding.words import EXCEPTIONS, FIRST_PERSON, begin, opposed

NAMES = (
    "covered", "covered_plain", "covered_cubed", "missing", "pairs", "order", "stretch", "elsewhere",
    "number_missing", "number_elsewhere", "name_missing", "name_elsewhere",
    "negation", "opposite", "quantifier", "quantifier_added", "modal", "comparison", "unit", "exception", "swapped",
    "length", "first_person", "whole",
    "near", "near_replaced", "near_sharp", "near_negated", "near_exchanged", "near_modal", "near_number", "near_name",
    "near_turned", "near_swapped",
)  # fmt: skip
SOFT = 0.7  # what a word counts for that shares its first letters with a word of the passage


def coverage(claim: Reading, weights: Mapping[str, float], known: frozenset[str], stems: frozenset[str]) -> float:
    """The share of the claim's content, by weight, that is `known`, whose first letters are `stems`."""
    total = sum(weights[form] for form in claim.forms)
    got = sum(weights[form] * (1.0 if form in known else SOFT if begin(form) in stems else 0.0) for form in claim.forms)
    return got / total if total else 0.0


def weigh(claim: Reading, frequency: Mapping[str, int], sentences: int) -> dict[str, float]:
    """What each form of the claim counts for: more when rare in the evidence, and as a number or name."""
    weights = {}
    for form in claim.forms:
        rarity = math.log(1 + sentences / (1 + frequency.get(form, 0)))
        kind = 1.6 if form in claim.numbers else 1.3 if form in claim.names else 1.0
        weights[form] = kind * (1.0 + 0.25 * min(rarity, 4.0))
    return weights


def compare(
    claim: Reading, passage: Reading, whole: frozenset[str], weights: Mapping[str, float], twin: Edits
) -> np.ndarray:
    """The features of one passage for one claim, in the order of NAMES. `whole` holds the forms of all the
    evidence; `twin` says how the claim differs from the passage most like it.
    """
    stems = frozenset(map(begin, passage.forms))
    covered = coverage(claim, weights, passage.forms, stems)
    everything = coverage(claim, weights, whole, frozenset(map(begin, whole)))
    plain = _share(claim.forms, passage.forms)
    absent = [form for form in claim.forms if form not in passage.forms and begin(form) not in stems]
    order, stretch, swapped = _order(claim, passage)
    lost_numbers = claim.numbers - passage.forms
    lost_names = {n for n in claim.names - passage.forms if begin(n) not in stems}
    shared = claim.forms & passage.forms
    values = {
        "covered": covered,
        "covered_plain": plain,
        "covered_cubed": covered**3,
        "missing": min(len(absent), 8) / 8,
        "pairs": _share(claim.pairs, passage.pairs) if claim.pairs else plain,
        "order": order,
        "stretch": stretch,
        "elsewhere": everything - covered,
        "number_missing": min(len(lost_numbers), 2) / 2,
        "number_elsewhere": min(len(lost_numbers & whole), 2) / 2,
        "name_missing": min(len(lost_names), 3) / 3,
        "name_elsewhere": min(len(lost_names & whole), 3) / 3,
        "negation": float(bool((claim.negated ^ passage.negated) & shared)),
        "opposite": float(_opposite(claim, passage)),
        "quantifier": float(_differs(claim.quantified, passage.quantified, shared)),
        "quantifier_added": float(_added(claim, passage)),
        "modal": float(_differs(claim.modal, passage.modal, shared)),
        "comparison": float(_differs(claim.compared, passage.compared, shared)),
        "unit": float(_differs(claim.units, passage.units, shared)),
        "exception": float(bool(claim.forms & EXCEPTIONS) != bool(passage.forms & EXCEPTIONS)),
        "swapped": swapped,
        "length": min(len(claim.forms), 30) / 30,
        "first_person": float(
            any(t.form in FIRST_PERSON for t in claim.tokens)
            and not any(t.form in FIRST_PERSON for t in passage.tokens)
        ),
        "whole": everything,
        "near": twin.near,
        "near_replaced": twin.near**6 * min(twin.replaced, 2) / 2,
        "near_sharp": twin.near * min(twin.turned, 2) / 2,
        "near_swapped": covered**3 * swapped,
        "near_negated": twin.near * twin.negated,
        "near_exchanged": twin.near * twin.exchanged,
        "near_modal": twin.near * twin.modal,
        "near_number": twin.near * bool(lost_numbers),
        "near_name": twin.near * bool(lost_names),
    }
    turned = ("negation", "opposite", "quantifier", "comparison", "unit", "swapped")
    values["near_turned"] = twin.near * min(sum(values[name] for name in turned), 2) / 2
    return np.array([values[name] for name in NAMES])


def _share(claim: frozenset[Any], passage: frozenset[Any]) -> float:
    return len(claim & passage) / len(claim) if claim else 0.0


def _opposite(claim: Reading, passage: Reading) -> bool:
    """A word of the claim that the passage lacks has its contrary there, and the claim lacks that."""
    mine, theirs = _all(claim) - _all(passage), _all(passage) - _all(claim)
    return any(opposed(form, theirs) for form in mine)


def _all(reading: Reading) -> frozenset[str]:
    return frozenset(t.form for t in reading.tokens)


def _added(claim: Reading, passage: Reading) -> bool:
    """The claim says all, most, none or only of something of which the passage does not."""
    quantified = [form for form, kind in claim.quantified.items() if kind in ("all", "most", "none", "only")]
    return any(form in passage.forms and form not in passage.quantified for form in quantified)


def _differs(mine: Mapping[str, str], theirs: Mapping[str, str], shared: frozenset[str]) -> bool:
    return any(form in theirs and theirs[form] != value for form, value in mine.items() if form in shared)


def _order(claim: Reading, passage: Reading) -> tuple[float, float, float]:
    """The longest run in the passage's order and the longest unbroken one, as shares of the claim's tokens; and
    whether two things changed places around a third."""
    mine, theirs = _once(claim.tokens), _once(passage.tokens)
    places = [theirs[form] for form in mine if form in theirs]
    if not places:
        return 0.0, 0.0, 0.0
    longest = run = 1
    for a, b in itertools.pairwise(places):
        run = run + 1 if 0 < b - a <= 2 else 1
        longest = max(longest, run)
    rising = _rising(places)
    falling = _rising([-p for p in places])
    swapped = falling >= 3 and claim.passive == passage.passive and len(places) >= 0.6 * len(mine)
    return rising / len(mine), longest / len(mine), float(swapped)


def _once(tokens: tuple[Token, ...]) -> dict[str, int]:
    """Positions of the forms that occur once."""
    seen: dict[str, int] = {}
    twice = set()
    for at, token in enumerate(tokens):
        if token.form in seen:
            twice.add(token.form)
        seen[token.form] = at
    return {form: at for form, at in seen.items() if form not in twice}


def _rising(places: list[int]) -> int:
    """The length of the longest rising subsequence."""
    ends: list[int] = []
    for place in places:
        at = bisect_left(ends, place)
        ends[at : at + 1] = [place]
    return len(ends)
