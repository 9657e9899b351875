"""The embedded answerer: chooses the evidence sentences that answer, and says nothing of its own.

Each sentence of the evidence is scored by how much of the question it holds, alone and with its neighbours, title and
heading, by the meaning it shares with the question, by whether it has the kind of thing asked for (a number, a date, a
person), and by how near its chunk was. The weights are set by hand on the shipped corpus's questions.
"""

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.knowledge.embeddings import Embedder
from graph.knowledge.index import content_words
from graph.policy import text as lexical
from graph.policy.sentences import split

# coverage alone, coverage with context, shared bigrams, meaning, answer type, chunk score
WEIGHTS = np.array([0.8, 1.0, 0.3, 1.5, 0.25, 1.0])
ANSWERED_FROM = 1.0  # of the weighted sum; below it the documents do not contain the answer
KEEP_FROM = 0.82  # further sentences must come this near to the best
_EMBED_AT_MOST = 14
_LIMITS = {"concise": 3, "detailed": 8, "bullet": 6}
_LIST_CHARS = 1_200  # a longer list is quoted item by item
_ITEM = re.compile(r"(?:[-*•–]|\(?\d{1,2}[.)]|\(?[a-z][.)])\s")
_LISTING = re.compile(r"\b(?:which|list|what (?:are|were|kinds?|types?)|name (?:the|all)|who are)\b", re.I)
_CUES = (
    (re.compile(r"\b(?:when|what (?:date|day|time|year)|by when|deadline|until|how long|how often)\b", re.I),
     re.compile(r"\b(?:\d{1,2}:\d\d|\d{4}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|hours?|days?|weeks?|months?|years?|minutes?)\b", re.I)),
    (re.compile(r"\b(?:how (?:many|much|large|big|high|low|fast|hot|cold|far|deep|old)|what (?:size|number|percentage|share|temperature|rate|budget|cost|price|limit|accuracy))\b", re.I),
     re.compile(r"\d")),
    (re.compile(r"\b(?:who|whom|whose)\b", re.I),
     re.compile(r"\b(?:Dr|Prof|Ms|Mr|Mrs)\b\.?|\b[A-Z][a-z]+ [A-Z][a-z]+\b|\b(?:officer|manager|committee|head|coordinator)\b")),
    (re.compile(r"\bwhere\b", re.I), re.compile(r"\b(?:room|building|floor|lab|block|bench|store|cabinet|server|at|in)\b", re.I)),
    (re.compile(r"\b(?:why|reason|because)\b", re.I), re.compile(r"\b(?:because|since|so that|due to|in order|caused)\b", re.I)),
    (re.compile(r"\bwhat (?:is|are|does|do)\b.*\b(?:mean|definition|defined|stand for)?", re.I),
     re.compile(r"\b(?:is|are|means?|refers? to|stands? for|defined)\b", re.I)),
)  # fmt: skip


@dataclass
class Candidate:
    n: int  # number of the source
    at: int  # place in the source
    text: str
    stems: frozenset[str]
    score: float = 0.0


def answer(task: dict[str, Any], embedder: Embedder | None) -> dict[str, Any]:
    """The reply object of prompts/answer.md for a task (graph/models/task.py)."""
    question, style = task["question"], task["style"]
    asked = f"{question} {task.get('about', '')}"
    found = score(asked, task["evidence"], embedder)
    found = [c for c in found if c.score > 0]
    if not found or found[0].score < ANSWERED_FROM:
        return {"answered": False, "sentences": []}
    listing = bool(_LISTING.search(question))
    chosen = choose(found, style, listing)
    return {"answered": True, "sentences": [{"text": c.text, "sources": [c.n]} for c in chosen]}


def score(question: str, evidence: list[dict[str, Any]], embedder: Embedder | None) -> list[Candidate]:
    """Every sentence that could answer, best first."""
    wanted = frozenset(lexical.stem(w) for word in content_words(question) for w in lexical.words(word))
    bigrams = _bigrams(question)
    cue = next((answer for ask, answer in _CUES if ask.search(question)), None)
    candidates: list[Candidate] = []
    features: list[list[float]] = []
    sentences = [(item, [item["text"][a:b] for a, b in units(item["text"])]) for item in evidence]
    bags = [[frozenset(lexical.stems(s)) for s in texts] for _, texts in sentences]
    flat = [bag for group in bags for bag in group]
    rarity = {w: math.log(1 + len(flat) / (1 + sum(w in bag for bag in flat))) for w in wanted}
    total = sum(rarity.values()) or 1.0
    top = max((item["score"] for item in evidence), default=1.0) or 1.0
    for (item, texts), group in zip(sentences, bags, strict=True):
        lead = frozenset(lexical.stems(f"{item['title']} {item['section']}"))
        for at, text in enumerate(texts):
            said = _clean(text)
            if not _sayable(said, item["title"]):
                continue
            around = group[at] | lead | (group[at - 1] if at else frozenset())
            alone = sum(rarity[w] for w in wanted & group[at]) / total
            near = sum(rarity[w] for w in wanted & around) / total
            shared = len(bigrams & _bigrams(said)) / (len(bigrams) or 1)
            fits = 1.0 if cue is not None and cue.search(said) else 0.0
            candidates.append(Candidate(item["n"], at, said, group[at]))
            features.append([alone, near, shared, 0.0, fits, item["score"] / top * item["score"] * 1.5])
    if not candidates:
        return []
    table = np.array(features)
    if embedder is not None:
        first = np.argsort(-(table @ WEIGHTS), kind="stable")[:_EMBED_AT_MOST]
        titles = {item["n"]: item["title"] for item in evidence}
        texts = [f"{titles[candidates[i].n]}. {candidates[i].text}" for i in first]
        vectors = embedder.embed([question, *texts])
        table[first, 3] = np.maximum(vectors[1:] @ vectors[0], 0.0)
    for candidate, value in zip(candidates, table @ WEIGHTS, strict=True):
        candidate.score = round(float(value), 6)
    candidates.sort(key=lambda c: (-c.score, c.n, c.at))
    return candidates


def units(text: str) -> list[tuple[int, int]]:
    """The ranges an answer may quote: sentences, and a list whole, with the line that introduces it."""
    spans = split(text)
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(spans):
        start, end = spans[at]
        last = at
        if text[start:end].endswith(":"):
            while last + 1 < len(spans) and _ITEM.match(text[spans[last + 1][0] : spans[last + 1][1]]):
                last += 1
            if last > at and spans[last][1] - start <= _LIST_CHARS:
                found.append((start, spans[last][1]))
                at = last + 1
                continue
        found.append((start, end))
        at += 1
    return found


def choose(found: list[Candidate], style: str, listing: bool) -> list[Candidate]:
    """The best sentence, then others that come near it and add something; in the order of the sources."""
    limit = _LIMITS[style] + (2 if listing else 0)
    border = found[0].score * (KEEP_FROM if style == "concise" and not listing else KEEP_FROM - 0.14)
    chosen: list[Candidate] = []
    for candidate in found:
        if len(chosen) == limit or candidate.score < border:
            break
        if all(len(candidate.stems & c.stems) < 0.7 * len(candidate.stems | c.stems) for c in chosen):
            chosen.append(candidate)
    first = chosen[0]
    return sorted(chosen, key=lambda c: (c.n != first.n, c.n, c.at))


def _clean(text: str) -> str:
    """The sentence without the mark of its list item."""
    return re.sub(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+", "", text).strip()


def _sayable(text: str, title: str) -> bool:
    """Whether it is a statement: not a heading, a title, a question, or a line that is only masks."""
    bare = text.replace("[REDACTED]", " ")
    said = len(re.findall(r"\w+", bare))
    heading = "\n" not in text and ";" not in text and ": " not in text and text[-1:] not in ".!?)”\"؟۔。" and said <= 12
    return said >= 3 and not heading and text.strip("# .") != title.strip() and not text.endswith(("?", ":"))


def _bigrams(text: str) -> set[tuple[str, str]]:
    stems = [lexical.stem(w) for w in content_words(text)]
    return set(zip(stems, stems[1:], strict=False))
