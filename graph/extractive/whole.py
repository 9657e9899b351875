"""Answers from all of a list or table: what is listed, how many, which of them fit, the highest, the sum.

Of the lists of the evidence one is chosen by what it says of itself (title, headings, lead, columns) and by how its
entries answer; then a small plan runs over its entries. Every entry that counts is quoted as it stands.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from operator import ge, gt, le, lt
from typing import Any

from graph.extractive import sections
from graph.extractive.candidates import Candidate
from graph.extractive.conditions import added, fulfilling, has_value, named_values, stems
from graph.extractive.enumerations import Entry, Enumeration, document_of, enumerations
from graph.extractive.list_choice import ANYTHING, SURE_FROM, choose
from graph.extractive.measures import Column, column_of, measured
from graph.extractive.nouns import FEWEST, MOST, asked_for, noun_of
from graph.extractive.reader import Reader
from graph.extractive.sections import SourcedTexts
from graph.knowledge.mentions import MENTIONED
from graph.policy.answer import counted
from graph.policy.answer.schemas import MOST_CHARS, MOST_SENTENCES, MOST_SOURCES
from graph.policy.question import answer_type
from graph.policy.question.answer_type import All, all_of, plain, stated
from graph.policy.text import lexical
from graph.policy.text.quantities import largest_sum, quantity
from graph.policy.text.structure import quoted

TAKEN_FROM = 0.35  # 55 and 19; where no sentence answers, and the answer says that it may be a part
READS = 2.0  # log-odds of a sentence that answers, from the reader
STATED_FROM = 0.75  # from which entries are counted though a sentence states a number
MOST_WORDS = 600  # of all entries together; a longer list is said by the first lines of its entries
BEGINNING = (2, 3, 4)  # cells of a row by which it is counted where whole rows are too long
MOST_OF_CUT = 10  # rows beside the number of all that fit
MOST_ENTRIES = MOST_SENTENCES - 1  # and what introduces them
_HOW_MANY = re.compile(r"\bhow many\b", re.I)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    **dict.fromkeys(("above", "over", "more than", "greater than", "higher than", "longer than", "after"), gt),
    **dict.fromkeys(("at least", "from", "since"), ge),
    **dict.fromkeys(("below", "under", "less than", "fewer than", "lower than", "shorter than", "before"), lt),
    **dict.fromkeys(("at most", "up to", "until"), le),
}
_BOUND = re.compile(
    rf"\b(?P<how>{'|'.join(_COMPARISONS)}) (?P<limit>[$€£¥]?\d[^?;]{{0,30}}|[a-z]+ \d{{1,2}},? \d{{4}})", re.I
)
_FROM_HERE = re.compile(  # "52 weeks or more", "52+ weeks", "100 or fewer"
    r"(?P<limit>[$€£¥]?\d[\d,.]*(?: ?[a-z]+)?),? ?(?:\+(?P<unit> ?[a-z]+)?|\b(?:or|and) (?P<how>more|over|above|longer|"
    r"higher|greater|later|older|up|less|fewer|below|under|shorter|lower|earlier|younger)\b)",
    re.I,
)
_DOWN = re.compile(r"less|fewer|below|under|shorter|lower|earlier|younger", re.I)
_YEARS = range(1900, 2100)
_BARE = re.compile(r"[$€£¥]?\d[\d,]*(?:\.\d+)?")
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
    sentence = max(one.read for one in candidates) >= READS
    shown = kind == "list" and chosen is not None and _of_list(candidates[0], chosen)  # a part of it would be quoted
    least = SURE_FROM if sentence and not counts and not shown else TAKEN_FROM
    if kind == "count" and stated(question, candidates[0].text):
        least = STATED_FROM  # "Visitors: 48,200"
    if chosen is None or chance < least:
        return [], True
    if kind == "list" and answer_type.kind(question) == "steps" and not _all_of(question, chosen):
        return [], True  # some rows or items by a word in them are no procedure
    statements = _statements(question, kind, chosen, evidence, cut)
    if kind == "list" and chosen.kind == "headings" and len(statements) == 1 and "\n" not in statements[0][1]:
        return [], True  # one heading of several, by a word in it, is no list
    return statements, chance >= SURE_FROM


def _all_of(question: str, chosen: Enumeration) -> bool:
    return len(selected(question, "list", chosen)) == len(chosen.entries)


def _of_list(best: Candidate, chosen: Enumeration) -> bool:
    """Whether the best passage is an entry of a list, or what introduces it."""
    places = [*chosen.entries, *([chosen.lead] if chosen.lead else [])]
    return any(one.n == best.n and one.start < best.unit.end and best.unit.start < one.end for one in places)


def _listed_in_words(question: str, best: Candidate) -> SourcedTexts:
    """The best sentence where it lists what is asked for: "The core variables are merged: AGE, SEX, and RACE"."""
    lead, _, rest = best.text.partition(": ")
    asked, noun = asked_for(question), noun_of(question)
    surely = noun and noun[-1] not in ANYTHING and best.read >= READS and best.unit.kind == "sentence"
    if not asked or not surely or not _SERIES.match(rest) or not stems(lead) >= {*noun}:
        return []
    # "Number of the gate: 12; 7" is no list of numbers.
    return [([best.n], best.text)] if lexical.words(asked)[-1] in lexical.words(lead) else []


def _statements(
    question: str, kind: All, chosen: Enumeration, evidence: Sequence[Mapping[str, Any]], cut: bool
) -> SourcedTexts:
    """A count or a sum with what was counted, else the entries that count as they stand."""
    entries = selected(question, kind, chosen)
    if cut and kind in ("count", "sum"):
        return _rows(entries[:MOST_OF_CUT], {item["n"]: item["text"] for item in evidence}, None)
    if kind == "count" and (_column_of(noun_of(question), chosen) or _incolumn_of(question, chosen)):
        kind = "list"  # "How many visitors in 2022?": a row says so
    if kind in ("count", "sum") and not any(map(_total, entries)):
        if not 1 < len(entries) <= counted.MOST:
            return []
        lines = [one.first_line for one in entries]
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
    return any(measured(name, [entry.value(name) for entry in enumeration.entries]) for name in named)


def _incolumn_of(question: str, enumeration: Enumeration) -> bool:
    """Whether a column of numbers is named as the place or time of what is counted: "How many users in Optum?"."""
    named = [
        name
        for name in enumeration.headings
        if re.search(rf"\b(?:in|for|from|at) (?:the )?{re.escape(name)}\b", question, re.I)
    ]
    return any(measured(name, [entry.value(name) for entry in enumeration.entries]) for name in named if name)


def compares(question: str) -> bool:
    """Whether it asks for rows by a number in one of their cells: "more than 50 hours", "since 2024"."""
    return _bound(question) is not None


def _bound(question: str) -> tuple[Callable[[float, float], bool], str] | None:
    """The comparison that a question makes with an amount, and that amount as it stands."""
    if bound := _BOUND.search(question):
        return _COMPARISONS[bound["how"].casefold()], bound["limit"]
    if bound := _FROM_HERE.search(question):
        return (le if bound["how"] and _DOWN.match(bound["how"]) else ge), bound["limit"] + (bound["unit"] or "")
    return None


def _comparable(within: Callable[[float, float], bool], limit: str, column: Column) -> float | None:
    """The number to compare the values of a column with: "100 hours" is 100 of a column "Hours" of bare numbers, "since
    2024" the first day of that year, "after 2024" its last; None where they cannot be compared."""
    amount = quantity(limit)
    if amount is None or amount.kind == column.kind:
        return amount.number if amount else None
    if column.kind == "date" and amount.kind == "number" and amount.number in _YEARS:
        month, day = (1, 1) if within in (ge, lt) else (12, 31)
        return float(date(int(amount.number), month, day).toordinal())
    bare = quantity(match[0]) if column.kind in ("number", "money") and (match := _BARE.match(limit)) else None
    return bare.number if bare else None


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
    bound = _bound(question)
    column = column_of(question, chosen, entries, given) if kind == "extreme" or bound else None
    limit = _comparable(*bound, column) if bound and column else None
    if column is None or (limit is None and kind != "extreme"):
        return [] if kind == "extreme" else fulfilling(question, chosen, entries, noun_of(question))
    if kind == "extreme":
        values = _largest(column, entries) if MOST.search(question) else column.values
        known = [v for v, entry in zip(values, entries, strict=True) if v is not None and not _sums(v, entry, column)]
        ends = {max(known)} if MOST.search(question) else set()
        ends |= {min(known)} if FEWEST.search(question) else set()
        counts = [value in ends for value in values]
    else:
        assert bound is not None and limit is not None
        counts = [value is not None and bound[0](value, limit) for value in column.values]
    each = zip(entries, column.statements, counts, strict=True)
    return [part for entry, statement, one in each if one for part in (entry, statement) if part]


def _largest(column: Column, entries: Sequence[Entry]) -> list[float | None]:
    """The values of a column, of several amounts of money in one cell the largest."""
    if column.kind != "money":
        return column.values
    sums = [largest_sum(entry.value(column.heading)) for entry in entries]
    return [value if largest is None else largest for value, largest in zip(column.values, sums, strict=True)]


def _total(entry: Entry) -> bool:
    """Whether it is the total of the others: as an item says, or one of the first two cells of a row."""
    return any(_TOTAL.match(text) for text in (entry.text, *(value for _, value in entry.cells[:2])))


def _sums(value: float, entry: Entry, column: Column) -> bool:
    """Whether a row that begins with "Total" has as much as all others together: "Total Score", not "Total Station"."""
    if not any(_TOTAL_OF.match(text) for text in (entry.text, *(value for _, value in entry.cells[:2]))):
        return False
    rest = sum(one for one in column.values if one is not None) - value
    return abs(rest - value) <= 0.01 * abs(value)


def _sum(question: str, chosen: Enumeration, entries: Sequence[Entry], lines: Sequence[str]) -> str:
    if chosen.kind != "rows":
        return ""
    column = column_of(question, chosen, entries)
    if column is None:  # "airfare plus food": no word for the amounts, of which there is one column
        amounts = [one for name in chosen.headings if (one := measured(name, [entry.value(name) for entry in entries]))]
        column = amounts[0] if len(amounts) == 1 else None
    return counted.total(lines, column.heading) if column and column.kind in ("number", "money") else ""


def _rows(entries: Sequence[Entry], texts: dict[int, str], lead: Entry | None) -> SourcedTexts:
    """Entries as they stand; those that follow each other are one quote, with what introduces them."""
    entries = entries[:MOST_ENTRIES]
    long = sum(len(entry.text.split()) for entry in entries) > MOST_WORDS
    quotes: SourcedTexts = []
    run: list[Entry] = []
    for entry in [*entries, None]:
        if run and (entry is None or long or entry.n != run[-1].n or not _next(texts[entry.n], run[-1], entry)):
            quotes.append(([run[0].n], run[0].first_line if long else _quote(texts[run[0].n], run)))
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
    line, end = entry.first_line, 0
    for _, value in entry.cells[:count]:
        end = line.find(value, end) + len(value)
    return line[:end] if end else line
