"""Whether a question about all of something was answered from a part of it: then the answer says so.

Search finds a few passages. A question that lists, counts, sums, picks the highest or wants a summary needs all rows,
items or sections; where the sentences cited do not cover the list or table they stand in, there may be more.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from graph.policy.question.answer_type import all_of
from graph.policy.text import lexical, structure

_AMOUNT = re.compile(r"\d[\d.,]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|no|none", re.I)
_COUNTED = re.compile(
    r"\bhow many (.{1,80}?)"
    r"(?: (?:are|is|were|was|do|does|did|has|have|had|can|could|may|must|should|will|would|in|on|at)\b|\W*$)"
    r"|\b(?:number|count) of (.{1,80})",
    re.I,
)
_BESIDE = 4  # words after a number among which the thing counted stands
_WHOLE_CHUNK = 1_200  # characters; a passage this long may have been cut inside a list that ends where it does
_IN_WORDS = re.compile(r",[^.;]{1,120}\b(?:and|or)\b|\b(?:both|either)\b", re.I)


def partial(
    question: str,
    sentences: Sequence[Mapping[str, Any]],
    citations: Sequence[Mapping[str, Any]],
    evidence: Sequence[Mapping[str, Any]],
) -> bool:
    """Whether the answer may leave something out. `citations` have `chunk_id` and `quote`."""
    kind = all_of(question)
    if kind is None or not sentences:
        return False
    if kind == "summary":
        return True
    texts = {item["chunk_id"]: item["text"] for item in evidence}
    said = " ".join(sentence["text"] for sentence in sentences)
    covered = _covered(citations, texts)
    if kind == "list":
        return not all(covered) if covered else len(sentences) > 1 or _IN_WORDS.search(said) is None
    if kind == "count":
        return not _stated(question, said)
    return bool(covered)


def _stated(question: str, said: str) -> bool:
    """Whether a number stands beside a word for what is counted: "24 lenders", "Visitors: 48,200"."""
    counted = _COUNTED.search(question)
    asked = {*lexical.stems(counted[1] or counted[2])} if counted else set()
    words = re.findall(r"\w[\w.,]*", said)
    at = [place for place, word in enumerate(words) if _AMOUNT.fullmatch(word.strip(".,"))]
    return any(asked & {*lexical.stems(" ".join(words[max(0, n - 1) : n + _BESIDE]))} for n in at)


def _covered(citations: Sequence[Mapping[str, Any]], texts: Mapping[str, str]) -> list[bool]:
    """For each list or table that is cited, whether all of its lines are."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for citation in citations:
        text = texts.get(citation["chunk_id"], "")
        if (at := text.find(citation["quote"])) >= 0:
            spans.setdefault(citation["chunk_id"], []).append((at, at + len(citation["quote"])))
    covered = []
    for chunk_id, cited in spans.items():
        text = texts[chunk_id]
        for block in structure.blocks(text):
            lines = [line for line in block if line.kind == "item"]
            lines = block if not lines and structure.tabular(text, block) else lines
            if len(lines) < 2 or not any(_within(line, cited) for line in lines):
                continue
            goes_on = len(text) >= _WHOLE_CHUNK and (lines[0].start == 0 or lines[-1].end >= len(text.rstrip()))
            covered.append(not goes_on and all(_within(line, cited) for line in lines))
    return covered


def _within(line: structure.Line, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether most of the line is cited."""
    return any(min(line.end, end) - max(line.words, start) > (line.end - line.words) / 2 for start, end in spans)
