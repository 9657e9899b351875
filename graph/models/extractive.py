"""The embedded answerer: chooses the evidence sentences that answer, and says nothing of its own.

Each sentence of the evidence is scored by how much of the question it holds, alone and with the one before it, title
and heading, by the meaning it shares with the question, by whether it has the kind of thing asked for (a number, a
date, a person), and by how near its chunk was.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from graph.knowledge.called import CALLED
from graph.knowledge.embeddings import Embedder
from graph.knowledge.index import content_words
from graph.knowledge.regulation import asking
from graph.models.units import units
from graph.policy import intent
from graph.policy import text as lexical

FEATURES = ("alone", "near", "meaning", "fits", "chunk", "row")
# Fitted listwise (a softmax over the candidates of a question) on evals/datasets/answers.jsonl, whose questions were
# written from the documents. In five-fold cross-validation the first candidate is right in 0.68, one of three in 0.85.
WEIGHTS = np.array([1.6, 4.9, 6.5, 1.6, 9.9, 0.35])
MARGINS = {"concise": 3.0, "detailed": 4.0, "bullet": 3.5}  # how far behind the best a further sentence may be
# The chance that the documents contain the answer: logistic in the best chunk's score and, over all candidates, the most
# of the question that one holds alone, with its surroundings, and in meaning. Fitted on the questions of answers.jsonl
# and on the same questions asked by tenants who lack the documents (n = 194 and 151). Below ANSWERED_FROM nothing is
# answered: in five-fold cross-validation that keeps 0.97 of the answerable ones and is silent at 0.58 of the others
# that found any evidence at all; the best chunk's score alone is silent at 0.46. evals/answerable.py tests it on SQuAD.
SIGNS, BIAS = np.array([16.632, 0.349, 2.534, 3.936]), -10.401
ANSWERED_FROM = 0.145
_EMBED_AT_MOST = 12
_LIMITS = {"concise": 3, "detailed": 8, "bullet": 6}
_SAYS = re.compile(r"[^\W\d_]{2}")  # a word; a number or a letter alone stands in any document
_POINTERS = frozenset("one ones first second third fourth fifth sixth seventh eighth last latter former final".split())
# "Which datasets …" asks for several, "which freezer …" for one.
_LISTING = re.compile(
    r"\b(?:which (?:(?:of the|other|two|three|four|all|\w+ing|\w+al) )?\w{3,}s\b|list|what (?:are|were|kinds?|types?)|name (?:the|all)|who are)\b",
    re.I,
)
_LEAD = 6.0  # what the opening of a document is worth to an overview
_CALLED = 2.0  # what it is worth to stand in the document that the question calls by what it is
_CUES = (
    (re.compile(r"\b(?:when|what (?:date|day|time|year)|by when|deadline|until|how long|how often)\b", re.I),
     re.compile(r"\b(?:\d{1,2}:\d\d|\d{4}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october|november|december|hours?|days?|weeks?|months?|years?|minutes?)\b", re.I)),
    (re.compile(r"\b(?:how (?:many|much|large|big|high|low|fast|hot|cold|far|deep|old)|what (?:size|number|percentage|share|temperature|rate|budget|cost|price|limit|accuracy))\b", re.I),
     re.compile(r"\d")),
    (re.compile(r"\b(?:who|whom|whose)\b", re.I),
     re.compile(r"\b(?:Dr|Prof|Ms|Mr|Mrs)\b\.?|\b[A-Z][a-z]+ [A-Z][a-z]+\b|\b(?:officer|manager|committee|head|coordinator)\b")),
    (re.compile(r"\bwhere\b", re.I), re.compile(r"\b(?:room|building|floor|lab|block|bench|store|cabinet|server|door|hall|cupboard|drawer|shelf|desk|gate|next to|beside|behind|under|at the|in the)\b", re.I)),
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
    if task["listing"]:
        return {"answered": True, "sentences": [{"text": s, "sources": [n]} for n, s in _names(task["evidence"])]}
    if provisions := _provisions(question, task["evidence"]):
        return {"answered": True, "sentences": [{"text": s, "sources": [n]} for n, s in provisions]}
    about = task["about"]
    if not about and not any(_SAYS.search(word) for word in content_words(question)):
        return {"answered": False, "sentences": []}
    own = len([word for word in content_words(question) if word not in _POINTERS])
    # "the first one" says nothing of its own: what it stands for is asked about. "And who is its steward?" says what is
    # wanted, and the evidence is of the thing meant already: its name would only draw the sentences that name it.
    asked = f"tell me about {about}" if about and own <= 1 and not _wants(question) else question
    evidence = task["evidence"]
    candidates, table = features(asked, evidence, embedder)
    called = intent.overview(question) and any(item.get("why") == CALLED for item in evidence)
    if not candidates or (not about and not called and chance(signs(evidence, table)) < ANSWERED_FROM):
        return {"answered": False, "sentences": []}
    listing = bool(_LISTING.search(question))
    chosen = choose(_ranked(asked, evidence, candidates, table), style, listing)
    return {"answered": True, "sentences": [{"text": c.text, "sources": [c.n]} for c in chosen]}


def _wants(question: str) -> bool:
    """Whether it asks for a kind of thing: a date, a number, a person, a place, a reason."""
    return any(ask.search(question) for ask, _ in _CUES[:5])


def signs(evidence: list[dict[str, Any]], table: np.ndarray) -> np.ndarray:
    """What `chance` weighs, float64 (4,), from the candidates' features."""
    return np.array([max(item["score"] for item in evidence), *table[:, :3].max(axis=0)])


def chance(values: np.ndarray) -> float:
    """Of an answer in the evidence, 0-1, for the signs of a question."""
    return float(1 / (1 + np.exp(-(values @ SIGNS + BIAS))))


def score(question: str, evidence: list[dict[str, Any]], embedder: Embedder | None) -> list[Candidate]:
    """Every unit of the evidence that could answer, best first."""
    return _ranked(question, evidence, *features(question, evidence, embedder))


def _ranked(
    question: str, evidence: list[dict[str, Any]], candidates: list[Candidate], table: np.ndarray
) -> list[Candidate]:
    overview = intent.overview(question)
    repeated = Counter(candidate.text for candidate in candidates)
    called = {item["n"] for item in evidence if item.get("why") == CALLED}
    # Where a document begins, with the number of its statements so far.
    openings = {item["n"]: 0 for item in evidence if item["start"] == 0 and (item["n"] in called or not called)}
    for candidate, value in zip(candidates, table @ WEIGHTS if candidates else [], strict=True):
        lead = 0.0
        if overview and candidate.n in openings and (candidate.text[-1] in ".!" or "\n" in candidate.text):
            lead = _LEAD / (1 + openings[candidate.n] / 4)
            openings[candidate.n] += 1
        lead += _CALLED if candidate.n in called else 0.0
        # A line that stands in every document says nothing of this one.
        candidate.score = round(float(value) + lead - (_LEAD if repeated[candidate.text] > 2 else 0.0), 6)
    return sorted(candidates, key=lambda c: (-c.score, c.n, c.at))


def features(
    question: str, evidence: list[dict[str, Any]], embedder: Embedder | None
) -> tuple[list[Candidate], np.ndarray]:
    """Candidates and their features, float64 (len(candidates), len(FEATURES)).

    The meaning is compared for the candidates that the other features put first; the others get the least of these.
    """
    wanted = frozenset(lexical.stem(w) for word in content_words(question) for w in lexical.words(word))
    cue = next((answer for ask, answer in _CUES if ask.search(question)), None)
    cut = [(item, [item["text"][a:b] for a, b in units(item["text"])]) for item in evidence]
    bags = [[frozenset(lexical.stems(text)) for text in texts] for _, texts in cut]
    flat = [bag for group in bags for bag in group]
    rarity = {w: math.log(1 + len(flat) / (1 + sum(w in bag for bag in flat))) for w in wanted}
    total = sum(rarity.values()) or 1.0
    candidates: list[Candidate] = []
    rows: list[list[float]] = []
    for (item, texts), group in zip(cut, bags, strict=True):
        lead = frozenset(lexical.stems(f"{item['title']} {item['section']}"))
        for at, text in enumerate(texts):
            said = _clean(text)
            if not _sayable(said, item["title"]):
                continue
            before = group[at - 1] if at else frozenset()
            rows.append(
                [
                    sum(rarity[w] for w in wanted & group[at]) / total,
                    sum(rarity[w] for w in wanted & (group[at] | lead | before)) / total,
                    0.0,
                    1.0 if cue is not None and cue.search(said) else 0.0,
                    float(item["score"]),
                    1.0 if "; " in said and ": " in said and said[-1] not in ".!?" else 0.0,
                ]
            )
            candidates.append(Candidate(item["n"], at, said, group[at]))
    table = np.array(rows).reshape(len(rows), len(FEATURES))
    if embedder is not None and candidates:
        words = table @ WEIGHTS
        first = np.argsort(-words, kind="stable")[:_EMBED_AT_MOST]
        vectors = embedder.embed([question, *(candidates[i].text for i in first)])
        cosines = np.maximum(vectors[1:] @ vectors[0], 0.0)
        table[:, 2] = cosines.min()
        table[first, 2] = cosines
    return candidates, table


def choose(found: list[Candidate], style: str, listing: bool) -> list[Candidate]:
    """The best sentence, then others that come near it and add something; in the order of the sources."""
    limit = _LIMITS[style] + (2 if listing else 0)
    border = found[0].score - MARGINS[style]
    chosen: list[Candidate] = []
    for candidate in found:
        if len(chosen) == limit or candidate.score < border:
            break
        if not any(_repeats(candidate, c) for c in chosen):
            chosen.append(candidate)
    first = chosen[0]
    return sorted(chosen, key=lambda c: (c.n != first.n, c.n, c.at))


def _repeats(a: Candidate, b: Candidate) -> bool:
    """Whether one says what the other says: most words shared, or one within the other."""
    shared = len(a.stems & b.stems)
    return shared >= 0.7 * len(a.stems | b.stems) or a.text in b.text or b.text in a.text


def _names(evidence: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """(source, what it calls itself): its title where the text has it, else its first statement."""
    found = []
    for item in evidence:
        if item["title"] and item["title"] in item["text"]:
            found.append((item["n"], item["title"]))
            continue
        said = [t for t in (_clean(item["text"][a:b]) for a, b in units(item["text"])) if _sayable(t, item["title"])]
        found += [(item["n"], said[0])] if said else []
    return found


def _provisions(question: str, evidence: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """(source, text) of the provisions that a question names and asks nothing else of ("Article 17"), in their order."""
    named = [item for item in evidence if item.get("why") == "named"]
    if not named or not asking.names_only(question):
        return []
    named.sort(key=lambda item: (item["doc_id"], item["start"]))
    return [(item["n"], _clean(item["text"][a:b])) for item in named for a, b in units(item["text"])]


def _clean(text: str) -> str:
    """The sentence without the mark of its list item."""
    return re.sub(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+", "", text).strip()


def _bare(text: str) -> str:
    """A title without its mark: "# Memo 4", "Title: Memo 4" and "Memo 4." are one."""
    return re.sub(r"^(?:#+|title:)\s*", "", text.strip(), flags=re.I).strip(" .").casefold()


def _sayable(text: str, title: str) -> bool:
    """Whether it is a statement: not a heading, a title, a question, or a line that is only masks."""
    bare = text.replace("[REDACTED]", " ")
    said = len(re.findall(r"\w+", bare))
    heading = "\n" not in text and ";" not in text and ": " not in text and text[-1:] not in '.!?)”"؟۔。' and said <= 12
    return said >= 3 and not heading and _bare(text) != _bare(title) and not text.endswith(("?", ":"))
