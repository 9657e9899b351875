"""Sections beside one another of which some say what a question asks for.

"Which directors are overseen by the President?" over a chapter with a section for each director: the sections that say
so are looked for in all of the document, as the rows of a long table are (graph/extractive/long_tables.py), and the
sentence of each is quoted. The heading above them must be called as what is asked for, and the sentence must name what
its section is of.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.extractive.conditions import stems
from graph.extractive.nouns import asked_for
from graph.extractive.sections import SourcedTexts
from graph.knowledge.extensions import SAYS
from graph.knowledge.index import content_words
from graph.policy.answer import counted
from graph.policy.question.answer_type import all_of, plain
from graph.policy.text import lexical, structure
from graph.policy.text.structure import SEPARATOR

FEWEST = 3  # sections beside one another
LONGEST = 500_000  # characters of a document that is looked through
MOST_LINE = 600  # characters of a paragraph that says it
LEAST = 4  # letters of a word that tells sections apart; or it is a number
_NOT_SO = re.compile(r"\b(?:not|except|without|excluding|other than|apart from|rather than|instead of)\b.*", re.I)
_NAMES = re.compile(r"(?<=\w )[A-Z][a-z]{2,}")  # in a question; what is called otherwise in a document is written small
_WHOLE = stems("steps phases stages ways things items points sections parts")
_ALL = stems("every each whole full complete list current currently")
_PARTS = stems("chapter section part article appendix annex")
_RANK = re.compile(r"\b(?:vice|deputy|assistant|associate|acting|former)[ -]\w+", re.I)


@dataclass(slots=True)
class _Section:
    name: str
    level: int
    above: tuple[str, ...]  # the names of the headings it stands under
    lines: list[tuple[int, int]] = field(default_factory=list)  # its paragraphs and items


def looked_up(question: str, title: str, text: str) -> list[tuple[int, int]]:
    """Where the paragraphs stand that say what is asked for, the first of each section that has one; nothing where the
    question asks for no sections of the document, or for all of them."""
    question = plain(question)
    noun = _noun(question)
    if (
        not noun
        or len(text) > LONGEST
        or any(name.casefold() not in text.casefold() for name in _NAMES.findall(question))
    ):
        return []
    groups: dict[tuple[tuple[str, ...], int], list[_Section]] = {}
    for one in _sections(text):
        if one.above and _called(one.above[-1], noun):
            groups.setdefault((one.above, one.level), []).append(one)
    for (above, _), group in groups.items():
        lines_of = [[(line, stems(_plain(text[slice(*line)], question))) for line in one.lines] for one in group]
        words = _further(question, noun | stems(" ".join([title, *above])))
        stated = {word for word in words if any(word in has for lines in lines_of for _, has in lines)}
        named = [stems(one.name) - noun for one in group]
        telling = [
            [line for line, has in lines if stated <= has and has & name]
            for lines, name in zip(lines_of, named, strict=True)
        ]
        if 0 < len(words) <= 2 * len(stated) and len(group) >= FEWEST and 0 < sum(map(bool, telling)) < len(group):
            return [line for lines in telling for line in lines[:1]]
    return []


def answer(question: str, evidence: Sequence[Mapping[str, Any]]) -> SourcedTexts:
    """The paragraphs of the passages that were looked up: each says what the question asks for. A count says first how
    many they are."""
    question = plain(question)
    noun = _noun(question)
    rated: list[tuple[int, int, str]] = []  # how many of the words a line has, its source, the line
    for item in sorted((one for one in evidence if one.get("why") == SAYS), key=lambda one: one["start"]):
        words = _further(question, noun | stems(" ".join([item["title"], *_above(item["section"], noun)])))
        for line in structure.lines(item["text"]):
            text = item["text"][line.words : line.end]
            if line.kind != "heading" and len(text) <= MOST_LINE:
                rated.append((len(words & stems(_plain(text, question))), item["n"], text))
    most = max((words for words, *_ in rated), default=0)
    quotes = [(n, line) for words, n, line in rated if words == most > 0]
    if not quotes:
        return []
    if all_of(question) == "count":
        return [(sorted({n for n, _ in quotes}), counted.count([line for _, line in quotes]))]
    return [([n], line) for n, line in quotes]


def _above(section: str, noun: frozenset[str]) -> list[str]:
    """The headings down to the one that is called as what is asked for."""
    path = section.split(SEPARATOR)
    at = next((n for n, part in enumerate(path) if noun <= stems(part)), -1)
    return path[: at + 1]


def _called(heading: str, noun: frozenset[str]) -> bool:
    """Whether a heading is called as what is asked for, and hardly anything else: "Chapter 1 - Project directors"."""
    words = {word for word in stems(heading) if not word[0].isdigit()} - _PARTS
    return noun <= words and len(words - noun) <= 1


def _noun(question: str) -> frozenset[str]:
    """The stems of what is asked for; none where the question asks for no list of things, or for steps, which belong
    together."""
    words = lexical.words(asked_for(question)) if all_of(question) in ("list", "count") else []
    several = words and (words[-1].endswith("s") or words[-1] in ("people", "staff", "criteria"))
    noun = [lexical.stem(word) for word in words] if several else []
    return frozenset() if _WHOLE & {*noun[-1:]} else frozenset(noun)


def _plain(line: str, question: str) -> str:
    """Without posts of another rank than the question names: a vice president is no president."""
    return line if _RANK.search(question) else _RANK.sub(" ", line)


def _further(question: str, known: frozenset[str]) -> frozenset[str]:
    words = stems(" ".join(content_words(_NOT_SO.sub(" ", question)))) - known - _ALL
    return frozenset(word for word in words if len(word) >= LEAST or word[0].isdigit())


def _sections(text: str) -> list[_Section]:
    """The headings of a document with the paragraphs under each, those under headings inside it included."""
    sections: list[_Section] = []
    path: list[_Section] = []
    for line in structure.lines(text):
        if line.kind == "heading":
            path = [one for one in path if one.level < line.level]
            above = tuple(one.name for one in path)
            sections.append(_Section(text[line.start : line.end], line.level, above))
            path.append(sections[-1])
        else:
            for one in path:
                one.lines.append((line.words, line.end))
    return sections
