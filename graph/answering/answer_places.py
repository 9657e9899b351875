"""Where the evidence answers the question, for sentences that say so in the question's words.

"We have 30 days before we must pay the bill." has no word of "Payment is due 30 days after the invoice is issued." but
its number; all else is the question's. What the sentence adds to the question is looked for in the sentences of the
evidence that the embedded reader thinks answer it: there it is supported, and what stands only where nothing answers is
another thing's number or name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import Any

from graph.extractive.candidates import Candidate, score
from graph.extractive.reader import Reader
from graph.policy import grounding
from graph.policy.grounding.added import BORDER
from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.words import begin
from graph.state import Evidence

# The reader's log-odds from which a sentence of the evidence answers, and how far behind the best candidate it may be.
# Below BESIDE it does not answer; a number so FAR below the best sentence, which has another number of its unit, is
# another row's. Set by hand on 105 questions over three collections (docs/models.md).
ANSWERS, NEAR, BESIDE, FAR = -0.6, 1.5, -2.5, 2.0
BORROWED = 2  # content words; see _borrows_little
_DIFFERENCE = re.compile(
    r"\bhow (?:much|many|far) (?:\w+ ){0,2}?(?:more|less|fewer|longer|shorter|higher|lower|cheaper|older|younger|"
    r"larger|smaller|bigger|greater|earlier|later|further|faster|slower)\b.*\bthan\b|"
    r"\bwhat(?: is|['’]s) the difference (?:in|between)\b",
    re.I | re.S,
)
_PARTS = re.compile(r"(?:, and|,| and) (?=(?:who|what|when|where|which|why|how)\b)", re.I)
_LEANS = re.compile(r"\b(?:it|its|they|them|their|that|this|those|these|he|she|him|her|one|ones)\b", re.I)
_LIKELIEST = 0.84  # the support at most: below grounding.SURE_FROM, for it is a guess of the reader's


@dataclass(frozen=True)
class Place:
    """A sentence of the evidence that answers with what a claim adds to the question."""

    item: Evidence
    span: tuple[int, int]  # characters of the item's text
    support: float  # 0-1
    conditional: bool  # it says so under a condition that the claim leaves out


class AnswerPlaces:
    """Those of one question, which may have several parts. The reader reads when a claim is first asked about."""

    def __init__(self, question: str, evidence: Sequence[Evidence], reader: Reader) -> None:
        self._question, self._evidence, self._reader = question, evidence, reader

    @cached_property
    def _candidates(self) -> list[list[tuple[Candidate, Reading]]]:
        """For each part of the question, best first."""
        items: list[dict[str, Any]] = [dict(item) for item in self._evidence]
        whole, *rest = parts(self._question)
        ranked = [score(one, items, self._reader) for one in (whole, *(one for one in rest if not _LEANS.search(one)))]
        return [[(one, read(one.text)) for one in each] for each in ranked if each]

    def saying(self, claim: str) -> Place | None:
        """The best place that answers and says all that the claim adds, nothing there being against it. What the
        question takes for granted ("given that all fees are waived") is not supported by that."""
        reading = read(claim)
        added = self._added(reading)
        for candidate, passage in self._answering() if added else ():
            if not _has(passage, added) or self._another(reading, passage, passage):
                continue
            if not _borrows_little(claim, added, passage):
                continue
            item = next(item for item in self._evidence if item["n"] == candidate.n)
            if grounding.says_values(claim, item["text"][candidate.unit.start : candidate.unit.end]):
                support = min(max(0.5 + candidate.read / 4, grounding.SUPPORTED_FROM), _LIKELIEST)
                conditional = grounding.conditional(candidate.text) and not grounding.conditional(claim)
                return Place(item, (candidate.unit.start, candidate.unit.end), support, conditional)
        return None

    def beside(self, claim: str) -> bool:
        """Whether a number or name that the claim adds stands only where nothing answers the question, or in another
        row than the one that does, or is the answer alone where a difference is asked for; of a claim that adds nothing
        ("Yes, you may."), whether the best place that answers is against it."""
        reading = read(claim)
        added = self._added(reading)
        words = {form for form in reading.forms - {*reading.units.values()} if form.isalpha()}
        if _DIFFERENCE.search(self._question) and reading.numbers and not words:
            return True  # the value of one row is no difference of two
        if not added:
            best = next(self._answering(), None)
            return best is not None and not grounding.agrees(claim, best[0].text)
        sharp = added & (reading.numbers | reading.names)
        every = [pair for each in self._candidates for pair in each]
        places = [(one.read, passage) for one, passage in every if _has(passage, sharp)] if sharp else []
        if not places:
            return False
        log_odds, passage = max(places, key=itemgetter(0))
        best_log_odds, best_passage = max(((one.read, other) for one, other in every), key=itemgetter(0))
        in_other_row = log_odds < best_log_odds - FAR and self._another(reading, passage, best_passage)
        return log_odds < BESIDE or in_other_row

    def _answering(self) -> Iterator[tuple[Candidate, Reading]]:
        """Those that answer a part of the question nearly as well as the best one."""
        for each in self._candidates:
            least = each[0][0].score - NEAR
            yield from ((one, passage) for one, passage in each if one.score >= least and one.read >= ANSWERS)

    def _added(self, claim: Reading) -> frozenset[str]:
        asked = read(self._question).forms
        begins = {*map(begin, asked)}
        return frozenset(form for form in claim.forms if form not in asked and begin(form) not in begins)

    def _another(self, claim: Reading, passage: Reading, other: Reading) -> bool:
        """Whether the other passage has further numbers of a unit which a number that the claim adds has in the
        passage."""
        units = {passage.units.get(number) for number in self._added(claim) & claim.numbers}
        further = other.numbers - claim.numbers - read(self._question).numbers
        return any(other.units.get(number) in units for number in further)


def parts(question: str) -> list[str]:
    """The question, and its parts where it asks for several things."""
    return list(dict.fromkeys([question, *filter(None, _PARTS.split(question))]))


def _borrows_little(claim: str, added: frozenset[str], passage: Reading) -> bool:
    """Whether at most BORROWED content words of the claim are the question's alone, and no clause is made of these."""
    reading = read(claim)
    borrowed = frozenset(form for form in reading.forms if not _has(passage, frozenset([form])))
    clauses = [read(clause).forms for clause in BORDER.split(claim)]
    own_clause = any(len(forms) > 1 and forms <= borrowed and not forms & added for forms in clauses)
    return len(borrowed) <= BORROWED and not own_clause


def _has(passage: Reading, forms: frozenset[str]) -> bool:
    begins = {*map(begin, passage.forms)}
    return all(form in passage.forms or begin(form) in begins for form in forms)
