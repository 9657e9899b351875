"""What may leave: sentences of a draft that this turn's evidence supports, each with the verbatim quotes that do."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from graph.answering.answer_places import AnswerPlaces
from graph.extractive.reader import Reader
from graph.models import task, wording
from graph.models.citation_parser import CitationParser
from graph.policy import grounding, pii
from graph.policy.answer import counted
from graph.policy.evidence import places
from graph.policy.evidence.redaction import public_values, to_source
from graph.policy.grounding import entailment, parallel
from graph.policy.text import defang, structure
from graph.policy.text.sentences import split
from graph.policy.threats import assess
from graph.state import Citation, Evidence, Sentence

_BETWEEN = re.compile(r"[,;] (?:and |or )?|\s+and\s+")  # the names of a list
_MOST_NAMES, _NAME_WORDS = 60, 4
SHORT = 6  # words: less is a value, no sentence
_PARTS = 12  # sentences of one claim that are judged by themselves
ASKED_FROM = 0.03  # what the embedded check holds for less likely is not put to the model
Opinion = Callable[[str, str, Sequence[grounding.Span]], float | None]
# Leans on the sentence before: what "it" or "these" is, and what "however" turns against. "It is allowed to" does not.
_LEANS = re.compile(
    r"\W*(?:(?:however|therefore|thus|hence|so|but|and|or|also|moreover|furthermore|in addition|otherwise|then)\b,? *)*"
    r"(?:(?:this|that|these|those|they|them|their|its|he|she|his|her|such|both|the (?:former|latter|same))\b"
    r"|it\b(?! (?:is|was|will be|must be|may be)(?: \w+){1,2} (?:to|that|whether|for)\b)"
    r"|(?<=however, )|(?<=otherwise, ))",
    re.I,
)


def shown(text: str, keep: pii.Public = pii.NOTHING) -> str:
    """The text as it may leave: masked and without live links. Taking a link out may join the two halves of a number,
    so the text is masked again."""
    masked = pii.mask(text, keep=keep).text
    defanged = defang.text(masked)
    return defanged if defanged == masked else pii.mask(defanged, keep=keep).text


class Verified:
    """Sentences in their order with their citations, numbered as they come: the same claims give the same numbers."""

    def __init__(
        self,
        evidence: list[Evidence],
        *,
        guarded: bool,
        before: tuple[Sequence[Sentence], Sequence[Citation]] = ((), ()),
        opinion: Opinion | None = None,
        question: str = "",
        marked: bool = False,
        encoder: entailment.Encoder = entailment.margins,
        reader: Reader | None = None,
    ) -> None:
        """`opinion`: a chat model's log-odds that a passage says a sentence, None where it gives none. It joins the
        embedded check, and lets nothing pass that has a number, date, unit or name which the passage lacks.
        `question`: what only says it again is dropped. `marked`: what is supported only weakly leaves with a mark
        behind it (grounding.MARK). `reader`: with it a sentence of a model is judged by where the evidence answers the
        question, too."""
        self._evidence, self._guarded, self._public = evidence, guarded, public_values(evidence)
        self._citations_of = CitationParser(evidence)
        self._opinion, self._question, self._marked = opinion, question, marked
        self._encoder = encoder
        self._places = AnswerPlaces(question, evidence, reader) if reader and question else None
        self.sentences: list[Sentence] = list(before[0])
        self.citations: list[Citation] = list(before[1])
        self.dropped: list[str] = []  # what was claimed and is not supported, or may not be told
        self._gap = False  # whether the sentence before was dropped
        self._conditions: list[dict[str, Any]] = []  # claims: what a sentence that left holds under

    def add(self, claim: dict[str, Any]) -> list[Sentence]:
        """Let the claim `{"text", "sources"}` leave, or those of its sentences that are supported by themselves.
        Returns what left now; what left before does not leave again."""
        known = len(self.sentences)
        self._add(claim)
        while self._conditions:
            self._add(self._conditions.pop())
        return self.sentences[known:]

    def _add(self, claim: dict[str, Any]) -> None:
        if not any(claim["text"] in item["text"] for item in self._evidence):
            claim = self._citations_of.tidied(claim)
        masked = pii.mask(claim["text"], keep=self._public).text
        text = shown(masked, self._public)
        if self._was_judged(text):
            return
        # As it stands in the evidence, unless masking found more in it once it was read out.
        stands = masked if text != masked and defang.text(masked) == text else ""
        if self._checked(text, claim["sources"], stands) is not None:
            self._gap = False
            return
        if self._values(text, claim["sources"]):
            return
        bare = structure.without_marks(text)  # a fence that stands in one part alone would open what never ends
        parts = [bare[start:end] for start, end in split(bare)[:_PARTS]]
        for part in parts if len(parts) > 1 else []:
            if self._was_judged(part):
                continue
            sentence = self._checked(part, claim["sources"])
            self._gap = sentence is None
            if sentence is None:
                self.dropped.append(part)
        if len(parts) < 2:
            self.dropped.append(text)
            self._gap = True

    def add_all(self, claims: Sequence[dict[str, Any]]) -> bool:
        """Let the claims leave. Returns whether anything left, now or before."""
        for claim in claims:
            self.add(claim)
        return bool(self.sentences)

    def _values(self, text: str, sources: list[int]) -> bool:
        """Of a list of names and nothing else ("Kenya, Norway, Peru") each by itself; none of them where one does not
        stand in the evidence word for word. Returns whether they left."""
        listed = names(text)
        texts = [item["text"] for item in self._evidence]
        if not listed or not all(any(name in one for one in texts) for name in listed):
            return False
        known = len(self.sentences), len(self.citations)
        places, self._places = self._places, None  # no name alone answers a question for several
        checked = [self._checked(name, sources) for name in listed if not self._was_judged(name)]
        self._places = places
        if len(checked) == len(listed) and None not in checked:
            self._gap = False
            return True
        del self.sentences[known[0] :], self.citations[known[1] :]
        return False

    def _was_judged(self, text: str) -> bool:
        """Whether it was judged before, either way: models that lost their thread say one thing without end."""
        return text in self.dropped or any(text == grounding.unmarked(one["text"]) for one in self.sentences)

    def _checked(self, text: str, sources: list[int], stands: str = "") -> Sentence | None:
        """`stands`: the text before its links were made dead, as the evidence may have it word by word."""
        if self._gap and _LEANS.match(text):
            return None
        if lines := counted.lines(stands or text):
            cited = self._counted(lines, sources)
        elif named := self._named(stands or text, sources):
            cited = named
        else:
            cited = (self._supporting(stands, sources) if stands else []) or self._supporting(text, sources)
        supported, condition = bool(cited), ""
        value = len(text.split()) < SHORT  # "4 weeks" may stand anywhere
        if self._places and (value or not cited or cited[0][1].score < grounding.SURE_FROM):
            cited, condition = self._by_question(self._places, text, cited)
        by_question = bool(cited) and not supported
        doubted = not cited and self._marked
        if doubted:
            weakly = self._supporting(text, sources, grounding.DOUBTED_FROM)[:1]
            cited = [(item, one) for item, one in weakly if grounding.doubted(one, text, item["text"])]
        if not cited or (self._guarded and assess(text, source="question").scores["evasion"] >= 0.5):
            return None
        if cited[0][1].score < 1.0 and self._says_nothing(text, cited[0][0]["text"]):
            return None
        if cited[0][1].score < 1.0 and parallel.crossed(text, self._parallel):
            return None
        numbers = list(dict.fromkeys(self._number(_citation(item, at)) for item, by in cited for at in by.spans))
        sentence: Sentence = {"text": text, "citations": numbers, "support": round(cited[0][1].score, 3)}
        if cited[0][1].in_opinion:
            sentence["opinion"] = True
        if by_question:
            sentence["by_question"] = True
        if doubted:
            sentence |= {"text": text + grounding.MARK, "doubted": True}
        self.sentences.append(sentence)
        if condition:
            self._conditions.append({"text": condition, "sources": [cited[0][0]["n"]]})
        return sentence

    @cached_property
    def _parallel(self) -> parallel.Pairs:
        """Of all sentences and rows of the evidence."""
        lines = [line for item in self._evidence for line in item["text"].split("\n")]
        return parallel.pairs([line[start:end] for line in lines for start, end in split(line)])

    def _says_nothing(self, text: str, evidence: str) -> bool:
        """Whether it only speaks of the sources, asks, or repeats the question or the instructions."""
        return (
            text.endswith("?")
            or wording.unknown(text)
            or wording.echoes(text, self._question)
            or task.repeats(text, evidence)
        )

    def _supporting(
        self, text: str, sources: list[int], least: float = grounding.SUPPORTED_FROM
    ) -> list[tuple[Evidence, grounding.Support]]:
        """The cited sources that support the text, strongest first; when none does, another that does so clearly."""

        def good(items: list[Evidence]) -> list[tuple[Evidence, grounding.Support]]:
            pairs = zip(items, grounding.supports(text, [item["text"] for item in items], self._encoder), strict=True)
            scored = sorted(((i, s) for i, s in pairs if not _gapped(i, s)), key=lambda pair: -pair[1].score)
            if self._opinion is not None and scored:
                scored[0] = (scored[0][0], self._judged(text, *scored[0]))
                if scored[0][1].score < least:  # what the model doubts in its best place
                    return []
            return [(item, one) for item, one in scored if one.score >= least]

        cited = good([item for item in self._evidence if item["n"] in sources])
        return cited or good([item for item in self._evidence if item["n"] not in sources])[:1]

    def _by_question(
        self, places: AnswerPlaces, text: str, cited: list[tuple[Evidence, grounding.Support]]
    ) -> tuple[list[tuple[Evidence, grounding.Support]], str]:
        """What supports the text where it is the answer to the question, none where it is another thing's; and the
        quote to follow it, where that has a condition which the text leaves out."""
        if cited:
            item, support = cited[0]
            sure = support.score >= grounding.SURE_FROM
            quote = " ".join(item["text"][start:end] for start, end in support.spans)
            return [] if places.beside(text, sure) or (not sure and places.swapped(text, quote)) else cited, ""
        place = places.saying(text)
        if place is None:
            return [], ""
        score, odds = place.support, self._opinion and self._opinion(text, place.item["text"], [place.span])
        if odds is not None:
            score = min(score, grounding.joined(score, odds))
        support = grounding.Support(score, spans=(place.span,))
        if score < grounding.SUPPORTED_FROM or _gapped(place.item, support):
            return [], ""
        return [(place.item, support)], place.item["text"][slice(*place.span)] if place.conditional else ""

    def _named(self, text: str, sources: list[int]) -> list[tuple[Evidence, grounding.Support]]:
        """The cited source whose file is called so, with its first line."""
        for item in self._evidence if text else ():
            if item["n"] in sources and item["filename"] == text:
                for line in structure.lines(item["text"]):
                    return [(item, grounding.Support(1.0, spans=((line.start, line.end),)))]
        return []

    def _counted(self, lines: list[str], sources: list[int]) -> list[tuple[Evidence, grounding.Support]]:
        """The places of what was counted, each of them once; nothing where a line stands nowhere."""
        # A sentence names some of many sources: those named come first, in the order in which they are listed.
        place = itemgetter("where", "doc_id", "start")
        items = sorted(self._evidence, key=lambda item: (item["n"] not in sources, place(item)))
        ranges = counted.places(lines, [item["text"] for item in items])
        if ranges is None:
            return []
        return [
            (item, grounding.Support(1.0, spans=tuple(spans)))
            for item, spans in zip(items, ranges, strict=True)
            if spans
        ]

    def _judged(self, text: str, item: Evidence, support: grounding.Support) -> grounding.Support:
        """The support with the model's opinion in it."""
        if self._opinion is None or support.score == 1.0 or support.score < ASKED_FROM or wording.unknown(text):
            return support
        odds = self._opinion(text, item["text"], support.spans)
        if odds is None:
            return support
        score = grounding.joined(support.score, odds)
        rescued = support.score < grounding.SUPPORTED_FROM <= score
        if rescued and not grounding.exact(text, item["text"]):
            return support
        return replace(support, score=score, in_opinion=rescued)

    def _number(self, new: Citation) -> int:
        """The number of an equal citation made before, or of this one, now added."""
        for old in self.citations:
            if {**old, "n": 0} == new:
                return old["n"]
        self.citations.append({**new, "n": len(self.citations) + 1})
        return len(self.citations)


def names(text: str) -> list[str]:
    """Those of a list of three and more names of few words ("Kenya, Norway, Peru"), with or without a lead ("We
    work in: …"); [] for any other text."""
    listed = _BETWEEN.split(text.rpartition(": ")[2])
    short = all(0 < len(name.split()) <= _NAME_WORDS for name in listed)
    return listed if 3 <= len(listed) <= _MOST_NAMES and short and text[-1] not in ".!?" else []


def certainty(sentences: Sequence[Any], citations: Sequence[Any]) -> float:
    """Mean support of the sentences times the best cited chunk's score, 0-1: what the confidence is read from."""
    support = sum(s["support"] for s in sentences) / len(sentences)
    return float(support * max(c["score"] for c in citations))


def _gapped(item: Evidence, support: grounding.Support) -> bool:
    """Whether a withheld sentence stood inside a span: it would be no verbatim quote."""
    withheld = [at for at, length, *_ in item["edits"] if not length]
    return any(begin < at < end for at in withheld for begin, end in support.spans)


def _citation(item: Evidence, span: tuple[int, int]) -> Citation:
    start, end = to_source(item["edits"], *span)
    page, page_end, row = places.locate(item["page"], item.get("places", ""), start, end)
    return {
        "n": 0,
        "doc_id": item["doc_id"],
        "filename": item["filename"],
        "tenant_id": item["tenant_id"],
        "visibility": item["visibility"],
        "page": page,
        "page_end": page_end,
        "sheet": item["sheet"],
        "row": row,
        "section": structure.section(item["section"], item["text"], span[0]),
        "chunk_id": item["chunk_id"],
        "score": item["score"],
        "quote": item["text"][span[0] : span[1]],
        "start": item["start"] + start,
        "end": item["start"] + end,
        "sha256": item["sha256"],
    }
