"""Answers from all of a list or table: what is listed, how many, which of them fit, the highest, the sum.

Of the lists of the evidence one is chosen by what it says of itself (title, headings, lead, columns) and by how its
entries answer; then a small plan runs over its entries. Every entry that counts is quoted as it stands.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from graph.extractive import sections
from graph.extractive.candidates import Candidate
from graph.extractive.conditions import added, fulfilling, has_value, lead_of, name_stems, named_values, stems
from graph.extractive.enumerations import Entry, Enumeration, document_of, enumerations
from graph.extractive.reader import Reader
from graph.extractive.sections import SourcedTexts
from graph.knowledge.index import content_words
from graph.knowledge.mentions import MENTIONED
from graph.policy.answer import counted
from graph.policy.answer.schemas import MOST_CHARS, MOST_SENTENCES, MOST_SOURCES
from graph.policy.question import answer_type
from graph.policy.question.answer_type import GREATEST, SMALLEST, All, all_of, plain, stated
from graph.policy.text import lexical
from graph.policy.text.quantities import dates, quantity
from graph.policy.text.sentences import split
from graph.policy.text.structure import quoted

# Rounded by hand from a listwise fit on 78 questions over seven collections (evals/datasets/whole.jsonl and
# whole_more.jsonl), of which it chooses the right one in 64 of 80.
WEIGHTS = {
    "read": 0.4, "cover": 6.5, "inside": 0.15, "noun": 1.1, "only": 1.0, "measures": 3.3, "size": 1.9, "values": 1.0,
}  # fmt: skip
# The chance that the list of the largest weight is the one that is asked about, logistic in its weight and in how much
# it weighs more than the next one. `python -m evals.training.lists` fits it anew and prints these figures (n = 107, AUC
# .81 on a collection left out; the weight alone .77).
WEIGHT, LEAD, MOST_LEAD, BIAS = 0.23, 0.73, 5.0, -2.65
SURE_FROM = 0.6  # 48 of 64 right lists are taken, 9 of 43 wrong ones
TAKEN_FROM = 0.35  # 55 and 19; where no sentence answers, and the answer says that it may be a part
FAR = -6.0  # behind the best passage, in what they are ranked by: a list that nothing else speaks for is not counted
READS = 2.0  # log-odds of a sentence that answers, from the reader
STATED_FROM = 0.75  # from which entries are counted though a sentence states a number
ALIKE = 0.6
MOSTLY_CALLED = 0.6  # of the headings that are called as what is asked for
SHOWN = 8  # entries that are read with the question
SHARED = 0.7  # of the sections under a heading, in which a word counts as that of a column
MOST_WORDS = 600  # of all entries together; a longer list is said by the first lines of its entries
BEGINNING = (2, 3, 4)  # cells of a row by which it is counted where whole rows are too long
MOST_OF_CUT = 10  # rows beside the number of all that fit
MOST_ENTRIES = MOST_SENTENCES - 1  # and what introduces them
_HOW_MANY = re.compile(r"\bhow many\b", re.I)
_ANYTHING = {*lexical.stems("items things elements points entries kinds types sorts ones parts options rows")}
_HEADINGS = {*lexical.stems("sections subsections headings chapters topics")}
_NOUN = re.compile(
    r"\b(?:which|what|list|how many|number of|count of|name|show|give|are the)\b"
    r"(?: (?:me|us|all|of|the|are|were|is|our|my|their|your|other|every|each|different|main))*"
    r" (.+?)(?= (?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|in|on|at|of|for|to"
    r"|from|that|which|with|need|needs|i|we|you|they|came|not|it|there|under|by|a|an|the|no|any)\b|[?.,;:]|$)",
    re.I,
)
_DONE = re.compile(r"((?:\S+ )*?[\w-]+[^\Wsui]s) \w+(?:ed|ent|ot)\b", re.I)
_LIST_OF = re.compile(r"\W*(?:[\d.]+ )?(?:full |complete )?(?:list|table|overview) of (?:the |all |our )?(.+)", re.I)
_MOST = re.compile(rf"\b(?:{GREATEST}|greatest|maximum|heaviest)\b", re.I)
_FEWEST = re.compile(rf"\b(?:{SMALLEST}|first|minimum|youngest|lightest)\b", re.I)
_KINDS = {
    "date": re.compile(r"\b(?:expires?|expiry|earliest|latest|newest|oldest|last|date|due|recent\w*|first)\b", re.I),
    "money": re.compile(r"\b(?:expensive|cheap\w*|costs?|prices?|spend\w*|budget|paid|pay|worth|value)\b", re.I),
    "time": re.compile(r"\b(?:longest|shortest|duration|takes?|time|slowest|fastest)\b", re.I),
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    **dict.fromkeys(("above", "over", "more than", "greater than", "higher than", "longer than", "after"), gt),
    **dict.fromkeys(("at least", "from", "since"), ge),
    **dict.fromkeys(("below", "under", "less than", "fewer than", "lower than", "shorter than", "before"), lt),
    **dict.fromkeys(("at most", "up to", "until"), le),
}
_BOUND = re.compile(
    rf"\b(?P<how>{'|'.join(_COMPARISONS)}) (?P<limit>[$€£¥]?\d[^?;]{{0,30}}|[a-z]+ \d{{1,2}},? \d{{4}})", re.I
)
_SERIES = re.compile(r"(?:[^,;:.]{1,60}[,;] ){2,}(?:(?:and|or) )?[^,;:.]{1,60}\.?$")
_EVERY_STEP = re.compile(r"\b(?:every|each|all (?:of )?the) steps?\b|\bstep by step\b", re.I)
_ALTOGETHER = re.compile(r"\b(?:altogether|in total|the total|totals?|overall|combined|sum)\b", re.I)
_TOTAL_OF = re.compile(r"\W*(?:grand |sub)?(?:totals?|sum|overall)\b", re.I)
_TOTAL = re.compile(r"^(?:[^:]{1,40}: )?\W*(?:grand |sub)?(?:totals?|sum|average|mean|overall)\W*(?:[;:]|$)", re.I)


def answer(
    question: str,
    evidence: Sequence[Mapping[str, Any]],
    candidates: Sequence[Candidate],
    reader: Reader,
    cut: bool = False,
) -> tuple[SourcedTexts, bool]:
    """What to say, nothing where no list or table is the one that is asked about, and whether it surely is that one. Of
    a table that is `cut` nothing is counted."""
    question = plain(question)
    kind = all_of(question)
    if kind == "summary":
        return sections.summary(question, evidence, candidates), True
    if kind is None or (kind == "list" and answer_type.kind(question) == "steps" and not _EVERY_STEP.search(question)):
        return [], True
    if kind == "list" and (stating := _listed_in_words(question, candidates[0])):
        return stating, True
    chosen, chance = choose(question, kind, _of_called(enumerations(evidence), evidence), candidates, reader)
    counts = kind in ("count", "sum")  # which no sentence does
    least = TAKEN_FROM if counts or max(one.read for one in candidates) < READS else SURE_FROM
    if kind == "count" and stated(question, candidates[0].text):
        least = STATED_FROM  # "Visitors: 48,200"
    if chosen is None or chance < least:
        return [], True
    return _statements(question, kind, chosen, evidence, cut), chance >= SURE_FROM


def _listed_in_words(question: str, best: Candidate) -> SourcedTexts:
    """The best sentence where it lists what is asked for: "The core variables are merged: AGE, SEX, and RACE"."""
    lead, _, rest = best.text.partition(": ")
    match, noun = _NOUN.search(question), noun_of(question)
    surely = noun and noun[-1] not in _ANYTHING and best.read >= READS and best.unit.kind == "sentence"
    if match is None or not surely or not _SERIES.match(rest) or not stems(lead) >= {*noun}:
        return []
    # "Number of the gate: 12; 7" is no list of numbers.
    return [([best.n], best.text)] if lexical.words(match[1])[-1] in lexical.words(lead) else []


def _statements(
    question: str, kind: All, chosen: Enumeration, evidence: Sequence[Mapping[str, Any]], cut: bool
) -> SourcedTexts:
    """A count or a sum with what was counted, else the entries that count as they stand."""
    entries = selected(question, kind, chosen)
    if cut and kind in ("count", "sum"):
        return _rows(entries[:MOST_OF_CUT], {item["n"]: item["text"] for item in evidence}, None)
    if kind == "count" and (_column_of(noun_of(question), chosen) or _in_column(question, chosen)):
        kind = "list"  # "How many visitors in 2022?": a row says so
    if kind in ("count", "sum") and not any(map(_total, entries)):
        if not 1 < len(entries) <= counted.MOST:
            return []
        lines = [_line(one) for one in entries]
        text = _sum(question, chosen, entries, lines) if kind == "sum" else ""
        if not text and (kind == "count" or _HOW_MANY.search(question)):
            text = counted.count(lines)
            if len(text) > MOST_CHARS:
                text = counted.count(_beginnings(entries)) or text
        if not text and not (kind == "sum" and chosen.kind == "rows"):
            return []
        if text and len(text) <= MOST_CHARS:
            return [(sorted({one.n for one in entries})[:MOST_SOURCES], text)]
    lead = chosen.lead if len(entries) == len(chosen.entries) else None
    return _rows(entries, {item["n"]: item["text"] for item in evidence}, lead)


def _of_called(lists: list[Enumeration], evidence: Sequence[Mapping[str, Any]]) -> list[Enumeration]:
    """Those of the documents that the question calls ("in Appendix B"), if these have any."""
    called = {document_of(item) for item in evidence if item.get("why") == MENTIONED}
    inside = {item["n"] for item in evidence if document_of(item) in called}
    return [one for one in lists if one.entries[0].n in inside] or lists


_OF_CODES = re.compile(r"\b(?:id|nr|no\.?|code|ref\w*|#)(?!\w)|#", re.I)  # columns of what each row is called by


def _column_of(noun: Sequence[str], enumeration: Enumeration) -> bool:
    """Whether a column of numbers is called as what is counted."""
    named = [name for name in enumeration.headings if noun and noun[-1] in stems(name) and not _OF_CODES.search(name)]
    return any(_measured(name, [entry.value(name) for entry in enumeration.entries]) for name in named)


def _in_column(question: str, enumeration: Enumeration) -> bool:
    """Whether a column of numbers is named as the place or time of what is counted: "How many users in Optum?"."""
    named = [
        name
        for name in enumeration.headings
        if re.search(rf"\b(?:in|for|from|at) (?:the )?{re.escape(name)}\b", question, re.I)
    ]
    return any(_measured(name, [entry.value(name) for entry in enumeration.entries]) for name in named if name)


# -- which list ---------------------------------------------------------------------------------------------


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


def _named_by_kind(question: str, enumeration: Enumeration) -> bool:
    """Whether most of these headings are called as what is asked for, under one that says so, too, and more of the
    question: "Hypothetical strategies", "Composite strategies" under "Strategies for intercurrent events"."""
    noun, above = noun_of(question)[-1:], stems(" ".join(enumeration.path[-1:]))
    if enumeration.kind != "headings" or not noun or noun[0] in _ANYTHING or noun[0] not in above:
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
    return stems(" ".join(_line(entry) for entry in enumeration.entries))


def _alike(left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether two lists have most words in common: one in two documents, or in two formats."""
    return len(left & right) > ALIKE * len(left | right)


def weigh(
    question: str, kind: All, lists: Sequence[Enumeration], candidates: Sequence[Candidate], reader: Reader
) -> list[dict[str, float]]:
    """What WEIGHTS weigh, of each list."""
    topic = _FEWEST.sub(" ", _MOST.sub(" ", question)) if kind == "extreme" else question  # "longest" is no subject
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


def compares(question: str) -> bool:
    """Whether it asks for rows by a number in one of their cells: "more than 50 hours", "since 2024"."""
    return _BOUND.search(question) is not None


def noun_of(question: str) -> list[str]:
    """The stems of what is listed or counted: "Which GCP regions can we use?": gcp, region."""
    return lexical.stems(asked_for(question))


def asked_for(question: str) -> str:
    """What is listed or counted, as the question writes it; "" where it says nothing of the kind."""
    match = _NOUN.search(question)
    if match is None:
        return ""
    counted = _DONE.match(match[1])  # "requests ended up denied"
    return counted[1] if counted else match[1]


def _noun_in(noun: Sequence[str], words: frozenset[str]) -> float:
    """Share of the noun among the words nearest to a list. Its last word counts twice, or half if it means anything."""
    if not noun:
        return 0.0
    weights = [*([1.0] * (len(noun) - 1)), 0.5 if noun[-1] in _ANYTHING else 2.0]
    return sum(weight for word, weight in zip(noun, weights, strict=True) if word in words) / sum(weights)


def _measures(question: str, enumeration: Enumeration) -> bool:
    if enumeration.kind == "headings":
        return _column(question, enumeration, enumeration.entries) is not None
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


# -- which entries ------------------------------------------------------------------------------------------


def selected(question: str, kind: All, chosen: Enumeration) -> list[Entry]:
    """The entries that count, with the sentence below a heading that measures it."""
    entries = [entry for entry in chosen.entries if not _total(entry)] or chosen.entries
    if kind == "sum" and chosen.kind == "rows" and (joined := added(question, chosen, entries)) is not None:
        return joined
    if kind != "extreme" and _ALTOGETHER.search(question) and (totals := [*filter(_total, chosen.entries)]):
        return totals
    given: set[str] = set()  # columns of which the question says the value
    if kind == "extreme":  # "the most cases in analysis 1"
        named = named_values(question, entries, noun_of(question))
        fit = [one for one in entries if all(has_value(one, *columns) for columns in named.items())]
        entries = fit if len(fit) > 1 else entries
        given = {name for columns in named for name in columns}
    bound = _BOUND.search(question)
    limit = quantity(bound["limit"]) if bound else None
    column = _column(question, chosen, entries, given) if kind == "extreme" or limit else None
    if column is None:
        return [] if kind == "extreme" else fulfilling(question, chosen, entries, noun_of(question))
    if kind == "extreme":
        known = [
            v for v, entry in zip(column.values, entries, strict=True) if v is not None and not _sums(v, entry, column)
        ]
        ends = {max(known)} if _MOST.search(question) else set()
        ends |= {min(known)} if _FEWEST.search(question) else set()
        counts = [value in ends for value in column.values]
    else:
        assert bound is not None and limit is not None
        within = _COMPARISONS[bound["how"].casefold()]
        counts = [value is not None and within(value, limit.number) for value in column.values]
    measured = zip(entries, column.statements, counts, strict=True)
    return [part for entry, statement, one in measured if one for part in (entry, statement) if part]


def _total(entry: Entry) -> bool:
    """Whether it is the total of the others: as an item says, or one of the first two cells of a row."""
    return any(_TOTAL.match(text) for text in (entry.text, *(value for _, value in entry.cells[:2])))


def _sums(value: float, entry: Entry, column: "_Column") -> bool:
    """Whether a row that begins with "Total" has as much as all others together: "Total Score", not "Total Station"."""
    if not any(_TOTAL_OF.match(text) for text in (entry.text, *(value for _, value in entry.cells[:2]))):
        return False
    rest = sum(one for one in column.values if one is not None) - value
    return abs(rest - value) <= 0.01 * abs(value)


# -- what is measured ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """What is measured of each entry, and the sentence below a heading that says it."""

    heading: str
    kind: str
    values: list[float | None]
    statements: list[Entry | None]


def _sum(question: str, chosen: Enumeration, entries: Sequence[Entry], lines: Sequence[str]) -> str:
    if chosen.kind != "rows":
        return ""
    column = _column(question, chosen, entries)
    if column is None:  # "airfare plus food": no word for the amounts, of which there is one column
        measured = [_measured(name, [entry.value(name) for entry in entries]) for name in chosen.headings]
        amounts = [one for one in measured if one]
        column = amounts[0] if len(amounts) == 1 else None
    return counted.total(lines, column.heading) if column and column.kind in ("number", "money") else ""


def _column(
    question: str, chosen: Enumeration, entries: Sequence[Entry], given: Set[str] = frozenset()
) -> _Column | None:
    """What the question measures by: the column that it names, or one of the kind it asks for; none that is `given`."""
    question_stems = stems(" ".join(content_words(question)))
    if chosen.kind == "headings":
        return _measured_below(question_stems - {*noun_of(question)}, entries)
    names = [name for name in chosen.headings if name not in given]
    columns = [one for name in names if (one := _measured(name, [entry.value(name) for entry in entries]))]

    def worth(column: _Column) -> tuple[float, bool]:
        names = stems(column.heading)
        meant = 1.0 if (pattern := _KINDS.get(column.kind)) and pattern.search(question) else 0.0
        # "Which crate has the highest value?": crates are numbered, and are not what is compared.
        return 2.0 * len(names & question_stems) / max(1, len(names)) + meant, not names & {*noun_of(question)}

    best = max(columns, key=worth, default=None)
    return best if best is not None and worth(best)[0] > 0.0 else None


def _measured(heading: str, cells: Sequence[str], statements: Sequence[Entry | None] = ()) -> _Column | None:
    """A column where more than half of the cells measure something, all in one way."""
    values = [quantity(cell) for cell in cells]
    kinds = {value.kind for value in values if value}
    if len(kinds) != 1 or sum(value is not None for value in values) * 2 <= len(cells):
        return None
    numbers = [value.number if value else None for value in values]
    return _Column(heading, kinds.pop(), numbers, list(statements) or [None] * len(cells))


def _measured_below(question_stems: frozenset[str], entries: Sequence[Entry]) -> _Column | None:
    """By the sentence below each heading that has most of the words of the question, and a number."""
    statements = [_sentence(question_stems, entry) for entry in entries]
    return _measured("", [one.text if one else "" for one in statements], statements)


def _sentence(question_stems: frozenset[str], entry: Entry) -> Entry | None:
    sentences = [
        Entry(line.n, line.start + start, line.start + end, line.text[start:end])
        for line in entry.below
        for start, end in split(line.text)
    ]
    shared = [(len(question_stems & stems(one.text)), -at) for at, one in enumerate(sentences) if quantity(one.text)]
    most, at = max(shared, default=(0, 0))
    return sentences[-at] if most else None


# -- in words -----------------------------------------------------------------------------------------------


def _rows(entries: Sequence[Entry], texts: dict[int, str], lead: Entry | None) -> SourcedTexts:
    """Entries as they stand; those that follow each other are one quote, with what introduces them."""
    entries = entries[:MOST_ENTRIES]
    long = sum(len(entry.text.split()) for entry in entries) > MOST_WORDS
    quotes: SourcedTexts = []
    run: list[Entry] = []
    for entry in [*entries, None]:
        if run and (entry is None or long or entry.n != run[-1].n or not _next(texts[entry.n], run[-1], entry)):
            quotes.append(([run[0].n], _line(run[0]) if long else _quote(texts[run[0].n], run)))
            run = []
        run += [entry] if entry else []
    if lead is not None and quotes and not long:
        quotes.insert(0, ([lead.n], lead.text))
    return quotes


def _next(text: str, before: Entry, after: Entry) -> bool:
    """Whether there are only marks between two entries."""
    return counted.BETWEEN.fullmatch(text, before.end, after.start) is not None


def _quote(text: str, run: Sequence[Entry]) -> str:
    if len(run) == 1:
        return quoted(text, run[0].start, run[0].end)
    return quoted(text, text.rfind("\n", 0, run[0].start) + 1, run[-1].end).strip()


def _beginnings(entries: Sequence[Entry]) -> list[str]:
    """The first cells of each row as they stand, two of them, or as many more as tell most rows apart."""
    for count in BEGINNING:
        beginnings = [beginning(one, count) for one in entries]
        if 2 * len({*beginnings}) > len(beginnings):
            return beginnings
    return []


def beginning(entry: Entry, count: int) -> str:
    """The first cells of a row as they stand; the line where it has none."""
    line, end = _line(entry), 0
    for _, value in entry.cells[:count]:
        end = line.find(value, end) + len(value)
    return line[:end] if end else line


def _line(entry: Entry) -> str:
    return entry.text.split("\n", 1)[0]
