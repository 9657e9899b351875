"""Answers that are whole sections: the one that a question names, or the gist of each of a document."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.extractive.candidates import Candidate
from graph.extractive.enumerations import Place, document_of, runs
from graph.extractive.units import units
from graph.knowledge import versions
from graph.knowledge.index import content_words
from graph.policy.question import named_section
from graph.policy.text import lexical, structure
from graph.policy.text.sentences import split
from graph.policy.text.structure import quoted

SourcedTexts = list[tuple[list[int], str]]  # (sources, text)

SECTION_WORDS = 600  # of a named section, at most
GIST_WORDS = 320  # of a summary, divided among its sections
LEAST_WORDS = 25  # of one section of a summary
NUMBERED_LINE = 10  # the level of a section without a heading is above that
MOST_CHANGES = 20  # sentences of one edition
MOST_SECTIONS = 18
LIKE = 0.6  # likeness of a question and a title, from which the question means what has the title
_SUMMARY = re.compile(r"\b(?:summari[sz]e|summary|sum up|main|key|points?|gist|nutshell|brief(?:ly)?|please)\b", re.I)


@dataclass(slots=True)
class Section:
    """A heading, or a numbered line, and the lines below it up to the next one of its level."""

    name: str
    level: int
    lines: list[Place] = field(default_factory=list)

    @property
    def own(self) -> list[Place]:
        """The heading and what stands right below it, before the next heading; nothing where there is no such line."""
        end = next((at for at, place in enumerate(self.lines[1:], 1) if place.line.kind == "heading"), len(self.lines))
        return self.lines[:end] if any(place.line.kind != "heading" for place in self.lines[:end]) else []

    @property
    def words(self) -> int:
        """How many it has, those of its heading and of the sections inside it included."""
        return sum(len(place.text.split()) for place in self.lines)


def named(question: str, evidence: Sequence[Mapping[str, Any]]) -> SourcedTexts:
    """The section that the question calls by its number or name, as it stands; nothing where none is called so."""
    wanted = named_section.find(question) or named_section.about(question)
    if wanted is None:
        return []
    matches = [section for section in _sections(evidence, numbered=True) if wanted.fits(section.name)]
    if not matches:
        return []
    best = max(matches, key=lambda one: (wanted.overlap(one.name), one.words > 8, _rank(one)))
    return list(_quoted(best.lines, SECTION_WORDS))


def _rank(section: Section) -> tuple[float, bool]:
    """The passages of the document that is meant come first; a heading is meant rather than an item of a list."""
    return -section.lines[0].item["n"], section.level < NUMBERED_LINE


def summary(question: str, evidence: Sequence[Mapping[str, Any]], candidates: Sequence[Candidate]) -> SourcedTexts:
    """The beginning of each section, in their order, of the document or section that the question calls, else of the
    document in which the best candidate stands."""
    meant = called(question, evidence)
    if meant is not None and meant.level:
        return list(_quoted(meant.lines, GIST_WORDS, _ends(meant.lines)))
    best = meant.lines[0].item if meant else next(item for item in evidence if item["n"] == candidates[0].n)
    inside = [one for one in _sections(evidence) if document_of(one.lines[0].item) == document_of(best) and one.own]
    deepest = max((one.level for one in inside), default=0)
    while deepest > 1 and sum(one.level <= deepest for one in inside) > MOST_SECTIONS:
        deepest -= 1
    inside = [one for one in inside if one.level <= deepest][:MOST_SECTIONS]
    share = max(LEAST_WORDS, GIST_WORDS // max(1, len(inside)))
    return [quote for one in inside for quote in _quoted(one.own, share, _ends(one.own))]


def changed(question: str, evidence: Sequence[Mapping[str, Any]]) -> SourcedTexts:
    """What stands in only one of the last two versions of a document, the older one first; nothing where the question
    does not ask for that, or there are no two."""
    if not versions.asks_for_changes(question):
        return []
    version_of = versions.of_sources(evidence)
    parts: dict[tuple[str, str, str], set[tuple[int, ...]]] = {}
    for item in evidence:
        if version := version_of.get(item["n"]):
            parts.setdefault(version.family, set()).add(version.parts)
    best = next((family for family, known in parts.items() if len(known) > 1), None)
    sides: list[list[tuple[int, str]]] = []
    for last in sorted(parts[best])[-2:] if best else ():
        sources = [item for item in evidence if version_of.get(item["n"]) == (best, last)]
        sides.append([(item["n"], text) for item in sources for text in _sentences(item["text"])])
    wordings = [{" ".join(lexical.words(text)) for _, text in side} for side in sides]
    only = [
        [(n, text) for n, text in side if " ".join(lexical.words(text)) not in other]
        for side, other in zip(sides, reversed(wordings), strict=True)
    ]
    return [([n], text) for side in only for n, text in side[:MOST_CHANGES]]


def _sentences(text: str) -> Iterator[str]:
    """The headings, rows and sentences, each as it stands."""
    for block in structure.blocks(text):
        whole = structure.tabular(text, block)
        for line in block:
            part = text[line.words : line.end]
            for start, end in [(0, len(part))] if whole or line.kind != "text" else split(part):
                yield part[start:end]


def called(question: str, evidence: Sequence[Mapping[str, Any]]) -> Section | None:
    """The section or document whose title the question names; a document is a section of level 0."""
    wanted = {*lexical.stems(" ".join(content_words(_SUMMARY.sub(" ", question))))}
    names = [(one.name, one) for one in _sections(evidence) if one.level and one.words > LEAST_WORDS]
    names += [(run[0].item["title"], Section(run[0].item["title"], 0, run)) for run in runs(evidence)]
    rated = [(_likeness(wanted, name), one) for name, one in names]
    likeness, best = max(rated, key=lambda pair: (pair[0], -pair[1].level), default=(0.0, None))
    return best if likeness >= LIKE else None


def _likeness(wanted: set[str], name: str) -> float:
    """Share of the words of a name and a question that they have in common, 0-1."""
    name_stems = {*lexical.stems(" ".join(content_words(name)))}
    return 2 * len(wanted & name_stems) / max(1, len(wanted) + len(name_stems))


def _ends(lines: Sequence[Place]) -> set[tuple[int, int]]:
    """Where a quote may end: the ends of sentences, rows and lists, with their source."""
    sources = {place.item["n"]: place.item["text"] for place in lines}
    parts = {n: [part for unit in units(text) for part in (unit, *unit.parts)] for n, text in sources.items()}
    return {(n, part.end) for n, pieces in parts.items() for part in pieces}


def _sections(evidence: Sequence[Mapping[str, Any]], numbered: bool = False) -> list[Section]:
    """With `numbered` a line that begins with a number ("2.1 Scope …") is a section, too."""
    sections: list[Section] = []
    for run in runs(evidence):
        item = run[0].item
        name = item["section"].rpartition(" > ")[2]
        open_: list[Section] = [] if run[0].line.kind == "heading" else [Section(name, 0)]
        sections += open_
        for place in run:
            line = place.line
            if line.kind == "heading":
                open_ = [one for one in open_ if 0 < one.level < line.level]
                open_.append(Section(place.text, line.level))
                sections.append(open_[-1])
            mark = place.item["text"][line.start : line.words].strip(" .)")
            if numbered and line.kind == "item" and mark[:1].isdigit():
                open_ = [one for one in open_ if one.level < NUMBERED_LINE + line.level + mark.count(".")]
                open_.append(Section(f"{mark} {place.text[:80]}", NUMBERED_LINE + line.level + mark.count(".")))
                sections.append(open_[-1])
            for section in open_:
                section.lines.append(place)
    return sections


def _quoted(
    lines: Sequence[Place], budget: int, ends: set[tuple[int, int]] | None = None
) -> Iterator[tuple[list[int], str]]:
    """The lines in stretches of one source that hold a heading at most at their beginning, `budget` words at most."""
    stretch: list[Place] = []
    used = 0
    for place in lines:
        words = len(place.text.split())
        if used and used + words > budget and any(one.line.kind != "heading" for one in stretch):
            break
        begins = place.line.kind == "heading" and (not stretch or stretch[-1].line.kind != "heading")
        if stretch and (
            place.item["n"] != stretch[0].item["n"] or begins or stretch[-1].line.kind == "heading" == place.line.kind
        ):
            yield from _stretch(stretch)
            stretch = []
        stretch.append(place)
        used += words
    yield from _stretch(stretch, budget - used, ends)


def _stretch(
    stretch: Sequence[Place], left: int = 0, ends: set[tuple[int, int]] | None = None
) -> Iterator[tuple[list[int], str]]:
    if not stretch or all(place.line.kind == "heading" for place in stretch):
        return
    text, n = stretch[0].item["text"], stretch[0].item["n"]
    start, end = stretch[0].line.start, stretch[-1].line.end
    if ends and left < 0:  # a long paragraph: its first sentences
        first = stretch[-1].line.start
        inside = sorted(at for source, at in ends if source == n and first < at <= end)
        end = next(
            (at for at in reversed(inside) if len(text[first:at].split()) <= len(text[first:end].split()) + left),
            inside[0] if inside else end,
        )
    yield [n], quoted(text, start, end).strip()
