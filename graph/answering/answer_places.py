"""Where the evidence answers the question, for a model's sentences that the support check doubts, and for values.

A sentence whose words all stand in one clause that answers the question is supported, whatever is weighed around it:
"Yes, you may have to file a disability claim." by "If you are away for more than 7 days, you may be required to file
a disability claim.", which follows it, as it has a condition. A number or name that stands only where nothing answers,
or in another row, is that of another thing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graph.extractive.candidates import Candidate, score
from graph.extractive.numbered import numbered
from graph.extractive.reader import Reader
from graph.policy import grounding
from graph.policy.grounding.edits import edits
from graph.policy.grounding.tokens import Reading, read
from graph.policy.grounding.words import begin
from graph.policy.question.parts import parts
from graph.state import Evidence

# The reader's log-odds from which a sentence of the evidence answers, and how far behind the best candidate it may be.
# Below BESIDE it does not answer; a number so FAR below the best sentence, which has another number of its unit, is
# another row's. Set by hand on 105 questions over three collections.
ANSWERS, NEAR, BESIDE, FAR = -0.6, 1.5, -2.5, 2.0
_DIFFERENCE = re.compile(
    r"\bhow (?:much|many|far) (?:\w+ ){0,2}?(?:more|less|fewer|longer|shorter|higher|lower|cheaper|older|younger|"
    r"larger|smaller|bigger|greater|earlier|later|further|faster|slower)\b.*\bthan\b|"
    r"\bwhat(?: is|['’]s) the difference (?:in|between)\b",
    re.I | re.S,
)
_THAN = re.compile(r"\b(?:more|less|fewer|\w+er)\b.*\bthan\b", re.I | re.S)
_ARTICLES = frozenset("a an the all our your yes no".split())
NEARLY = 0.4  # of a claim's likeness to a quote, 0-1
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
        ranked = [score(one, items, self._reader) for one in (self._question, *parts(self._question))]
        return [[(one, read(one.text)) for one in each] for each in ranked if each]

    def saying(self, claim: str) -> Place | None:
        """The best place that answers with every word of the claim, nothing there being against it; None where the
        claim adds nothing to the question."""
        reading = read(claim)
        added = self._added(reading)
        for candidate, passage in self._answering() if added else ():
            if not _has(passage, added) or self._another(reading, passage, passage):
                continue
            item = next(item for item in self._evidence if item["n"] == candidate.n)
            if grounding.says_all(claim, item["text"][candidate.unit.start : candidate.unit.end]):
                support = min(max(0.5 + candidate.read / 4, grounding.SUPPORTED_FROM), _LIKELIEST)
                conditional = grounding.conditional(candidate.text) and not grounding.conditional(claim)
                return Place(item, (candidate.unit.start, candidate.unit.end), support, conditional)
        return None

    def beside(self, claim: str, sure: bool) -> bool:
        """Whether a number or name that the claim adds stands only where nothing answers the question, or in another
        row than the one that does or whose number the question says, or is the answer alone where a difference is asked
        for; of a claim that adds nothing ("Yes, you may.") and is not `sure` otherwise, whether the best place that
        answers is against it."""
        reading = read(claim)
        added = self._added(reading)
        if not added:
            best = None if sure else next(self._answering(), None)
            return best is not None and grounding.opposes(claim, best[0].text, self._question)
        sharp = added & (reading.numbers | reading.names)
        every = [pair for each in self._candidates for pair in each]
        places = [pair for pair in every if _has(pair[1], sharp)] if sharp else []
        if not places:
            return False
        place, passage = max(places, key=lambda pair: pair[0].read)
        best_place, best_passage = max(every, key=lambda pair: pair[0].read)
        words = {form for form in reading.forms - {*reading.units.values()} if form.isalpha()}
        if _DIFFERENCE.search(self._question) and reading.numbers and not words:
            return _THAN.search(place.text) is None  # the value of one row is no difference of two
        if self._row_of_another(places, every) or self._of_other_numbers(places, every):
            return True
        if not words and self._of_nothing_asked(places):
            return True
        in_other_row = place.read < best_place.read - FAR and self._another(reading, passage, best_passage)
        return in_other_row or (place.read < BESIDE and place.unit.kind != "row")  # the reader does not know rows

    def _of_nothing_asked(self, places: Sequence[tuple[Candidate, Reading]]) -> bool:
        """Whether a value alone stands in rows without any word of the question, of which no evidence has all: a fee of
        $8,864 where the price of parking is asked for."""
        asked = {*map(begin, read(self._question).forms)}
        rows = all(one.unit.kind == "row" and not asked & {*map(begin, passage.forms)} for one, passage in places)
        return rows and not asked <= self._known

    def _row_of_another(
        self, places: Sequence[tuple[Candidate, Reading]], every: Sequence[tuple[Candidate, Reading]]
    ) -> bool:
        """Whether these are rows without a number or code of the question which another row of their table has: 8% is
        what stands at +200, where +300 is asked for."""
        asked = _numbers(read(self._question))
        if not asked or any(one.unit.kind != "row" or asked <= _numbers(passage) for one, passage in places):
            return False
        tables = {(one.n, one.unit.whole) for one, _ in places if one.unit.whole}
        lacking = asked - {number for _, passage in places for number in _numbers(passage)}
        return any(lacking & _numbers(passage) for one, passage in every if (one.n, one.unit.whole) in tables)

    def _of_other_numbers(
        self, places: Sequence[tuple[Candidate, Reading]], every: Sequence[tuple[Candidate, Reading]]
    ) -> bool:
        """Whether these are of other numbers of a thing than the one that the question names, of which another sentence
        of the evidence is: "Visits 4, 5 and 8 …", where visit 10 is asked for and one has "Visits 9 and 10 …"."""
        for noun, asked in numbered(self._question, nouns=None).items():
            own = [numbered(one.text, {noun}).get(noun, set()) for one, _ in places]
            others = (numbered(one.text, {noun}).get(noun, set()) for one, _ in every)
            if all(own) and not any(asked & one for one in own) and any(asked & one for one in others):
                return True
        return False

    def swapped(self, claim: str, quote: str) -> bool:
        """Whether the claim nearly copies the quote but has another subject, which the question names and no evidence
        has: it says of contractors what stands there of employees."""
        mine, theirs = read(claim), read(quote)
        first = next((token for token in mine.tokens if token.form not in _ARTICLES), None)
        subject = next((token.form for token in theirs.tokens if token.content), "")
        if first is None or not first.content or subject in mine.forms or begin(first.form) in self._known:
            return False
        asked = first.form not in self._added(mine)
        return asked and edits(mine, theirs)[1].near >= NEARLY

    @cached_property
    def _known(self) -> frozenset[str]:
        """The first letters of every content word of the evidence."""
        return frozenset(begin(form) for item in self._evidence for form in read(item["text"]).forms)

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


def _numbers(reading: Reading) -> frozenset[str]:
    """Its numbers, and names with a digit: "P0402"."""
    return reading.numbers | {name for name in reading.names if any(map(str.isdigit, name))}


def _has(passage: Reading, forms: frozenset[str]) -> bool:
    begins = {*map(begin, passage.forms)}
    return all(form in passage.forms or begin(form) in begins for form in forms)
