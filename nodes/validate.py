"""validate: lets out only sentences that this turn's evidence supports, each with the verbatim quote that does."""

import re
from functools import partial
from typing import Any

import numpy as np

from graph.answering.verified import Verified, shown
from graph.knowledge.index import content_words
from graph.models import wording
from graph.models.candidates import score
from graph.models.chat import Generator
from graph.models.choice import BUDGET, quotes
from graph.models.reader import reader
from graph.models.support_opinion import SupportOpinion
from graph.policy import grounding
from graph.policy.answer import refusals
from graph.policy.grounding.entailment import Encoder, margins
from graph.policy.question.answer_type import all_of
from graph.policy.text import lexical
from graph.policy.text.quantities import cells
from graph.settings import Settings
from graph.state import Draft, KeptDraft, State, Usage
from nodes.generate import considered, task_of

# The chance of an answer from which a model that says it has none is not believed; the embedded answerer itself answers
# from less. Small models decline one question in seven whose answer lies before them.
DECLINED_FROM = 0.6
# The reader's log-odds below which no sentence of a model answers any part of the question, and from which quotes do,
# to be shown instead. Set by hand.
BESIDE, ANSWERS = 0.0, 2.0
# A sentence of a model goes where the reader puts it so far below the best one, and below this. Shorter ones (in
# words) and rows are items and values, which mean nothing to the reader alone. Set by hand on sixty answers of a small
# model (docs/models.md).
FAR_BELOW, AND_BELOW, SHORT = 3.0, -1.0, 6
# From this log-odds of the reader a quote completes a model's answer, where that has less than this share of its words;
# at most so many. Set on questions over three collections (docs/models.md).
COMPLETES, SAID, MOST_MORE = 0.5, 0.7, 3
_PARTS = re.compile(r"(?:, and|,| and) (?=(?:who|what|when|where|which|why|how)\b)", re.I)


def validate(state: State, *, generator: Generator, settings: Settings, support_encoder: Encoder = margins) -> State:
    draft, released = state["draft"], state["released"]
    value, flags = draft["value"], list(state["flags"])
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    # A stream's sentences left already: the whole draft is judged, and what left does not count twice.
    opinion = SupportOpinion(generator, state["turn"]) if settings.support_opinion == "auto" else None
    before, question = (released["sentences"], released["citations"]), state["query"]
    judged = partial(
        Verified, guarded=guarded, before=before, opinion=opinion, question=question, encoder=support_encoder
    )
    verified = judged(considered(state, generator), marked=settings.support == "marked")
    claims = _claims(value)
    relevant = _relevant(state, claims, generator, settings)
    verified.add_all(relevant)
    silent = value is not None and not verified.sentences and _silent(value, verified.dropped)
    flags += ["unsupported_removed"] if verified.dropped and not silent else []
    flags += ["malformed_output"] if value is None and not verified.sentences else []
    draft = {**draft, "errors": [], "outcome": "", "why": ""}
    source = value  # of what leaves
    beside = _beside(state, verified, generator, settings)
    if beside and (instead := judged(state["evidence"])).add_all(_claims(beside)):
        within = _within([one["text"] for one in verified.sentences], instead)
        draft["outcome"], draft["why"] = ("verified", "") if within else ("dropped", "beside")
        verified, source = instead, beside
        flags.append("extractive_fallback")
    elif verified.sentences:
        draft["outcome"] = "partly dropped" if verified.dropped or len(relevant) < len(claims) else "verified"
        flags += ["completed"] if _complete(state, verified, generator, settings) else []
    else:
        draft["outcome"], draft["why"] = ("", "") if silent else ("dropped", _why(draft, verified.dropped))
        quoted = _quoted(state, generator, DECLINED_FROM if silent else 0.0)
        verified = judged(state["evidence"])
        if verified.add_all(_claims(quoted)):
            if draft["why"] == "unreadable" and _within([draft["text"]], verified):
                draft["outcome"], draft["why"] = "verified", ""
                flags = [flag for flag in flags if flag != "malformed_output"]
            else:
                draft["why"] = draft["why"] or "silent"
            flags.append("extractive_fallback")
            value, source = value or quoted, quoted
    flags += ["partial"] if verified.sentences and (source or {}).get("sure") is False else []
    flags += ["weakly_supported"] if any(one.get("doubted") for one in verified.sentences) else []
    designed = bool(verified.sentences) and value is not None and "basis" in value
    return {
        "sentences": verified.sentences,
        "citations": verified.citations,
        "assessment": _assessment(value) if value is not None and designed else {},
        "flags": list(dict.fromkeys(flags)),
        "draft": draft,
        "drafts": _with_opinions(state["drafts"], opinion),
        "usage": _spent(state["usage"], opinion),
        "prompts": state["prompts"] | (opinion.prompts if opinion else {}),
    }


def _relevant(
    state: State, claims: list[dict[str, Any]], generator: Generator, settings: Settings
) -> list[dict[str, Any]]:
    """The claims of a model without those that answer nothing of the question: small models go on with whatever they
    have read."""
    unsaid = any(wording.unknown(claim["text"]) or wording.declined(claim["text"]) for claim in claims)
    small = settings.words_of_evidence > 0  # a model that reads whole passages says what it means to say
    if not claims or unsaid or not small or not _may_be_beside(state, generator) or all_of(state["query"]):
        return claims
    texts = [("", claim["text"]) for claim in claims]
    scores = np.max([reader(settings).scores(part, texts) for part in _asked(state)], axis=0)
    least = min(scores.max() - FAR_BELOW, AND_BELOW)
    return [
        claim
        for claim, score in zip(claims, scores, strict=True)
        if score >= least or len(claim["text"].split()) < SHORT or len(cells(claim["text"])) > 1
    ]


def _asked(state: State) -> list[str]:
    """The question, and its parts where it asks for several things."""
    return list(dict.fromkeys([state["query"], *filter(None, _PARTS.split(state["query"]))]))


def _may_be_beside(state: State, generator: Generator) -> bool:
    asked = state["intent"]["name"] == "GENERIC_QA" and not state["listing"] and not state["options"]["stream"]
    return asked and not generator.extractive and bool(state["draft"]["text"])


def _beside(state: State, held: Verified, generator: Generator, settings: Settings) -> dict[str, Any]:
    """What the documents say, where it answers clearly better than the model's sentences do; {} where it does not, or
    they have left already. What is true and beside the point helps nobody."""
    if not held.sentences or not _may_be_beside(state, generator):
        return {}
    sections = {citation["n"]: citation["section"] for citation in held.citations}
    told = [(sections[one["citations"][0]], grounding.unmarked(one["text"])) for one in held.sentences]
    answered = max(float(reader(settings).scores(part, told).max()) for part in _asked(state))
    if answered >= BESIDE:
        return {}
    quoted = _quoted(state, generator, DECLINED_FROM)
    places = {item["n"]: item["section"] for item in state["evidence"]}
    quotes = [(places[one["sources"][0]], one["text"]) for one in _claims(quoted)]
    answers = bool(quotes) and float(reader(settings).scores(state["query"], quotes).max()) >= ANSWERS
    return quoted if answers else {}


def _mostly(quote: str, text: str) -> bool:
    """Whether the quote is at least half of the text, or the text stands in it."""
    quote, text = (" ".join(lexical.words(one)) for one in (quote, text))
    return text in quote or (quote in text and 2 * len(quote) >= len(text))


def _within(texts: list[str], quoted: Verified) -> bool:
    """Whether each text is a value alone ("2015", "CC BY 4.0") that stands in these quotes: they say it in full."""
    return all(_says(" ".join(one["text"] for one in quoted.sentences), text) for text in texts)


def _says(text: str, value: str) -> bool:
    """Whether a value of a few words stands in the text, in whole words."""
    wanted = lexical.words(value)
    return 0 < len(wanted) < SHORT and f" {' '.join(wanted)} " in f" {' '.join(lexical.words(text))} "


def _with_value(state: State, held: Verified, settings: Settings) -> dict[str, Any]:
    """Of the places that have the value which the model answered with, the one that answers best; {} where it answered
    with sentences."""
    value = " ".join(one["text"] for one in held.sentences)
    if len(value.split()) >= SHORT:
        return {}
    evidence: list[dict[str, Any]] = [dict(item) for item in state["evidence"]]
    for one in score(state["query"], evidence, reader(settings)):
        if _says(one.text, value):
            texts = {item["n"]: item["text"] for item in evidence}
            return {"text": list(quotes([one], texts, BUDGET["fact"]))[-1][1], "sources": [one.n]}
    return {}


def _complete(state: State, held: Verified, generator: Generator, settings: Settings) -> bool:
    """Let quotes follow that clearly answer and say what the model's sentences do not: small models say a part of it.
    Whether there were any."""
    asked = state["intent"]["name"] == "GENERIC_QA" and not state["listing"] and bool(state["draft"]["text"])
    if not settings.words_of_evidence or generator.extractive or state["verdict"]["action"] != "ALLOW" or not asked:
        return False  # a model that reads whole passages says what it means to say
    found = _with_value(state, held, settings)  # a value alone is followed by what says it
    more = len(held.add(found)) if found else 0
    if all_of(state["query"]):
        return more > 0
    places = {item["n"]: item["section"] for item in state["evidence"]}
    claims = _claims(_quoted(state, generator, 0.0))
    scores = reader(settings).scores(state["query"], [(places[one["sources"][0]], one["text"]) for one in claims])
    asked_for, told = _stems(state["query"]), _stems(" ".join(one["text"] for one in held.sentences))
    cited = {n for one in held.sentences if len(one["text"].split()) >= SHORT for n in one["citations"]}
    retold = [citation["quote"] for citation in held.citations if citation["n"] in cited]  # in the model's own words
    for claim, read in zip(claims, scores, strict=True):
        new = _stems(claim["text"]) - asked_for
        if any(_mostly(quote, claim["text"]) for quote in retold):
            continue
        if more < MOST_MORE and read >= COMPLETES and len(new & told) < SAID * len(new) and held.add(claim):
            told |= new
            more += 1
    return more > 0


def _stems(text: str) -> frozenset[str]:
    return frozenset(lexical.stem(part) for word in content_words(text) for part in lexical.words(word))


def _with_opinions(drafts: list[KeptDraft], opinion: SupportOpinion | None) -> list[KeptDraft]:
    if not drafts or opinion is None or not opinion.told:
        return drafts
    return [*drafts[:-1], {**drafts[-1], "opinions": opinion.told}]


def _spent(usage: Usage, opinion: SupportOpinion | None) -> Usage:
    """With what the model's opinions cost."""
    if opinion is None:
        return usage
    return {
        "model": usage["model"],
        "model_calls": usage["model_calls"] + opinion.calls,
        "prompt_tokens": usage["prompt_tokens"] + opinion.prompt_tokens,
        "completion_tokens": usage["completion_tokens"] + opinion.completion_tokens,
    }


def _claims(value: dict[str, Any] | None) -> list[dict[str, Any]]:
    if not value or not value.get("answered", True):
        return []
    claims: list[dict[str, Any]] = value["basis"] if "basis" in value else value["sentences"]
    return claims


def _silent(value: dict[str, Any], dropped: list[str]) -> bool:
    """Whether the model itself says that it has no answer: in the field, or in words."""
    return not value.get("answered", True) or any(map(wording.unknown, dropped))


def _why(draft: Draft, dropped: list[str]) -> refusals.Why:
    """Why nothing of the draft may leave."""
    if any(map(wording.declined, [*dropped, draft["text"]] if draft["value"] is None else dropped)):
        return "declined"
    if draft["cut"]:
        return "cut"
    return "unreadable" if draft["value"] is None else "unsupported"


def _quoted(state: State, generator: Generator, least: float) -> dict[str, Any]:
    """What the embedded answerer makes of the same evidence, where the chance that it answers is at least `least`."""
    return {} if generator.extractive else generator.quoted(task_of(state, state["evidence"]).messages, least)


def _assessment(value: dict[str, Any]) -> dict[str, Any]:
    """The design without live links or markup, its weights made to sum to the weighting."""
    from graph.models.assessment import apportion

    clean = {key: _defanged(item) for key, item in value.items() if key != "basis"}
    weights = [row["weight"] for row in clean["rubric"]]
    if sum(weights) != clean["weighting"]:
        fitted = apportion([max(w, 1) for w in weights], clean["weighting"])
        clean["rubric"] = [{**row, "weight": w} for row, w in zip(clean["rubric"], fitted, strict=True)]
    return clean


def _defanged(value: Any) -> Any:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, list):
        return [_defanged(item) for item in value]
    return {key: _defanged(item) for key, item in value.items()} if isinstance(value, dict) else value
