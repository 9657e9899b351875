"""What is weighed when words and the encoder together say whether an evidence supports a claim."""

from typing import Any

import numpy as np

from graph.policy.grounding.added import BORDER
from graph.policy.grounding.prepared import Prepared
from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.words import begin

NAMES = (
    "words", "words_near", "window", "stretch", "contradicted", "number_missing", "number_beside", "name_missing",
    "alone",
)  # fmt: skip
CLEARLY = 0.12  # of the claim: how much more of it a sentence without its number must have than one that has it


def signs(
    sentence: str,
    claim: Reading,
    ready: Prepared,
    ranges: list[tuple[int, int]],
    words: tuple[float, float],
    window: Any,
    stretch: Any,
) -> np.ndarray:
    """Of one claim and one evidence, in the order of NAMES, float64.

    `words` is the margin of the words alone, and how nearly the claim repeats a passage, 0-1, where they know best;
    `window` and `stretch` are the encoder's three margins (supported, contradicted, neutral) over the span that the
    words like best and over the sentences `ranges`, which together have most of the claim.
    """
    chosen = [at for at, where in enumerate(ready.sentences) if where in set(ranges)]
    forms = frozenset().union(*(ready.readings[at].forms for at in chosen))
    begins = frozenset().union(*(ready.begins[at] for at in chosen))
    return np.array([
        words[0],
        words[0] * words[1],
        _over(window, 0),
        _over(stretch, 0),
        _over(stretch, 1),
        _share(claim.numbers - forms, claim.numbers),
        float(number_beside(sentence, ready)),
        _share(frozenset(n for n in claim.names - forms if begin(n) not in begins), claim.names),
        float(not ready.forms & claim.forms),
    ])  # fmt: skip


def number_beside(sentence: str, ready: Prepared) -> bool:
    """Whether a number of a clause stands only in sentences that have clearly less of the rest of the clause than one
    with another number: the value of another row, or of another thing."""
    return any(_beside(read(clause), ready) for clause in BORDER.split(sentence) if any(map(str.isalnum, clause)))


def _beside(clause: Reading, ready: Prepared) -> bool:
    rest = clause.forms - clause.numbers
    if not rest or not clause.numbers:
        return False
    shares = [
        (sum(form in reading.forms or begin(form) in begins for form in rest) / len(rest), reading)
        for reading, begins in zip(ready.readings, ready.begins, strict=True)
    ]
    for number in clause.numbers:
        having = [share for share, reading in shares if number in reading.forms]
        lacking = [share for share, reading in shares if number not in reading.forms and reading.numbers]
        if having and lacking and max(lacking) > max(having) + CLEARLY:
            return True
    return False


def _over(margins: Any, at: int) -> float:
    """Log-odds of one outcome against the others together."""
    others = [margins[n] for n in range(len(margins)) if n != at]
    return float(margins[at] - np.logaddexp(*others))


def _share(part: frozenset[str], whole: frozenset[str]) -> float:
    return len(part) / len(whole) if whole else 0.0
