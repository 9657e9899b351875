"""Of each passage, what may answer the question: what a small or slow model reads in place of whole passages.

The embedded reader ranks the units of the evidence; the best of them are shown until there are so many words, each with
the rest of its line, with what introduces it, and with the heading above it. An item of a short list is shown with the
whole list: without it a model takes the condition of one thing for that of another. What a model writes is still judged
by the whole passages.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from graph.extractive.candidates import Candidate, score
from graph.extractive.reader import Reader
from graph.extractive.units import Range, units
from graph.policy.text import structure
from graph.policy.text.sentences import split
from graph.state import Evidence

GAP = "\n…\n"
BESIDE = 220  # characters of its line that are shown before and behind a unit
SHORT = 600  # characters of a list that is shown whole
LEAST = 60  # words that are shown, however long the first units are


def excerpts(question: str, evidence: Sequence[Evidence], reader: Reader, words: int) -> list[Evidence]:
    """The passages with what is shown of them as `text`, the best first; passages with nothing to show are left out.
    All of them, whole, where they have no more than that many words, or nothing in them can be ranked."""
    if sum(len(item["text"].split()) for item in evidence) <= words:
        return list(evidence)
    items: dict[int, dict[str, Any]] = {item["n"]: dict(item) for item in evidence}
    lists = {n: _lists(item["text"]) for n, item in items.items()}
    chosen: dict[int, list[Range]] = {}
    left = words
    for candidate in score(question, list(items.values()), reader):
        text, known = items[candidate.n]["text"], chosen.get(candidate.n, [])
        around_it = _around(text, candidate, lists[candidate.n])
        spans = [(a, b) for a, b in around_it if not any(start <= a and b <= end for start, end in known)]
        size = sum(len(text[start:end].split()) for start, end in spans)
        if not spans or (size > left and words - left >= LEAST):
            continue
        chosen.setdefault(candidate.n, []).extend(spans)
        left -= size
        if left <= 0:
            break
    if not chosen:
        return list(evidence)
    return [{**items[n], "text": _joined(items[n]["text"], spans)} for n, spans in chosen.items()]  # type: ignore[typeddict-item]


def around(text: str, spans: Sequence[Range], words: int) -> str:
    """The sentences of these spans, and those nearest to them until there are so many words; the first of a text where
    there are no spans."""
    lines = [(m.start(), m.end()) for m in re.finditer(r"\S[^\n]*", text)]
    sentences = [(begin + a, begin + b) for begin, end in lines for a, b in split(text[begin:end])]
    own = [at for at, (a, b) in enumerate(sentences) if any(a < end and start < b for start, end in spans)] or [0]
    chosen: list[Range] = []
    for at in sorted(range(len(sentences)), key=lambda at: (min(abs(at - one) for one in own), at)):
        words -= len(text[slice(*sentences[at])].split())
        if words < 0 and at not in own:
            break
        chosen.append(sentences[at])
    return _with_gaps(text, chosen)


def _lists(text: str) -> list[Range]:
    """The short lists of a text, each with the sentence that introduces it."""
    return [(one.start, one.end) for one in units(text) if one.kind == "list" and one.end - one.start <= SHORT]


def _around(text: str, candidate: Candidate, lists: Sequence[Range]) -> list[Range]:
    """Where the unit stands: its list where that is short, else its lines and the sentence that introduces it."""
    unit = candidate.unit
    if whole := next(((a, b) for a, b in lists if a <= unit.start and unit.end <= b), None):
        return [whole]
    return [*([unit.lead] if unit.lead else []), _with_line(text, unit.start, unit.end)]


def _with_line(text: str, start: int, end: int) -> Range:
    """The unit with the rest of its lines, where that is short."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    return first if start - first <= BESIDE else start, last if last - end <= BESIDE else end


def _joined(text: str, spans: Sequence[Range]) -> str:
    """What is shown, in its order, each stretch under the heading that stands right above it in the text."""
    headings = [(line.start, line.end) for line in structure.lines(text) if line.kind == "heading"]
    above = [next((h for h in reversed(headings) if h[1] <= start), None) for start, _ in spans]
    return _with_gaps(text, {*spans, *filter(None, above)})


def _with_gaps(text: str, spans: Iterable[Range]) -> str:
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if merged and not re.search(r"\S", text[merged[-1][1] : start]):
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    return GAP.join(text[start:end].strip() for start, end in merged)
