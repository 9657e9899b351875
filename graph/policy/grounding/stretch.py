"""The sentences of an evidence that a claim is read beside: those that together have most of it, in their order."""

from collections.abc import Mapping

from graph.policy.grounding.features import SOFT, weigh
from graph.policy.grounding.prepared import Prepared
from graph.policy.grounding.tokens import Reading
from graph.policy.grounding.words import begin

CHARS = 460  # of the evidence are read with a claim
ALSO = 0.3  # what a sentence counts for by words that others hold already
BESIDE = 0.08  # of all words of the claim: what the sentence before or after counts for


def stretch(claim: Reading, ready: Prepared, chars: int = CHARS) -> list[tuple[int, int]]:
    """Ranges of sentences, in their order, at most `chars` characters together; the first chosen may be longer."""
    weights = weigh(claim, ready.frequency, len(ready.sentences))
    stems = {form: begin(form) for form in claim.forms}
    parts = [
        _parts(weights, stems, reading.forms, begins)
        for reading, begins in zip(ready.readings, ready.begins, strict=True)
    ]
    total = sum(weights.values()) or 1.0
    missing = dict(weights)
    left, chosen = chars, set[int]()
    while True:
        best, value = -1, 0.0
        for at, part in enumerate(parts):
            start, end = ready.sentences[at]
            if at in chosen or (chosen and end - start > left):
                continue
            new = sum(min(share, missing[form]) for form, share in part.items())
            gain = new + ALSO * sum(part.values()) + BESIDE * total * (at - 1 in chosen or at + 1 in chosen)
            if gain > value:
                best, value = at, gain
        if best < 0:
            return [ready.sentences[at] for at in sorted(chosen)]
        chosen.add(best)
        left -= ready.sentences[best][1] - ready.sentences[best][0]
        for form, share in parts[best].items():
            missing[form] = max(0.0, missing[form] - share)


def _parts(
    weights: Mapping[str, float], stems: Mapping[str, str], forms: frozenset[str], begins: frozenset[str]
) -> dict[str, float]:
    """What a sentence has of the claim: its forms, by weight."""
    return {
        form: weight * (1.0 if form in forms else SOFT)
        for form, weight in weights.items()
        if form in forms or stems[form] in begins
    }
