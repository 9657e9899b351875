"""Which of the weighed candidates are quoted: the smallest whole that answers.

A fact is one sentence; a procedure or a list is quoted whole, with what introduces it; a comparison is one passage for
each side. Nothing weaker stands behind what answers, and each kind has its budget of words.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import permutations
from textwrap import dedent

from graph.extractive.candidates import DEFINES, Candidate, defines, folded_stems, named_row, without_item
from graph.extractive.units import Range
from graph.knowledge.index import content_words
from graph.policy.question import answer_type, intent
from graph.policy.text import quantities
from graph.policy.text.structure import ITEM, quoted

# The figures below were set by hand on the questions of the five open collections (evals/suites/handbooks.py).
BESIDE = 3.0  # how far behind the best a further statement may be
FAR = 4.0  # how far behind the best a statement adds nothing to the worth of a procedure
EACH_SIDE = 2  # statements for each side of a comparison
MOST_COLUMNS = 12  # of a row, that are looked at for the sides of a comparison
MOST_COMPARED = 8  # rows of a table that has both sides of a comparison as columns
SIDE = 4.0  # what the words of its side are worth to a passage of a comparison
BUDGET: dict[answer_type.Wanted, int] = {"fact": 70, "definition": 70, "comparison": 140, "list": 150, "steps": 180}
STYLED = {"concise": 1.0, "detailed": 2.0, "bullet": 1.5}  # times the budget
MOST: dict[answer_type.Wanted, int] = {"fact": 4, "definition": 3, "comparison": 2, "list": 8, "steps": 10}
REST_OF_LIST = 1.5  # times the budget: where a procedure may hold the rest of the lists that it begins and ends in
LEAD_WORDS = 60  # a longer introduction is not quoted with its item
YEAR = re.compile(r"(?<![\d.,/-])(?:19|20)\d\d(?![\d/])")
# What a page does is no step of it: "This guide explains how to open an account."
_ANNOUNCES = re.compile(
    r"(?:this|the following|here) (?:\w+ ){0,2}?(?:page|section|guide|document|chapter|tutorial|article|handbook|"
    r"manual|sop|protocol|procedure|policy|checklist) (?:explains?|describes?|shows?|covers?|outlines?|tells?|walks?|"
    r"provides?|gives?|contains?|lists?|defines?|sets? out|is (?:about|for))\b",
    re.I,
)
OPENING = 4  # statements of an overview

Quotes = list[tuple[int, str]]  # (source, text) in the order in which they are said


def choose(
    question: str, candidates: Sequence[Candidate], texts: dict[int, str], style: str, guarded: bool = False
) -> Quotes:
    """What to say, of candidates in the order of their scores. `texts` are those of the sources, by number. A guarded
    answer states rules: it quotes no procedure."""
    candidates = _of_the_named_row(question, candidates)
    kind = "fact" if guarded or named_row(question, candidates[0]) else answer_type.kind(question)
    budget = round(BUDGET[kind] * STYLED[style])
    if intent.overview(question):
        chosen = _apart(question, candidates, budget * 2, OPENING)
    elif kind == "comparison":
        chosen = _sides(question, candidates, budget)
    elif kind == "steps":
        return _passage(candidates, texts, budget)
    elif kind in ("list", "definition") and (whole := _whole(candidates, texts, budget)):
        return whole
    else:
        chosen = _apart(question, _of_the_year(question, candidates), budget, MOST[kind] + (style != "concise"))
    first = chosen[0]
    return list(quotes(sorted(chosen, key=lambda c: (c.n != first.n, c.n, c.at)), texts, budget))


def _of_the_named_row(question: str, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """With the best row of a table first that has all words of the question that the best candidate, a row of it, has,
    and more: "Hong Kong Airlines" before another airline of Hong Kong."""
    best = candidates[0]
    if best.unit.kind != "row":
        return candidates
    asked = folded_stems(" ".join(content_words(question)))
    table = {
        id(one): asked & _of_values(one) for one in candidates if (one.n, one.unit.whole) == (best.n, best.unit.whole)
    }
    more = (one for one in candidates if table.get(id(one), frozenset()) > table[id(best)])
    first = next((one for one in more if one.score >= best.score - BESIDE), best)
    if first is best:
        return candidates
    says = table[id(first)]
    return [first, *(one for one in candidates if one is not first and not table.get(id(one), says) < says)]


def _of_values(row: Candidate) -> frozenset[str]:
    """The stems of what stands in the cells of a row, without the headings."""
    return folded_stems(" ".join(value for _, value in quantities.cells(row.text)))


def _of_the_year(question: str, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """Without those that name other years only, where the best candidate names the year of the question."""
    years = {*YEAR.findall(question)}
    if not years & {*YEAR.findall(candidates[0].text)}:
        return candidates
    return [one for one in candidates if not (of := {*YEAR.findall(one.text)}) or of & years]


def _apart(question: str, candidates: Sequence[Candidate], budget: int, most: int) -> list[Candidate]:
    """The best, then those at most BESIDE behind it that add something. A further row must have every word of the
    question that the best row has."""
    best = candidates[0]
    chosen = [best]
    used = _words(best)
    required = folded_stems(" ".join(content_words(question))) & best.stems if best.unit.kind == "row" else frozenset()
    for candidate in candidates[1:]:
        if len(chosen) == most or candidate.score < best.score - BESIDE:
            break
        if candidate.unit.kind == "row" and not required <= candidate.stems:
            continue
        fits = used + _words(candidate) <= budget
        if fits and not any(_repeats(candidate, earlier) for earlier in chosen):
            chosen.append(candidate)
            used += _words(candidate)
    return chosen


def _whole(candidates: Sequence[Candidate], texts: dict[int, str], budget: int) -> Quotes:
    """The list or table in which the best stands: as it is, or the best of its parts in their order."""
    best = candidates[0]
    if best.unit.whole is None:
        return []
    start, end = best.unit.whole
    text = texts[best.n]
    if len(text[start:end].split()) <= budget and best.unit.kind != "row":
        return [(best.n, _quoted(text, start, end))]
    parts = [c for c in candidates if c.n == best.n and c.unit.whole == best.unit.whole]
    chosen: list[Candidate] = []
    used = 0
    for part in parts:
        if used + _words(part) > budget and chosen:
            break
        if best.unit.kind != "row" or part.score >= best.score - BESIDE:
            chosen.append(part)
            used += _words(part)
    return list(quotes(sorted(chosen, key=lambda c: c.at), texts, budget))


def _passage(candidates: Sequence[Candidate], texts: dict[int, str], budget: int) -> Quotes:
    """What stands under the heading where most answers, as it stands: whole where `budget` words allow, else the
    stretch that holds the best of it."""
    candidates = [one for one in candidates if not _ANNOUNCES.match(one.text)] or candidates
    groups: dict[tuple[int, tuple[str, ...]], list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault((candidate.n, candidate.unit.headings), []).append(candidate)
    best = sorted(max(groups.values(), key=_worth), key=lambda c: c.at)
    text = texts[best[0].n]

    def length(first: int, last: int) -> int:
        return len(text[_begin(text, best[first]) : best[last].unit.end].split())

    least = max(c.score for c in best) - FAR
    top, first, last = -math.inf, 0, 0
    for begin in range(len(best)):
        sum_ = 0.0
        for end in range(begin, len(best)):
            if end > begin and length(begin, end) > budget:
                break
            sum_ += best[end].score - least
            if sum_ > top:
                top, first, last = sum_, begin, end
    while last + 1 < len(best) and length(first, last + 1) <= budget:
        last += 1
    while first and length(first - 1, last) <= budget:
        first -= 1
    begin, end = first, last
    while end + 1 < len(best) and best[end + 1].unit.whole == best[last].unit.whole is not None:
        end += 1
    if length(first, end) <= budget * REST_OF_LIST:
        last = end
    while begin and best[begin - 1].unit.whole == best[first].unit.whole is not None:
        begin -= 1
    if length(begin, last) <= budget * REST_OF_LIST:
        first = begin
    return [(best[first].n, _quoted(text, _begin(text, best[first]), best[last].unit.end))]


def _worth(group: Iterable[Candidate]) -> float:
    """Of what stands under one heading: the mean of the best three, so that one sentence alone is no procedure."""
    top = sorted((c.score for c in group), reverse=True)[:3]
    return sum([*top, *[top[-1] - 1] * (3 - len(top))]) / 3


def _begin(text: str, candidate: Candidate) -> int:
    """Where a quote begins whose first unit this is: at its introduction, where that stands right above."""
    unit = candidate.unit
    if unit.lead and len(text[slice(*unit.lead)].split()) <= LEAD_WORDS:
        between = text[unit.lead[1] : unit.start]
        if between.count("\n") <= 2 or _is_fence(between):
            return unit.lead[0]
    return text.rfind("\n", 0, unit.start) + 1 if unit.kind == "item" else unit.start


def _sides(question: str, candidates: Sequence[Candidate], budget: int) -> list[Candidate]:
    """For each of the two things compared the best that name it; what names both is quoted once."""
    chosen: list[Candidate] = []
    named = answer_type.sides(question) or ("", "")
    left, right = (folded_stems(side) for side in named)
    if rows := _columns(left - right, right - left, candidates):
        return rows[:MOST_COMPARED]
    for name, own, others in ((named[0], left - right, right - left), (named[1], right - left, left - right)):
        used = 0
        for candidate in sorted(candidates, key=_of_side(name, own, others), reverse=True)[:EACH_SIDE]:
            used += _words(candidate)
            new = not any(_numbers(one) == _numbers(candidate) and _repeats(candidate, one) for one in chosen)
            if used <= budget // 2 and new:
                chosen.append(candidate)
    return chosen or [candidates[0]]


def _columns(left: frozenset[str], right: frozenset[str], candidates: Sequence[Candidate]) -> list[Candidate]:
    """The rows, best first, of the table that has both things compared as columns; [] where none has."""
    for candidate in candidates:
        row = quantities.cells(candidate.text)[:MOST_COLUMNS] if candidate.unit.kind == "row" else ()
        pairs = permutations([folded_stems(heading) for heading, _ in row], 2)
        if any(_names(one - other, left, right) and _names(other - one, right, left) for one, other in pairs):
            table = (candidate.n, candidate.unit.whole)
            return [one for one in candidates if (one.n, one.unit.whole) == table and one.unit.kind == "row"]
    return []


def _names(heading: frozenset[str], side: frozenset[str], other: frozenset[str]) -> bool:
    """Whether what a heading has of its own is what a side has of its own, by half, and nothing of the other side's."""
    least = min(len(heading), len(side))
    return least > 0 and 2 * len(heading & side) >= least and not heading & other


def _of_side(name: str, own: frozenset[str], others: frozenset[str]) -> Callable[[Candidate], float]:
    """What a candidate is worth to one side, which has its `own` words. A heading that names both counts for none."""
    defined = defines(name)

    def worth(candidate: Candidate) -> float:
        above = folded_stems(candidate.path)
        about = candidate.stems | (frozenset() if above & others else above)
        side_bonus = SIDE * len(about & own) / max(1, len(own))
        if above & others and not above & own:
            side_bonus -= SIDE * len(above & others) / len(others)
        return candidate.score + side_bonus + (DEFINES if defined and defined.search(candidate.text) else 0.0)

    return worth


def quotes(chosen: Sequence[Candidate], texts: dict[int, str], budget: int) -> Iterator[tuple[int, str]]:
    """Each with its introduction, which is quoted once. A short list is quoted whole: its items explain each other."""
    lists: set[tuple[int, Range]] = set()
    emitted: list[str] = []  # passages overlap and files are copied: a lead may stand in what was said from another one

    def emit(n: int, quote: str) -> tuple[int, str]:
        emitted.append(quote)
        return n, quote

    for candidate in chosen:
        text, unit, n = texts[candidate.n], candidate.unit, candidate.n
        if unit.whole and (n, unit.whole) in lists:
            continue
        if unit.whole and unit.kind == "item" and len(text[slice(*unit.whole)].split()) <= budget * 4 // 3:
            lists.add((n, unit.whole))
            yield emit(n, _quoted(text, *unit.whole))
            continue
        lead = _quoted(text, *unit.lead) if unit.lead else ""
        if unit.lead and len(lead.split()) <= LEAD_WORDS and not any(lead in quote for quote in emitted):
            if _is_fence(text[unit.lead[1] : unit.start]):
                yield emit(n, _quoted(text, unit.lead[0], unit.end))
                continue
            yield emit(n, lead)
        yield emit(n, _quoted(text, unit.start, unit.end))


def _quoted(text: str, start: int, end: int) -> str:
    """As it stands; an item alone without its mark."""
    quote = quoted(text, start, end)
    return without_item(quote) if sum(map(bool, map(ITEM.match, quote.split("\n")))) == 1 else dedent(quote).strip()


def _is_fence(between: str) -> bool:
    """Whether there is nothing but the space or the fence between two things."""
    return not between.strip("` \n")


def _words(candidate: Candidate) -> int:
    return len(candidate.text.split())


def _repeats(a: Candidate, b: Candidate) -> bool:
    """Whether one says what the other says: most words shared, or one within the other."""
    shared = len(a.stems & b.stems)
    return shared >= 0.7 * len(a.stems | b.stems) or a.text in b.text or b.text in a.text


def _numbers(candidate: Candidate) -> set[str]:
    return {*re.findall(r"\d+(?:[.,]\d+)*", candidate.text)}
