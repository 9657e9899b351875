"""Of each passage, what may answer the question: what a small or slow model reads in place of whole passages.

The embedded reader ranks the units of the evidence; the best of them are shown with the lines they stand in, under
their titles, until there are so many words. What a model writes is still judged by the whole passages.
"""

import re
from collections.abc import Sequence
from typing import Any

from graph.models.candidates import score
from graph.models.reader import Reader
from graph.state import Evidence

GAP = "\n…\n"
BESIDE = 220  # characters of its line that are shown before and behind a unit
LEAST = 60  # words that are shown, however long the first units are


def excerpts(question: str, evidence: Sequence[Evidence], reader: Reader, words: int) -> list[Evidence]:
    """The passages with what is shown of them as `text`, the best first; passages with nothing to show are left out.
    All of them, whole, where they have no more than that many words, or nothing in them can be ranked."""
    if sum(len(item["text"].split()) for item in evidence) <= words:
        return list(evidence)
    items: dict[int, dict[str, Any]] = {item["n"]: dict(item) for item in evidence}
    chosen: dict[int, list[tuple[int, int]]] = {}
    left = words
    for candidate in score(question, list(items.values()), reader):
        text = items[candidate.n]["text"]
        start, end = _with_line(text, candidate.unit.start, candidate.unit.end)
        size = len(text[start:end].split())
        known = chosen.get(candidate.n, [])
        if any(a <= start and end <= b for a, b in known) or (size > left and words - left >= LEAST):
            continue
        chosen.setdefault(candidate.n, []).append((start, end))
        left -= size
        if left <= 0:
            break
    if not chosen:
        return list(evidence)
    return [{**items[n], "text": _joined(items[n]["text"], spans)} for n, spans in chosen.items()]  # type: ignore[typeddict-item]


def _with_line(text: str, start: int, end: int) -> tuple[int, int]:
    """The unit with the rest of its lines, where that is short."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last
    return first if start - first <= BESIDE else start, last if last - end <= BESIDE else end


def _joined(text: str, spans: list[tuple[int, int]]) -> str:
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if merged and not re.search(r"\S", text[merged[-1][1] : start]):
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    return GAP.join(text[start:end].strip() for start, end in merged)
