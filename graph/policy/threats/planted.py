"""Instructions planted in documents: sentences that turn from the reader to the machine.

An instruction is one only because of where it stands, so a document is judged sentence by sentence: rules for what
addresses or imitates the machine, and a learned model of the change from informing to commanding an assistant. The
model never withholds alone: a sentence that merely tells a reader what to do is prose. It must also speak of the
machine, its answer, its instructions or its user, or order words that have nothing to do with what stands around it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from graph.policy.rubric import Finding
from graph.policy.text.canonical import Canonical, canonicalise
from graph.policy.text.sentences import split
from graph.policy.threats import cues, features, injection, mention, surroundings
from graph.policy.threats.lazy import pattern
from graph.policy.threats.parts import parts
from graph.policy.threats.rule import Table
from graph.policy.threats.rule import find as find_by

FILE = Path(__file__).with_name("weights") / "planted.npz"
_CLAUSE = pattern(r"[;:]\s+|\s+[-–—]+\s+|(?<=[.!?)\]])\s+|\s{2,}")
_LONG, _SHORT, _CLAUSES = 120, 25, 8
_BATCH = 256
_TINY = 5  # characters; a million full stops are a million sentences
WITHHELD_FROM = 0.6  # score of a sentence from which it is withheld
_ALONE = 0.5  # the most that the model says without another sign
# Margins from which a sentence is withheld, in standard deviations over what the model learned from. Set on collections
# and kinds of orders that the fit had not seen (`python -m evals.training.train_planted --left-out`).
SIGNED, ADDRESSED, SHORT, TASK, STRANGE = 1.1, 0.85, 0.3, 0.5, 0.0
# Sentences to each side, how many of them tell the reader what to do with a margin below CALM, and by how much the
# borders are higher among them. Of 66,143 sentences of nine collections 18 were withheld without it and 7 with it, all
# of them honest; of 1,200 planted orders 728 were found and 718.
BESIDE, SEVERAL, CALM, DIRECTED = 4, 2, 0.3, 0.6
SCORES = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm")
_TABLE = Table("planted")
_YOUR_ANSWER = _TABLE.pattern("your_answer")
_SIGN = _TABLE.pattern("sign")
_HINT = _TABLE.pattern("hint")
_DEFINES = _TABLE.pattern("defines")

Margins = dict[str, float]  # by the model, of a sentence


@dataclass(frozen=True)
class Model:
    """A linear model over the columns of `sparse`."""

    words: Any  # (SIZE,) float32
    bias: float


@cache
def model() -> Model:
    """The shipped weights; raises FileNotFoundError without them."""
    import numpy as np

    with np.load(FILE, allow_pickle=False) as stored:
        words = stored["words"].astype(np.float32) * np.float32(stored["scale"])
        return Model(words, float(stored["bias"]))


SIZE = features.SIZE + cues.SIZE
_CUE_VALUE = 0.6  # of each class and pair of classes that occurs, next to n-gram blocks of length 1


def sparse(sentence: str) -> tuple[Any, Any]:
    """Columns below SIZE and their values: the n-grams, then the cues."""
    import numpy as np

    columns, values = features.sparse(sentence)
    classes = np.array(cues.columns(sentence), np.int64)
    return (
        np.concatenate([columns, features.SIZE + classes]),
        np.concatenate([values, np.full(len(classes), _CUE_VALUE, np.float32)]),
    )


def margins(weights: Any, bias: float, sentences: Sequence[str]) -> Any:
    """Of each sentence; the same as weights @ `sparse`, for all of them at once."""
    import numpy as np

    cued = [_CUE_VALUE * float(weights[[features.SIZE + c for c in cues.columns(s)]].sum()) for s in sentences]
    columns, values, starts = features.sparse_many(sentences)
    sums = np.concatenate([[0.0], np.cumsum(values * weights[columns], dtype=np.float64)])
    return (sums[starts[1:]] - sums[starts[:-1]] + bias + np.array(cued)).astype(np.float32)


def learned(sentences: Sequence[str]) -> Any:
    """Margins of sentences, each by itself."""
    weights = model()
    return margins(weights.words, weights.bias, sentences)


def find(text: str, known: Margins | None = None) -> list[Finding]:
    """Findings in a document; offsets in `text`. Each covers a sentence, or what a rule matched. Margins of sentences
    are looked up in `known` and added to it: passages of a document overlap, and the whole is judged as well."""
    return _findings(canonicalise(text), {} if known is None else known)[0]


def assess(canonical: Canonical) -> tuple[list[Finding], dict[str, float]]:
    """Findings, with offsets in the original, and a score for each of the six."""
    findings, highest = _findings(canonical, {})
    return findings, dict.fromkeys(SCORES, 0.0) | {"injection": highest}


def ruled(text: str) -> list[Finding]:
    """Findings of the rules alone; offsets in `text`."""
    return _ruled(canonicalise(text))


def _ruled(canonical: Canonical) -> list[Finding]:
    findings = []
    rules = (*(rule for rule in injection.TABLE.rules if rule.documents), *_TABLE.rules)
    for begin, part in parts(canonical.text):
        matches = find_by(rules, part)
        mentioned = mention.spans_by_sentence(part) if matches else []
        for finding in matches:
            if not mention.inside(mentioned, finding.start, finding.end):
                start, end = canonical.span(begin + finding.start, begin + finding.end)
                findings.append(replace(finding, start=start, end=end))
    return findings


def _findings(canonical: Canonical, known: Margins) -> tuple[list[Finding], float]:
    plain = canonical.text
    findings = _ruled(canonical)
    highest = 0.0
    ranges = [(a, b) for a, b in split(plain) if b - a >= _TINY]
    sentences = [_unmentioned(plain[a:b]) for a, b in ranges]
    strange = surroundings.strange(ranges, sentences)
    for at in range(0, len(ranges), _BATCH):
        _learn(sentences[at : at + _BATCH], known)
    among = among_directions(sentences, [known[one] for one in sentences])
    for n, sentence in enumerate(sentences):
        score = judged(sentence, known[sentence], strange[n], among[n])
        highest = max(highest, score)
        if score >= 0.3:
            start, end = canonical.span(*ranges[n])
            findings.append(Finding("prompt_injection", score, start, end, "reads like an instruction to a machine"))
    return findings, highest


def among_directions(sentences: Sequence[str], margins: Sequence[float]) -> list[bool]:
    """Of each sentence whether several near it tell the reader what to do and are not doubted, as procedures and guides
    go on doing."""
    calm = [margin < CALM and cues.directs(one) for one, margin in zip(sentences, margins, strict=True)]
    sums = [0, *accumulate(calm)]
    near = [sums[min(len(calm), n + BESIDE + 1)] - sums[max(0, n - BESIDE)] for n in range(len(calm))]
    return [count - own >= SEVERAL for count, own in zip(near, calm, strict=True)]


def _learn(sentences: Sequence[str], known: Margins) -> None:
    """Add the margins of sentences that are not known yet: for each that of its worst piece."""
    pieces = [(s, piece) for s in dict.fromkeys(sentences) if s not in known for piece in _pieces(s)]
    for (sentence, _), margin in zip(pieces, learned([piece for _, piece in pieces]).tolist(), strict=True):
        known[sentence] = max(known.get(sentence, margin), margin)


def judged(sentence: str, margin: float, strange: bool | None, among: bool = False) -> float:
    """Score 0-1 of a sentence, by the model's margin and by what else speaks for an order to a machine.

    `strange` as surroundings.strange tells: None where there is too little text to say; `among` as `among_directions`.
    """
    if margin < STRANGE or _DEFINES.match(sentence):
        return 0.0
    directs = cues.directs(sentence)
    if _SIGN.search(sentence):
        if strange:
            border = STRANGE if directs else SHORT
        elif strange is None and directs:
            border = SHORT
        else:
            border = ADDRESSED if _YOUR_ANSWER.search(sentence) else SIGNED
    elif strange and cues.asks_for_words(sentence):
        border = TASK
    elif directs and _HINT.search(sentence):
        border = SIGNED if strange is False else TASK
    else:
        return min(_ALONE, 0.3 * margin)
    border += DIRECTED if among else 0.0
    return min(0.99, WITHHELD_FROM + 0.2 * (margin - border)) if margin >= border else _ALONE


def _pieces(sentence: str) -> list[str]:
    """The sentence, and its clauses if it is long: a command may hang on a statement."""
    if len(sentence) <= _LONG:
        return [sentence]
    return [sentence, *(piece for piece in _CLAUSE.split(sentence)[:_CLAUSES] if len(piece) >= _SHORT)]


def _unmentioned(sentence: str) -> str:
    """A sentence without its quotations; a row of a table that shows a quoted example has little left."""
    return mention.without(sentence[: features.READ], document=True)
