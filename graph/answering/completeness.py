"""Whether a question about all of something was answered from a part of it: then the answer says so.

Search finds a few passages. A question that lists, counts, sums, picks the highest or wants a summary needs all rows,
items or sections. An answer is whole where it cites every entry of one list or table that counts, or something of every
passage of a document; else there may be more.
"""

import itertools
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

from graph.extractive.enumerations import GAP, Entry, Enumeration, document_of, end_of, enumerations
from graph.extractive.whole import BEGINNING, beginning, selected
from graph.knowledge.extensions import ROWS, SAYS
from graph.knowledge.retriever import BESIDE, READ_OF_ONE
from graph.policy.question.answer_type import GREATEST, SMALLEST, All, all_of, plain, stated
from graph.policy.text.quantities import cells

_WHOLE_CHUNK = 1_200  # characters; a passage this long may have been cut inside a list that ends where it does
_IN_WORDS = re.compile(r",[^.;]{1,120}\b(?:and|or)\b|\b(?:both|either)\b", re.I)

_HEDGED = re.compile(
    r"\b(?:up to|at (?:least|most)|more than|less than|fewer than|(?:one|two|three) of(?: the)?) \w+", re.I
)
_OF_ALL = re.compile(
    rf"\b(?:{GREATEST}|{SMALLEST}|first|maximum|minimum|totals?|altogether|overall|combined|sum|average)\b", re.I
)

Spans = Mapping[int, Sequence[tuple[int, int]]]


def partial(
    question: str,
    sentences: Sequence[Mapping[str, Any]],
    citations: Sequence[Mapping[str, Any]],
    evidence: Sequence[Mapping[str, Any]],
    looked_through: int = 0,
) -> bool:
    """Whether the answer may leave something out. `citations` have `chunk_id` and `quote`. All rows of a long table
    were looked through where `looked_through` is as many passages of its rows as there are."""
    question = plain(question)
    kind = all_of(question)
    if kind is None or not sentences:
        return False
    cited = _spans(citations, evidence)
    if kind == "summary":
        return not _every_passage(cited, evidence)
    documents = {document_of(item) for item in evidence if item["n"] in cited}
    if any(item["withheld"] for item in evidence if document_of(item) in documents):
        return True  # an entry may be among what nobody is shown
    says = {item["n"] for item in evidence if item.get("why") == SAYS}
    if says and len(says) == looked_through and says == {*cited}:
        return False  # what the sections say that were looked up in all of the document
    lists = enumerations(evidence)
    holding = {item["n"] for item in evidence if item.get("why") == ROWS}
    all_rows = holding if len(holding) == looked_through else set()
    if _whole(question, kind, lists, cited, evidence, all_rows):
        return False
    answer = " ".join(sentence["text"] for sentence in sentences)
    if kind == "list":
        return len(sentences) > 1 or _IN_WORDS.search(answer) is None or _listed(lists, cited)
    if kind == "count":
        rows = sum(len(cells(sentence["text"])) > 1 for sentence in sentences)
        return rows > 1 or not stated(question, _HEDGED.sub(" ", answer))
    # An extreme or a sum: a text that itself says "the highest" or "altogether" needs no rows.
    return _listed(lists, cited) or not {*map(str.casefold, _OF_ALL.findall(answer))} & _asked_for(question)


def _asked_for(question: str) -> set[str]:
    """The words for all of something that answer the question: a total answers every sum."""
    words = {*map(str.casefold, _OF_ALL.findall(question))}
    return words | {"total", "totals", "altogether", "overall", "sum"} if all_of(question) == "sum" else words


def _spans(citations: Sequence[Mapping[str, Any]], evidence: Sequence[Mapping[str, Any]]) -> Spans:
    """The half-open ranges that are cited of each source, by its number."""
    items = {item["chunk_id"]: item for item in evidence}
    spans: dict[int, list[tuple[int, int]]] = {}
    for citation in citations:
        item = items.get(citation["chunk_id"])
        if item and (at := item["text"].find(citation["quote"])) >= 0:
            spans.setdefault(item["n"], []).append((at, at + len(citation["quote"])))
    return spans


def _whole(
    question: str,
    kind: All,
    lists: Sequence[Enumeration],
    cited: Spans,
    evidence: Sequence[Mapping[str, Any]],
    all_rows: Set[int],
) -> bool:
    """Whether all entries that count in one list are cited, and nothing outside that list. `all_rows` are the passages
    that hold all rows of a table that count."""
    for enumeration in lists:
        entries = selected(question, kind, enumeration)
        inside = [*enumeration.entries, *entries, *([enumeration.lead] if enumeration.lead else [])]
        if not entries or not all(_within(entry, cited) for entry in entries):
            continue
        if all(any(_overlap(n, span, entry) for entry in inside) for n, spans in cited.items() for span in spans):
            return bool({entry.n for entry in enumeration.entries} & all_rows) or not _goes_on(enumeration, evidence)
    return False


def _goes_on(enumeration: Enumeration, evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the list may go on before or behind the passages that were read."""
    items = {item["n"]: item for item in evidence}
    entries, first, last = enumeration.entries, items[enumeration.entries[0].n], items[enumeration.entries[-1].n]
    document = [item for item in evidence if document_of(item) == document_of(last)]
    if len(document) >= READ_OF_ONE:
        return True
    if enumeration.kind == "headings":
        small = len(evidence) < BESIDE and not min(item["start"] for item in document)
        return not enumeration.begins or not (enumeration.ends or small)
    behind = any(0 <= item["start"] - end_of(last) <= GAP for item in document)
    before = any(0 <= first["start"] - end_of(item) <= GAP for item in document)
    at_end = len(last["text"]) >= _WHOLE_CHUNK and entries[-1].end >= len(last["text"].rstrip())
    at_start = len(first["text"]) >= _WHOLE_CHUNK and not first["text"][: entries[0].start].strip(" -*•–\n")
    return (at_end and not behind) or (at_start and first["start"] > 0 and not before)


def _listed(lists: Sequence[Enumeration], cited: Spans) -> bool:
    """Whether an entry of a list or table is cited."""
    return any(_within(entry, cited) for one in lists if one.kind != "headings" for entry in one.entries)


def _every_passage(cited: Spans, evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether each passage of the cited documents is cited, and these were read whole, from their beginning."""
    documents = {document_of(item) for item in evidence if item["n"] in cited}
    if len(evidence) >= BESIDE:
        return False
    for document in documents:
        items = sorted((item for item in evidence if document_of(item) == document), key=lambda item: item["start"])
        gaps = any(b["start"] - end_of(a) > GAP for a, b in itertools.pairwise(items))
        if gaps or items[0]["start"] or len(items) >= READ_OF_ONE or any(item["n"] not in cited for item in items):
            return False
    return True


def _within(entry: Entry, cited: Spans) -> bool:
    """Whether most of the entry is cited, or its first line, or of a row the cells by which it is counted."""
    line = entry.start + len(entry.first_line)
    ends = [entry.end, line]
    if len(entry.cells) > BEGINNING[0]:
        ends.append(entry.start + len(beginning(entry, BEGINNING[0])))
    return any(
        min(end, at) - max(entry.start, start) > (at - entry.start) / 2
        for start, end in cited.get(entry.n, ())
        for at in ends
    )


def _overlap(n: int, span: tuple[int, int], entry: Entry) -> bool:
    return n == entry.n and span[0] < entry.end and entry.start < span[1]
