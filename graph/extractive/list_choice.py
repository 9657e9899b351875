"""Which of the lists and tables of the evidence a question is about, by what each says of itself (title, headings,
lead, columns) and by how its entries answer."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set

import numpy as np

from graph.extractive.candidates import Candidate
from graph.extractive.conditions import lead_of, name_stems, named_values, stems
from graph.extractive.enumerations import Enumeration
from graph.extractive.measures import column_of
from graph.extractive.nouns import FEWEST, MOST, asked_for, noun_of
from graph.extractive.reader import Reader
from graph.knowledge.index import content_words
from graph.policy.question.answer_type import All
from graph.policy.text import lexical
from graph.policy.text.quantities import dates

# Rounded by hand from a listwise fit on 78 questions over seven collections (evals/datasets/whole.jsonl and
# whole_more.jsonl), of which it chooses the right one in 64 of 80.
WEIGHTS = {
    "read": 0.4, "cover": 6.5, "inside": 0.15, "noun": 1.1, "only": 1.0, "measures": 3.3, "size": 1.9, "values": 1.0,
}  # fmt: skip
# The chance that the list of the largest weight is the one that is asked about, logistic in its weight and in how much
# it weighs more than the next one. `python -m evals.training.lists` fits it anew and prints these figures (n = 107, AUC
# .81 on a collection left out; the weight alone .77).
WEIGHT, LEAD, MOST_LEAD, BIAS = 0.23, 0.73, 5.0, -2.65
LED = 0.5  # the chance of the only list that is introduced as what is asked for; by hand: it may be about another case
SURE_FROM = 0.6  # 48 of 64 right lists are taken, 9 of 43 wrong ones
FAR = -6.0  # behind the best passage, in what they are ranked by: a list that nothing else speaks for is not counted
ALIKE = 0.6
MOSTLY_CALLED = 0.6  # of the headings that are called as what is asked for
SHOWN = 8  # entries that are read with the question
SHARED = 0.7  # of the sections under a heading, in which a word counts as that of a column
_HOW_MANY = re.compile(r"\bhow many\b", re.I)
ANYTHING = {*lexical.stems("items things elements points entries kinds types sorts ones parts options rows")}
_HEADINGS = {*lexical.stems("sections subsections headings chapters topics")}
_FOLLOWING = re.compile(r"\bfollowing((?: [\w-]+){1,3})", re.I)
_LIST_OF = re.compile(r"\W*(?:[\d.]+ )?(?:full |complete )?(?:list|table|overview) of (?:the |all |our )?(.+)", re.I)


def choose(
    question: str, kind: All, lists: Sequence[Enumeration], candidates: Sequence[Candidate], reader: Reader
) -> tuple[Enumeration | None, float]:
    """The list that is most likely asked about, and the chance that it is, 0-1."""
    days = {*dates(question)}
    lists = [one for one in lists if days & {*dates(" ".join(one.path))}] or lists  # of the day that is named
    if not lists:
        return None, 0.0
    if called := [one for one in lists if _called_by_heading(question, one)]:
        return max(called, key=lambda one: len(one.entries)), 1.0
    if named := [one for one in lists if _named_by_kind(question, one)]:
        return max(named, key=lambda one: len(one.entries)), 1.0
    if len(led := [one for one in lists if _led_as(question, one)]) == 1:
        return led[0], LED
    weighed = weigh(question, kind, lists, candidates, reader)
    best, weight, lead = ahead(lists, weighed)
    chance = 1 / (1 + math.exp(-(WEIGHT * weight + LEAD * lead + BIAS)))
    doubtful = kind == "count" and chance < SURE_FROM and weighed[best]["inside"] < FAR
    return (lists[best], chance) if _related(weighed[best]) and not doubtful else (None, 0.0)


def _called_by_heading(question: str, enumeration: Enumeration) -> bool:
    """Whether the question calls it by the whole heading right above it: "How many risks are in the risk register?", or
    that says what it lists: "List of tools"."""
    heading = " ".join(enumeration.path[-1:])
    if (listed := _LIST_OF.fullmatch(heading)) and (noun := noun_of(question)):
        words = stems(listed[1])
        if noun[-1] in words and words <= stems(question):
            return True
    called = rf"\b(?:in|of|from|on|under) (?:the |our )?{re.escape(heading)}(?=\s*[?.!,;]|\s*$)"
    return enumeration.kind != "headings" and " " in heading and re.search(called, question, re.I) is not None


def _led_as(question: str, enumeration: Enumeration) -> bool:
    """Whether it is introduced as the one thing that is asked for, and shares more with the question: "any of the
    following sanctions may be imposed against a member"."""
    noun, lead = noun_of(question)[-1:], lead_of(enumeration)
    if " and " in asked_for(question):
        return False
    named = {stem for one in _FOLLOWING.finditer(lead) for stem in lexical.stems(one[1])}
    if not noun or noun[0] in ANYTHING or noun[0] not in named:
        return False
    return bool(stems(" ".join(content_words(question))) & name_stems(" ".join([lead, *enumeration.path])) - {*noun})


def _named_by_kind(question: str, enumeration: Enumeration) -> bool:
    """Whether most of these headings are called as what is asked for, under one that says so, too, and more of the
    question: "Hypothetical strategies", "Composite strategies" under "Strategies for intercurrent events"."""
    noun, above = noun_of(question)[-1:], stems(" ".join(enumeration.path[-1:]))
    if enumeration.kind != "headings" or not noun or noun[0] in ANYTHING or noun[0] not in above:
        return False
    called = sum(noun[0] in stems(entry.text) for entry in enumeration.entries)
    shared = stems(" ".join(content_words(question))) & above - {*noun}
    return len(shared) >= 2 and called >= MOSTLY_CALLED * len(enumeration.entries)


def ahead(lists: Sequence[Enumeration], weighed: Sequence[Mapping[str, float]]) -> tuple[int, float, float]:
    """Which list weighs most, its weight, and how much more than the next one that is not the same: 0 to MOST_LEAD."""
    weights = [sum(WEIGHTS[name] * value for name, value in one.items()) for one in weighed]
    best = int(np.argmax(weights))
    same = _stems_of(lists[best])
    others = [
        weight
        for one, weight in zip(lists, weights, strict=True)
        if not _inside(one, lists[best]) and not _alike(_stems_of(one), same)
    ]
    return best, weights[best], min(weights[best] - max([0.0, *others]), MOST_LEAD)


def _related(signs: Mapping[str, float]) -> bool:
    """Whether the best list has to do with the question at all: it may be the best of several that have not."""
    return signs["read"] > 0 or signs["noun"] >= 0.5 or signs["cover"] >= 0.2 or signs["values"] > 0


def _inside(inner: Enumeration, outer: Enumeration) -> bool:
    """Whether a list stands below a heading or a label of the other one."""
    if outer.kind != "headings":
        return False
    labelled = inner.lead is not None and any((e.n, e.start) == (inner.lead.n, inner.lead.start) for e in outer.entries)
    return labelled or (len(inner.path) > len(outer.path) and inner.path[: len(outer.path)] == outer.path)


def _stems_of(enumeration: Enumeration) -> frozenset[str]:
    return stems(" ".join(entry.first_line for entry in enumeration.entries))


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two lists have most words in common: one in two documents, or in two formats."""
    return len(left & right) > ALIKE * len(left | right)


def weigh(
    question: str, kind: All, lists: Sequence[Enumeration], candidates: Sequence[Candidate], reader: Reader
) -> list[dict[str, float]]:
    """What WEIGHTS weigh, of each list."""
    topic = FEWEST.sub(" ", MOST.sub(" ", question)) if kind == "extreme" else question  # "longest" is no subject
    wanted, noun = stems(" ".join(content_words(topic))), noun_of(question)
    columns = [[*one.headings, *_shared(one)] for one in lists]
    labels = {(entry.n, entry.start) for one in lists if one.kind == "headings" for entry in one.entries}
    near = [
        name_stems(" ".join([*_heading(one, labels), lead_of(one), *names]))
        for one, names in zip(lists, columns, strict=True)
    ]
    values_of = [named_values(question, one.entries).values() for one in lists]  # of tables
    named = [stems(" ".join(part for parts in values for part in parts)) for values in values_of]
    about = [
        words | name_stems(" ".join([*one.path[:1], *one.path[-2:]])) | values
        for one, words, values in zip(lists, near, named, strict=True)
    ]
    rarity = {word: math.log(1 + len(lists) / (1 + sum(word in bag for bag in about))) for word in wanted}
    total = sum(rarity.values()) or 1.0
    # What would answer "which" is read for "how many": the reader looks for a number that nobody wrote.
    read = reader.scores(_HOW_MANY.sub("which", question), [_passage(one) for one in lists])
    top, least = max(c.score for c in candidates), min(c.score for c in candidates)
    weighed = []
    for one, bag, words, values, value in zip(lists, about, near, named, read, strict=True):
        inside = max((c.score for c in candidates if _holds(one, c)), default=least) - top
        weighed.append(
            {
                "read": float(value),
                "cover": sum(rarity[word] for word in wanted & bag) / total,
                "inside": max(inside, -8.0),
                "noun": 1.0 if one.kind == "headings" and _HEADINGS & {*noun[-1:]} else _noun_in(noun, words),
                "only": len(words & wanted) / max(1, len(words)),
                "values": float(bool(values)),
                "measures": float(kind in ("extreme", "sum") and _measures(question, one)),
                "size": math.log(min(len(one.entries), 12) / 2),
            }
        )
    for one, signs in zip(lists, weighed, strict=True):
        if one.kind == "headings" and signs["noun"] == 1.0:  # headings say little: what stands under them is read
            signs["read"] = max(inner["read"] for other, inner in zip(lists, weighed, strict=True)
                                if other is one or (_inside(other, one) and inner["noun"] < 1.0))  # fmt: skip
    return weighed


def _heading(enumeration: Enumeration, labels: Set[tuple[int, int]]) -> tuple[str, ...]:
    """The heading that names a list, nothing where a label does: the heading above names the labels."""
    return () if enumeration.lead and (enumeration.lead.n, enumeration.lead.start) in labels else enumeration.path[-1:]


def _noun_in(noun: Sequence[str], words: frozenset[str]) -> float:
    """Share of the noun among the words nearest to a list. Its last word counts twice, or half if it means anything."""
    if not noun:
        return 0.0
    weights = [*([1.0] * (len(noun) - 1)), 0.5 if noun[-1] in ANYTHING else 2.0]
    return sum(weight for word, weight in zip(noun, weights, strict=True) if word in words) / sum(weights)


def _measures(question: str, enumeration: Enumeration) -> bool:
    if enumeration.kind == "headings":
        return column_of(question, enumeration, enumeration.entries) is not None
    return enumeration.kind == "rows"


def _shared(enumeration: Enumeration) -> list[str]:
    """The words below most of its headings: what each section says, as a column does of each row."""
    if enumeration.kind != "headings" or len(enumeration.entries) < 3:
        return []
    below = [{word for line in entry.below for word in lexical.words(line.text)} for entry in enumeration.entries]
    times = Counter(word for words in below for word in words)
    return [word for word, count in times.items() if count > SHARED * len(below)]


def _passage(enumeration: Enumeration) -> tuple[str, str]:
    """Its headings and its beginning, as the reader gets them."""
    path = " - ".join(dict.fromkeys([*enumeration.path[:1], *enumeration.path[-1:]]))
    entries = "; ".join(entry.text[:80] for entry in enumeration.entries[:SHOWN])
    return path, f"{lead_of(enumeration)} {entries}".strip()


def _holds(enumeration: Enumeration, candidate: Candidate) -> bool:
    return any(entry.n == candidate.n and entry.start <= candidate.at < entry.end for entry in enumeration.entries)
