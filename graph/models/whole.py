"""Answers from all of a list or table: what is listed, how many, which of them fit, the highest, the sum.

Of the lists of the evidence one is chosen by what it says of itself (title, headings, lead, columns) and by how its
entries answer; then a small plan runs over its entries. Every entry that counts is quoted as it stands.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any

import numpy as np

from graph.knowledge.index import content_words
from graph.models import sections
from graph.models.candidates import Candidate
from graph.models.enumerations import Entry, Enumeration, enumerations
from graph.models.reader import Reader
from graph.models.sections import Said
from graph.policy.answer import counted
from graph.policy.answer.schemas import MOST_CHARS, MOST_SENTENCES, MOST_SOURCES
from graph.policy.question import answer_type
from graph.policy.question.answer_type import All, all_of, plain, stated
from graph.policy.text import lexical
from graph.policy.text.quantities import quantity
from graph.policy.text.sentences import split
from graph.policy.text.structure import quoted

# Rounded by hand from a listwise fit on 55 questions over seven collections (evals/datasets/whole.jsonl and
# whole_more.jsonl), of which it chooses the right list for 40; 39 when it learns from others.
WEIGHTS = {"read": 0.4, "cover": 6.5, "inside": 0.15, "noun": 1.1, "only": 1.0, "measures": 3.3, "size": 1.9}
LEAST = 4.0  # of a list's weight, from which it is taken for the one that is asked about
SURE = 6.5  # from which it is, though no single sentence answers; lists of other things weigh up to 6
SHOWN = 8  # entries that are read with the question
SHARED = 0.7  # of the sections under a heading, in which a word counts as that of a column
MOST_WORDS = 600  # of all entries together; a longer list is said by the first lines of its entries
MOST_ENTRIES = MOST_SENTENCES - 1  # and what introduces them
_HOW_MANY = re.compile(r"\bhow many\b", re.I)
_ANYTHING = {*lexical.stems("items things elements points entries kinds types sorts ones parts options rows")}
_NOUN = re.compile(
    r"\b(?:which|what|list|how many|number of|count of|name|show|give|are the)\b"
    r"(?: (?:me|us|all|of|the|are|were|is|our|my|their|your|other|every|each|different|main))*"
    r" (.+?)(?= (?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have|had|in|on|at|of|for|to"
    r"|from|that|which|with|need|needs|i|we|you|they|came|not|it|there|under|by|a|an|the|no|any)\b|[?.,;:]|$)",
    re.I,
)
_MOST = re.compile(
    r"\b(?:highest|largest|biggest|longest|most|latest|last|newest|greatest|maximum|dearest|heaviest)\b", re.I
)
_FEWEST = re.compile(
    r"\b(?:lowest|smallest|shortest|least|fewest|earliest|first|cheapest|minimum|simplest|youngest|lightest|oldest)\b",
    re.I,
)
_KINDS = {
    "date": re.compile(r"\b(?:expires?|expiry|earliest|latest|newest|oldest|last|date|due|recent\w*|first)\b", re.I),
    "money": re.compile(r"\b(?:expensive|cheap\w*|costs?|prices?|spend\w*|budget|paid|pay|worth|value)\b", re.I),
    "time": re.compile(r"\b(?:longest|shortest|duration|takes?|time|slowest|fastest)\b", re.I),
}
_NOT = re.compile(r"\b(?:not|except|without|excluding|other than|apart from)\b((?: [\w'’-]+){1,3})", re.I)
_CONDITION = re.compile(r"^\W*which\b.*\b(?:is|are|was|were|has|have|needs?|requires?|can|must|only)\b", re.I)
_HAS = re.compile(r"(?:yes|y|true|x|✓|✔|✅|☑|\[x\]|done|required|always)\W*", re.I)
_HAS_NOT = re.compile(r"(?:(?:no|n|false|✗|✘|❌|☐|\[ \]|none|never|n/?a|[-–—])\W*)?", re.I)
_LACKS = re.compile(r"\b(?:no|not|without|lacks?|missing|don't|doesn't|haven't|hasn't)\b", re.I)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    **dict.fromkeys(("above", "over", "more than", "greater than", "higher than", "longer than", "after"), gt),
    **dict.fromkeys(("at least", "from", "since"), ge),
    **dict.fromkeys(("below", "under", "less than", "fewer than", "lower than", "shorter than", "before"), lt),
    **dict.fromkeys(("at most", "up to", "until"), le),
}
_BOUND = re.compile(
    rf"\b(?P<how>{'|'.join(_COMPARISONS)}) (?P<limit>[$€£¥]?\d[^?;]{{0,30}}|[a-z]+ \d{{1,2}},? \d{{4}})", re.I
)
_ALTOGETHER = re.compile(r"\b(?:altogether|in total|the total|totals?|overall|combined|sum)\b", re.I)
_TOTAL = re.compile(r"^(?:[^:]{1,40}: )?\W*(?:grand |sub)?(?:totals?|sum|average|mean|overall)\W*(?:[;:]|$)", re.I)


def answer(
    question: str,
    evidence: Sequence[Mapping[str, Any]],
    found: Sequence[Candidate],
    reader: Reader,
    least: float = LEAST,
) -> Said:
    """What to say, or nothing where no list or table is the one that is asked about. `least`: of a list's weight."""
    question = plain(question)
    kind = all_of(question)
    if kind == "summary":
        return sections.summary(question, evidence, found)
    if kind is None or (kind == "list" and answer_type.kind(question) == "steps"):
        return []
    if kind == "count" and stated(question, found[0].text):
        least = max(least, SURE)  # "Visitors: 48,200" needs no counting
    chosen = choose(question, kind, enumerations(evidence), found, reader, least)
    if chosen is None:
        return []
    entries = selected(question, kind, chosen)
    if kind in ("count", "sum") and not any(map(_total, entries)):
        if not 1 < len(entries) <= counted.MOST:
            return []
        lines = [_line(one) for one in entries]
        text = counted.count(lines) if kind == "count" else _sum(question, chosen, entries, lines)
        if not text:
            return []
        if len(text) <= MOST_CHARS:
            return [(sorted({one.n for one in entries})[:MOST_SOURCES], text)]
    lead = chosen.lead if len(entries) == len(chosen.entries) else None
    return _rows(entries, {item["n"]: item["text"] for item in evidence}, lead)


# -- which list ---------------------------------------------------------------------------------------------


def choose(
    question: str, kind: All, lists: Sequence[Enumeration], found: Sequence[Candidate], reader: Reader, least: float
) -> Enumeration | None:
    """The list that is asked about; None where none is near enough."""
    if not lists:
        return None
    weighed = weigh(question, kind, lists, found, reader)
    weights = [sum(WEIGHTS[name] * value for name, value in one.items()) for one in weighed]
    best = int(np.argmax(weights))
    return lists[best] if weights[best] >= least else None


def weigh(
    question: str, kind: All, lists: Sequence[Enumeration], found: Sequence[Candidate], reader: Reader
) -> list[dict[str, float]]:
    """What WEIGHTS weigh, of each list."""
    wanted, noun = _stems(" ".join(content_words(question))), noun_of(question)
    columns = [[*one.headings, *_shared(one)] for one in lists]
    near = [_stems(" ".join([*one.path[-1:], _lead(one), *names])) for one, names in zip(lists, columns, strict=True)]
    about = [words | _stems(" ".join([*one.path[:1], *one.path[-2:]])) for one, words in zip(lists, near, strict=True)]
    rarity = {word: math.log(1 + len(lists) / (1 + sum(word in bag for bag in about))) for word in wanted}
    total = sum(rarity.values()) or 1.0
    # What would answer "which" is read for "how many": the reader looks for a number that nobody wrote.
    read = reader.scores(_HOW_MANY.sub("which", question), [(_name(one), _shown(one)) for one in lists])
    top, least = max(c.score for c in found), min(c.score for c in found)
    weighed = []
    for one, bag, words, value in zip(lists, about, near, read, strict=True):
        inside = max((c.score for c in found if _holds(one, c)), default=least) - top
        weighed.append(
            {
                "read": float(value),
                "cover": sum(rarity[word] for word in wanted & bag) / total,
                "inside": max(inside, -8.0),
                "noun": _noun_in(noun, words),
                "only": len(words & wanted) / max(1, len(words)),
                "measures": float(kind in ("extreme", "sum") and _measures(question, one)),
                "size": math.log(min(len(one.entries), 12) / 2),
            }
        )
    return weighed


def noun_of(question: str) -> list[str]:
    """The stems of what is listed or counted: "Which GCP regions can we use?": gcp, region."""
    match = _NOUN.search(question)
    return lexical.stems(match[1]) if match else []


def _noun_in(noun: Sequence[str], words: frozenset[str]) -> float:
    """Share of the noun among the words nearest to a list; its last word counts twice, unless it is of any thing."""
    if not noun:
        return 0.0
    weights = [*([1.0] * (len(noun) - 1)), 0.5 if noun[-1] in _ANYTHING else 2.0]
    return sum(weight for word, weight in zip(noun, weights, strict=True) if word in words) / sum(weights)


def _measures(question: str, one: Enumeration) -> bool:
    return one.kind == "rows" or (one.kind == "headings" and _column(question, one, one.entries) is not None)


def _shared(one: Enumeration) -> list[str]:
    """The words below most of its headings: what each section says, as a column does of each row."""
    if one.kind != "headings" or len(one.entries) < 3:
        return []
    below = [{word for line in entry.below for word in lexical.words(line.text)} for entry in one.entries]
    times = Counter(word for words in below for word in words)
    return [word for word, count in times.items() if count > SHARED * len(below)]


def _lead(one: Enumeration) -> str:
    return one.lead.text if one.lead else ""


def _name(one: Enumeration) -> str:
    return " - ".join(dict.fromkeys([*one.path[:1], *one.path[-1:]]))


def _shown(one: Enumeration) -> str:
    return f"{_lead(one)} {'; '.join(entry.text[:80] for entry in one.entries[:SHOWN])}".strip()


def _holds(one: Enumeration, candidate: Candidate) -> bool:
    return any(entry.n == candidate.n and entry.start <= candidate.at < entry.end for entry in one.entries)


def _stems(text: str) -> frozenset[str]:
    return frozenset(lexical.stems(text))


# -- which entries ------------------------------------------------------------------------------------------


def selected(question: str, kind: All, chosen: Enumeration) -> list[Entry]:
    """The entries that count, with the sentence below a heading that measures it."""
    if kind != "extreme" and _ALTOGETHER.search(question) and (totals := [*filter(_total, chosen.entries)]):
        return totals
    entries = [entry for entry in chosen.entries if not _total(entry)] or chosen.entries
    bound = _BOUND.search(question)
    limit = quantity(bound["limit"]) if bound else None
    column = _column(question, chosen, entries) if kind == "extreme" or limit else None
    if column is None:
        return [] if kind == "extreme" else fitting(question, chosen, entries)
    if kind == "extreme":
        known = [value for value in column.values if value is not None]
        ends = {max(known)} if _MOST.search(question) else set()
        ends |= {min(known)} if _FEWEST.search(question) else set()
        counts = [value in ends for value in column.values]
    else:
        assert bound is not None and limit is not None
        within = _COMPARISONS[bound["how"].casefold()]
        counts = [value is not None and within(value, limit.number) for value in column.values]
    measured = zip(entries, column.said, counts, strict=True)
    return [part for entry, said, one in measured if one for part in ((entry, said) if said else (entry,))]


def fitting(question: str, chosen: Enumeration, entries: Sequence[Entry]) -> list[Entry]:
    """Those of the entries that fulfil what the question says beyond what the list is; all where it says nothing of the
    kind."""
    if chosen.kind == "items" and not _CONDITION.search(question):
        return [*entries]
    asked = _stems(question)
    refused = _stems(" ".join(match[1] for match in _NOT.finditer(question)))
    about = _stems(" ".join([*chosen.path[:1], *chosen.path[-2:], _lead(chosen), *chosen.headings]))
    beyond = _stems(" ".join(content_words(question))) - about - {*noun_of(question)[-1:]}
    says = [_telling(entry, asked) for entry in entries]
    telling = {word for word in beyond if 0 < sum(word in one for one in says) < len(entries)}
    if chosen.kind != "rows":
        telling = {word for word in telling if word[0].isdigit() or len(word) > 4}
    wanted = telling - refused
    if chosen.kind == "rows" and not wanted:
        return _having(question, chosen, entries, refused)
    most = max(len(one & wanted) for one in says)
    fits = [len(one & wanted) == most and not one & refused & telling for one in says]
    return [entry for entry, one in zip(entries, fits, strict=True) if one]


def _having(question: str, chosen: Enumeration, entries: Sequence[Entry], refused: frozenset[str]) -> list[Entry]:
    """Of the rows those that have what a column is of ("have a charter", "is delegated"): where the question names one
    whose cells say yes or no, or are empty in some rows; else all."""
    asked = _stems(question) - _stems(" ".join(chosen.path))
    for name in chosen.headings:
        words = _stems(name)
        if not words or not words <= asked or words <= {*noun_of(question)}:
            continue
        has = [_HAS_NOT.fullmatch(entry.value(name)) is None for entry in entries]
        said = [entry.value(name) for entry, yes in zip(entries, has, strict=True) if yes]
        if any(has) and not all(has) and (all(map(_HAS.fullmatch, said)) or not all(e.value(name) for e in entries)):
            wanted = not words & refused and not _LACKS.search(question)
            return [entry for entry, yes in zip(entries, has, strict=True) if yes == wanted]
    return [*entries]


def _telling(entry: Entry, asked: frozenset[str]) -> frozenset[str]:
    """The words by which an entry is told from others: of the columns that the question names, where it names any."""
    if entry.cells:
        named = [value for name, value in entry.cells if name and _stems(name) <= asked]
        return _stems(" ".join(named or [value for _, value in entry.cells]))
    return _stems(" ".join([entry.text, *(line.text for line in entry.below)]))


def _total(entry: Entry) -> bool:
    return _TOTAL.match(entry.text) is not None


# -- what is measured ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """What is measured of each entry, and the sentence below a heading that says it."""

    heading: str
    kind: str
    values: list[float | None]
    said: list[Entry | None]


def _sum(question: str, chosen: Enumeration, entries: Sequence[Entry], lines: Sequence[str]) -> str:
    column = _column(question, chosen, entries) if chosen.kind == "rows" else None
    return counted.total(lines, column.heading) if column and column.kind in ("number", "money") else ""


def _column(question: str, chosen: Enumeration, entries: Sequence[Entry]) -> _Column | None:
    """What the question measures by: the column that it names, or one of the kind it asks for."""
    asked = _stems(" ".join(content_words(question)))
    if chosen.kind == "headings":
        return _measured_below(asked - {*noun_of(question)}, entries)
    columns = [one for name in chosen.headings if (one := _measured(name, [entry.value(name) for entry in entries]))]

    def worth(column: _Column) -> float:
        names = _stems(column.heading)
        meant = 1.0 if (pattern := _KINDS.get(column.kind)) and pattern.search(question) else 0.0
        return 2.0 * len(names & asked) / max(1, len(names)) + meant

    best = max(columns, key=worth, default=None)
    return best if best is not None and worth(best) > 0.0 else None


def _measured(heading: str, cells: Sequence[str], said: Sequence[Entry | None] = ()) -> _Column | None:
    """A column where more than half of the cells measure something, all in one way."""
    values = [quantity(cell) for cell in cells]
    kinds = {value.kind for value in values if value}
    if len(kinds) != 1 or sum(value is not None for value in values) * 2 <= len(cells):
        return None
    numbers = [value.number if value else None for value in values]
    return _Column(heading, kinds.pop(), numbers, list(said) or [None] * len(cells))


def _measured_below(asked: frozenset[str], entries: Sequence[Entry]) -> _Column | None:
    """By the sentence below each heading that has most of the words of the question, and a number."""
    said = [_sentence(asked, entry) for entry in entries]
    return _measured("", [one.text if one else "" for one in said], said)


def _sentence(asked: frozenset[str], entry: Entry) -> Entry | None:
    sentences = [
        Entry(line.n, line.start + start, line.start + end, line.text[start:end])
        for line in entry.below
        for start, end in split(line.text)
    ]
    shared = [(len(asked & _stems(one.text)), -at) for at, one in enumerate(sentences) if quantity(one.text)]
    most, at = max(shared, default=(0, 0))
    return sentences[-at] if most else None


# -- in words -----------------------------------------------------------------------------------------------


def _rows(entries: Sequence[Entry], texts: dict[int, str], lead: Entry | None) -> Said:
    """Entries as they stand; those that follow each other are one quote, with what introduces them."""
    entries = entries[:MOST_ENTRIES]
    long = sum(len(entry.text.split()) for entry in entries) > MOST_WORDS
    said: Said = []
    run: list[Entry] = []
    for entry in [*entries, None]:
        if run and (entry is None or long or entry.n != run[-1].n or not _next(texts[entry.n], run[-1], entry)):
            said.append(([run[0].n], _line(run[0]) if long else _quote(texts[run[0].n], run)))
            run = []
        run += [entry] if entry else []
    if lead is not None and said and not long:
        said.insert(0, ([lead.n], lead.text))
    return said


def _next(text: str, one: Entry, other: Entry) -> bool:
    """Whether there are only marks between two entries."""
    return counted.BETWEEN.fullmatch(text, one.end, other.start) is not None


def _quote(text: str, run: Sequence[Entry]) -> str:
    if len(run) == 1:
        return quoted(text, run[0].start, run[0].end)
    return quoted(text, text.rfind("\n", 0, run[0].start) + 1, run[-1].end).strip()


def _line(entry: Entry) -> str:
    return entry.text.split("\n", 1)[0]
