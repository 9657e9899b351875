"""What becomes of a chat model's sentences beside the question, and of those that say only a part of the answer.

Small models go on with whatever they have read, say a value alone, or half of what is asked. The embedded reader tells
what of a draft answers; quotes of the documents take its place, or follow it.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from graph.answering.verified import SHORT, Verified, names
from graph.extractive.candidates import score
from graph.extractive.choice import BUDGET, YEAR, quotes
from graph.extractive.reader import Reader, reader
from graph.knowledge.index import content_words
from graph.models import wording
from graph.models.chat import Generator
from graph.policy import grounding
from graph.policy.question.answer_type import all_of
from graph.policy.text import lexical
from graph.policy.text.quantities import cells
from graph.settings import Settings
from graph.state import State

# The chance of an answer from which a model that says it has none is not believed; the embedded answerer itself answers
# from less. Small models decline one question in seven whose answer lies before them.
DECLINED_FROM = 0.6
# The same where a draft was not supported: what a model makes up is often asked of documents that say nothing of it. Of
# 21 such drafts one answer was lost by it, and two questions without an answer got none.
UNSUPPORTED_FROM = 0.5
# The reader's log-odds below which no sentence of a model answers any part of the question, and from which quotes do,
# to be shown instead. Set by hand.
BESIDE, ANSWERS = -0.3, 2.0
# A sentence of a model goes where the reader puts it so far below the best one, and below this. Shorter ones
# (SHORT) and rows are items and values, which mean nothing to the reader alone. Set by hand on sixty answers of a small
# model (docs/models.md).
FAR_BELOW, AND_BELOW = 3.0, -1.5
# From this log-odds of the reader a quote completes a model's answer, where that has less than this share of its words;
# at most so many. Set on questions over three collections (docs/models.md).
COMPLETES, SAID, MOST_MORE = 0.3, 0.7, 3
_NUMBERS = re.compile(r"\d+(?:[.,]\d+)*")
_PARTS = re.compile(r"(?:, and|,| and) (?=(?:who|what|when|where|which|why|how)\b)", re.I)

Quoted = Callable[[float], dict[str, Any]]  # the embedded answerer's reply from this chance of an answer, 0-1


def least_chance(silent: bool, why: str) -> float:
    """The chance of an answer from which the documents are quoted in place of a draft; `why` nothing of it leaves, or
    the model was `silent`."""
    return DECLINED_FROM if silent else UNSUPPORTED_FROM if why == "unsupported" else 0.0


def relevant(
    state: State, claims: list[dict[str, Any]], generator: Generator, settings: Settings
) -> list[dict[str, Any]]:
    """The claims of a model without those that answer nothing of the question: small models go on with whatever they
    have read."""
    unsaid = any(wording.unknown(claim["text"]) or wording.declined(claim["text"]) for claim in claims)
    small = settings.words_of_evidence > 0  # a model that reads whole passages says what it means to say
    if not claims or unsaid or not small or not _may_be_beside(state, generator) or all_of(state["query"]):
        return claims
    texts = [("", claim["text"]) for claim in claims]
    scores = np.max([reader(settings).scores(part, texts) for part in _questions(state)], axis=0)
    least = min(scores.max() - FAR_BELOW, AND_BELOW)
    return [
        claim
        for claim, score in zip(claims, scores, strict=True)
        if score >= least or len(claim["text"].split()) < SHORT or len(cells(claim["text"])) > 1
    ]


def judging(state: State, generator: Generator, settings: Settings) -> Reader | None:
    """The reader, where the sentences of a small model are judged by what answers the question: not those of a design,
    a list of documents or a summary, which no sentence answers. Larger models explain, which answers nothing either."""
    plain = state["intent"]["name"] == "GENERIC_QA" and not state["listing"] and not generator.extractive
    small = settings.words_of_evidence > 0
    return reader(settings) if plain and small and all_of(state["query"]) != "summary" else None


def _questions(state: State) -> list[str]:
    """The question, and its parts where it asks for several things."""
    return list(dict.fromkeys([state["query"], *filter(None, _PARTS.split(state["query"]))]))


def _may_be_beside(state: State, generator: Generator) -> bool:
    plain = state["intent"]["name"] == "GENERIC_QA" and not state["listing"] and not state["options"]["stream"]
    return plain and not generator.extractive and bool(state["draft"]["text"])


def beside(
    state: State, verified: Verified, generator: Generator, settings: Settings, quoted: Quoted
) -> dict[str, Any]:
    """What the documents say, where it answers clearly better than the model's sentences do; {} where it does not, or
    they have left already. What is true and beside the point helps nobody."""
    if not verified.sentences or not _may_be_beside(state, generator):
        return {}
    if len(verified.sentences) == 1 and names(verified.sentences[0]["text"]):
        return {}
    sections = {citation["n"]: citation["section"] for citation in verified.citations}
    sentences = [(sections[s["citations"][0]], grounding.unmarked(s["text"])) for s in verified.sentences]
    answered = max(float(reader(settings).scores(part, sentences).max()) for part in _questions(state))
    if answered >= BESIDE:
        return {}
    reply = quoted(DECLINED_FROM)
    texts = _with_section(state, reply.get("sentences", []))
    answers = bool(texts) and float(reader(settings).scores(state["query"], texts).max()) >= ANSWERS
    return reply if answers else {}


def _with_section(state: State, claims: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """(section, text) of each claim: what the reader scores."""
    sections = {item["n"]: item["section"] for item in state["evidence"]}
    return [(sections[claim["sources"][0]], claim["text"]) for claim in claims]


def _mostly(quote: str, text: str) -> bool:
    """Whether the quote is at least half of the text, or the text stands in it."""
    quote, text = (" ".join(lexical.words(one)) for one in (quote, text))
    return text in quote or (quote in text and 2 * len(quote) >= len(text))


def within(texts: list[str], quoted: Verified) -> bool:
    """Whether each text is a value alone ("2015", "CC BY 4.0") that stands in these quotes: they say it in full."""
    return all(_says(" ".join(one["text"] for one in quoted.sentences), text) for text in texts)


def _says(text: str, value: str) -> bool:
    """Whether a value of a few words stands in the text, in whole words, or all of several numbers ("27 vs 31")."""
    wanted, numbers = lexical.words(value), _NUMBERS.findall(value)
    if not 0 < len(wanted) < SHORT:
        return False
    together = f" {' '.join(wanted)} " in f" {' '.join(lexical.words(text))} "
    return together or (len(numbers) > 1 and {*numbers} <= {*_NUMBERS.findall(text)})


def _with_value(state: State, verified: Verified, settings: Settings) -> dict[str, Any]:
    """A claim with the best of the places that have the value which the model answered with; {} where it answered with
    sentences."""
    value = " ".join(one["text"] for one in verified.sentences)
    if len(value.split()) >= SHORT:
        return {}
    evidence: list[dict[str, Any]] = [dict(item) for item in state["evidence"]]
    for candidate in score(state["query"], evidence, reader(settings)):
        if _says(candidate.text, value):
            texts = {item["n"]: item["text"] for item in evidence}
            return {"text": list(quotes([candidate], texts, BUDGET["fact"]))[-1][1], "sources": [candidate.n]}
    return {}


def complete(state: State, verified: Verified, generator: Generator, settings: Settings, quoted: Quoted) -> bool:
    """Add quotes that clearly answer and say what the model's sentences do not: small models say a part of it. Returns
    whether it added any."""
    plain = state["intent"]["name"] == "GENERIC_QA" and not state["listing"] and bool(state["draft"]["text"])
    if not settings.words_of_evidence or generator.extractive or state["verdict"]["action"] != "ALLOW" or not plain:
        return False  # a model that reads whole passages says what it means to say
    whole = _with_value(state, verified, settings)  # a value alone is followed by what says it
    more = len(verified.add(whole)) if whole else 0
    if all_of(state["query"]):
        return more > 0
    claims = quoted(0.0).get("sentences", [])
    scores = reader(settings).scores(state["query"], _with_section(state, claims))
    asked_for, said_already = _stems(state["query"]), _stems(" ".join(one["text"] for one in verified.sentences))
    cited = {n for one in verified.sentences if len(one["text"].split()) >= SHORT for n in one["citations"]}
    years = {*YEAR.findall(state["query"])}
    years -= {year for one in verified.sentences for year in YEAR.findall(one["text"])}  # asked about, and not yet said
    in_own_words = [citation["quote"] for citation in verified.citations if citation["n"] in cited]
    for claim, read in zip(claims, scores, strict=True):
        new = _stems(claim["text"]) - asked_for
        if any(_mostly(quote, claim["text"]) for quote in in_own_words):
            continue
        of_year = years & {*YEAR.findall(claim["text"])}
        completes = read >= COMPLETES or of_year
        if more < MOST_MORE and completes and len(new & said_already) < SAID * len(new) and verified.add(claim):
            said_already |= new
            years -= of_year
            more += 1
    return more > 0


def _stems(text: str) -> frozenset[str]:
    return frozenset(lexical.stem(part) for word in content_words(text) for part in lexical.words(word))
