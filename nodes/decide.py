"""decide: carries out what a reviewer decided, on the evidence as the asker may see it now. What cannot be carried out
is said, and the run goes on waiting."""

import re
from typing import Literal

from langgraph.runtime import Runtime

from graph.answering.verified import Verified
from graph.context import Context, principal
from graph.knowledge.index import Index
from graph.policy.answer import refusals
from graph.policy.grounding.entailment import Encoder, margins
from graph.policy.text.sentences import split
from graph.policy.threats.detector import Detector
from graph.public import PublicValues
from graph.settings import Settings
from graph.state import Evidence, Said, State
from nodes.guard import guard
from nodes.respond import respond

MOST_SENTENCES = 60  # as of a model's draft
_NUMBERS = re.compile(r"[ \n]?(?:\[\d{1,3}\])+")
_ITEM = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_EXPIRED = "nobody reviewed it in time. Please ask again."


def decide(
    state: State,
    runtime: Runtime[Context],
    *,
    index: Index,
    public: PublicValues,
    settings: Settings,
    detector: Detector | None = None,
    support_encoder: Encoder = margins,
) -> State:
    """Nobody decides on an answer of their own; an approval needs every cited passage readable and unchanged."""
    decision = state["review"]["said"]
    if decision is None:
        return {}
    if decision["by"] == principal(runtime).user_id and decision["act"] != "expire":
        return _cannot(state, "nobody reviews an answer of their own: somebody else has to decide.")
    if not decision["by"] and decision["act"] != "expire":
        return _cannot(state, "a decision says who decides (by).")
    if decision["act"] in ("refuse", "expire"):
        return _refused(state, decision)
    now = guard(state, runtime, index=index, public=public, settings=settings, detector=detector)["evidence"]
    texts = {(item["where"], item["chunk_id"]): item["text"] for item in now}
    unchanged = [item for item in state["evidence"] if texts.get((item["where"], item["chunk_id"])) == item["text"]]
    if decision["act"] == "edit":
        return _edited(state, decision, unchanged, settings, support_encoder)
    readable = {(item["visibility"], item["chunk_id"]) for item in unchanged}
    cited = state["citations"]
    if gone := sorted({c["filename"] for c in cited if (c["visibility"], c["chunk_id"]) not in readable}):
        return _cannot(
            state, f"it rests on {gone[0]!r}, which has changed, is gone, or may not be read by the asker now."
        )
    return {}


def settled(state: State) -> Literal["review", "remember", "publish"]:
    """To `review`, which waits again, where the decision could not be carried out. A refusal is not remembered."""
    if state["review"]["said"] is None:
        return "review"
    return "publish" if state["decision"] == "refusal" else "remember"


def _cannot(state: State, why: str) -> State:
    return {"review": {**state["review"], "said": None, "problem": why}}


def _refused(state: State, decision: Said) -> State:
    if decision["act"] == "refuse" and not decision["reason"]:
        return _cannot(state, "a refusal has a reason, which the asker reads.")
    refusal = refusals.not_approved(decision["reason"] or _EXPIRED)
    return {
        "decision": "refusal",
        "refusal": refusal,
        "answer": refusal["text"],
        "sentences": [],
        "citations": [],
        "assessment": {},
        "confidence": "low",
        "reasoning": "A reviewer refused it." if decision["act"] == "refuse" else "It waited for too long.",
    }


def _edited(state: State, decision: Said, evidence: list[Evidence], settings: Settings, encoder: Encoder) -> State:
    """Put the reviewer's text in place of the answer's sentences (in an assessment, of what the documents say). Each
    sentence is checked against the evidence, as in a draft."""
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    verified = Verified(evidence, guarded=guarded, encoder=encoder)
    written, _ = refusals.noted(decision["text"].strip())  # `respond` adds the notes again
    claims = _claims(_NUMBERS.sub("", written), _before(state, evidence))
    if not claims:
        return _cannot(state, "an edit has a text.")
    if len(claims) > MOST_SENTENCES:
        return _cannot(state, f"an edit has at most {MOST_SENTENCES} sentences, this one {len(claims)}.")
    for text, sources in claims:
        verified.add({"text": text, "sources": sources})
    if verified.dropped:
        return _cannot(
            state, f"the evidence does not support this sentence, or it may not be told: “{verified.dropped[0]}”"
        )
    draft = {**state["draft"], "why": ""}
    before = [flag for flag in state["flags"] if flag not in (*refusals.NOTES, "edited_by_reviewer")]
    flags = [*before, "edited_by_reviewer"]
    edited: State = {"sentences": verified.sentences, "citations": verified.citations, "flags": flags}
    answered = respond({**state, **edited, "draft": draft}, settings=settings)  # type: ignore[typeddict-item]
    return {**answered, "review": state["review"]}


def _before(state: State, evidence: list[Evidence]) -> dict[str, list[int]]:
    """The sentences of the draft, and which evidence each cites."""
    places: dict[tuple[str, str], int] = {(item["visibility"], item["chunk_id"]): item["n"] for item in evidence}
    cited = {c["n"]: places.get((c["visibility"], c["chunk_id"]), 0) for c in state["citations"]}
    return {s["text"]: [cited[n] for n in s["citations"] if cited[n]] for s in state["sentences"]}


def _claims(text: str, before: dict[str, list[int]]) -> list[tuple[str, list[int]]]:
    """Sentences of the draft as they stood, lists and tables whole, with their sources; new sentences one by one,
    without a source."""
    for known in sorted(before, key=len, reverse=True):
        if (at := text.find(known)) >= 0:
            rest = text[at + len(known) :]
            return [*_claims(text[:at], before), (known, before[known]), *_claims(rest, before)]
    lines = [_ITEM.sub("", line).strip() for line in text.splitlines()]
    sentences = [line[start:end] for line in lines for start, end in split(line)]
    return [(sentence, []) for sentence in sentences if any(c.isalnum() for c in sentence)]
