"""Instructions planted in documents: sentences that turn from the reader to the machine.

An instruction is one only because of where it stands, so a document is judged sentence by sentence: rules for what
addresses or imitates the machine, and a learned model of the change from informing to commanding an assistant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from graph.policy.canonical import Canonical, canonicalise
from graph.policy.rubric import Finding
from graph.policy.sentences import split
from graph.policy.threats import cues, features, injection, mention
from graph.policy.threats.lazy import pattern
from graph.policy.threats.parts import parts
from graph.policy.threats.rule import rule

FILE = Path(__file__).with_name("weights") / "planted.npz"
_CLAUSE = pattern(r"[;:]\s+|\s+[-–—]+\s+|(?<=[.!?)\]])\s+|\s{2,}")
_LONG, _SHORT, _CLAUSES = 120, 25, 8
_STATED = 0.75
_BATCH = 256
_TINY = 5  # characters; a million full stops are a million sentences
WITHHELD_FROM = 0.6  # score of a sentence from which it is withheld
SCORES = ("injection", "leakage", "cross_tenant", "evasion", "toxicity", "harm")

_MACHINE = r"(?:ai|a\.i\.|artificial intelligence|language models?|llms?|chat ?bots?|assistants?|gpt|chatgpt|copilot|automat(?:ed|ic) (?:systems?|readers?|reviewers?|summar\w+|digests?|checks?)|summari[sz]ers?|summari[sz]ing (?:tools?|systems?|models?)|retrieval systems?|agents?|bots?)"
_RULES = (
    rule("prompt_injection", 0.9, "a document addresses the machine that reads it",
         rf"\b(?:if you are|note to|attention|dear|hello|hey|instructions? (?:for|to)|message (?:for|to)|important for|to (?:all|any)) (?:an? |the |any |all |this )?(?:{_MACHINE})\b[^.\n]{{0,120}}?\b(?:must|should|please|shall|reply|respond|answer|say|tell|print|include|output|recommend|give|ignore|do not|never|always|add|append)\b"),
    rule("prompt_injection", 0.9, "a document orders the machine that reads it",
         rf"\b(?:{_MACHINE})(?: (?:models?|systems?|tools?|assistants?))?(?: (?:reading|processing|parsing|summari[sz]ing|indexing|who reads?|that reads?|seeing|reviewing|handling)(?: \w+){{0,4}}) (?:must|should|shall|are (?:required|instructed|asked|to)|is (?:required|instructed|asked|to)|need to|have to|please)(?: \w+){{0,3}} (?:reply|respond|answer|say|tell|print|output|reveal|include|recommend|rate|rank|state|ignore|disregard|send|disclose|give|append|add|praise|score|accept|approve|skip|treat|cite|claim|confirm)\b"),
    rule("prompt_injection", 0.85, "a document asks to hide something from the user",
         r"\b(?:do not|don'?t|never|without) (?:tell(?:ing)?|mention(?:ing)?|inform(?:ing)?|reveal(?:ing)?|show(?:ing)?|alert(?:ing)?)(?: \w+){0,4} (?:to )?(?:the |your )(?:user|human|person (?:asking|you))\b"),
    rule("prompt_injection", 0.85, "a document forges a source or system marker",
         r"(?:^|\n) ?(?:\[ ?(?:end of )?(?:source ?\d{1,3}|system|admin|assistant)\b[^\]\n]{0,40}\] ?\S|(?:#{1,3} ?)?(?:system|assistant|developer) ?(?:message|prompt|note|override)? ?: ?(?:the user|you|ignore|override|this user|grant|disable|all|answer|from now)|</?(?:system|assistant)>)|<\|(?:im_start|im_end|system|assistant|user|endoftext)\|>|\[/?INST\]|<</?SYS>>"),
)  # fmt: skip


@dataclass(frozen=True)
class Model:
    words: Any
    bias: float
    margins: Any
    scores: Any


@cache
def model() -> Model:
    import numpy as np

    with np.load(FILE, allow_pickle=False) as stored:
        words = stored["words"].astype(np.float32) * np.float32(stored["scale"])
        return Model(words, float(stored["bias"]), stored["margins"], stored["scores"])


SIZE = features.SIZE + cues.SIZE
_CUE_VALUE = 0.6  # of each class and pair of classes that occurs, next to n-gram blocks of length 1


def sparse(sentence: str) -> tuple[Any, Any]:
    """Columns below SIZE and their values: the n-grams, then the cues."""
    import numpy as np

    columns, values = features.sparse(sentence)
    found = np.array(cues.columns(sentence), np.int64)
    return (
        np.concatenate([columns, features.SIZE + found]),
        np.concatenate([values, np.full(len(found), _CUE_VALUE, np.float32)]),
    )


def margins(weights: Any, bias: float, sentences: Sequence[str]) -> Any:
    """Of each sentence; the same as weights @ `sparse`, for all of them at once."""
    import numpy as np

    spoken = [_CUE_VALUE * float(weights[[features.SIZE + c for c in cues.columns(s)]].sum()) for s in sentences]
    columns, values, starts = features.sparse_many(sentences)
    sums = np.concatenate([[0.0], np.cumsum(values * weights[columns], dtype=np.float64)])
    return (sums[starts[1:]] - sums[starts[:-1]] + bias + np.array(spoken)).astype(np.float32)


def learned(sentences: Sequence[str]) -> Any:
    """Scores 0-1 of sentences, each by itself."""
    import numpy as np

    weights = model()
    return np.interp(margins(weights.words, weights.bias, sentences), weights.margins, weights.scores)


def find(text: str) -> list[Finding]:
    """Findings in a document; offsets in `text`. Each covers a sentence, or what a rule matched."""
    return _found(canonicalise(text))[0]


def assess(canonical: Canonical) -> tuple[list[Finding], dict[str, float]]:
    """Findings, with offsets in the original, and a score for each of the six."""
    found, highest = _found(canonical)
    return found, dict.fromkeys(SCORES, 0.0) | {"injection": highest}


def ruled(text: str) -> list[Finding]:
    """Findings of the rules alone; offsets in `text`."""
    return _ruled(canonicalise(text))


def _ruled(canonical: Canonical) -> list[Finding]:
    found = []
    for begin, part in parts(canonical.text):
        mentioned = mention.spans_by_sentence(part)
        for rule_ in (*injection.DOCUMENT_RULES, *_RULES):
            for finding in rule_.find(part):
                if not mention.inside(mentioned, finding.start, finding.end):
                    start, end = canonical.span(begin + finding.start, begin + finding.end)
                    found.append(Finding(finding.type, finding.score, start, end, finding.why))
    return found


def _found(canonical: Canonical) -> tuple[list[Finding], float]:
    plain = canonical.text
    found = _ruled(canonical)
    highest = 0.0
    ranges = [(a, b) for a, b in split(plain) if b - a >= _TINY]
    for at in range(0, len(ranges), _BATCH):
        batch = ranges[at : at + _BATCH]
        pieces = [(n, piece) for n, (a, b) in enumerate(batch) for piece in _pieces(_unmentioned(plain[a:b]))]
        worst = [0.0] * len(batch)
        for (n, piece), score in zip(pieces, learned([piece for _, piece in pieces]).tolist(), strict=True):
            # A statement that directs nobody needs more certainty.
            worst[n] = max(worst[n], score if score < 0.3 or cues.directs(piece) else score * _STATED)
        highest = max(highest, *worst)
        for (a, b), score in zip(batch, worst, strict=True):
            if score >= 0.3:
                start, end = canonical.span(a, b)
                found.append(Finding("prompt_injection", score, start, end, "reads like an instruction to a machine"))
    return found, highest


def _pieces(sentence: str) -> list[str]:
    """The sentence, and its clauses if it is long: a command may hang on a statement."""
    if len(sentence) <= _LONG:
        return [sentence]
    return [sentence, *(piece for piece in _CLAUSE.split(sentence)[:_CLAUSES] if len(piece) >= _SHORT)]


def _unmentioned(sentence: str) -> str:
    """A sentence without its quotations; a row of a table that shows a quoted example has little left."""
    return mention.without(sentence[: features.READ], document=True)
