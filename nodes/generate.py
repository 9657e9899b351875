"""generate: the model writes a draft from masked evidence. It sees nothing else of the documents."""

import hashlib
import json
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from langgraph.runtime import Runtime

from graph import memory
from graph.answering import completing
from graph.answering.sentence_stream import SentenceStream
from graph.context import Context, principal
from graph.extractive.excerpts import excerpts
from graph.extractive.reader import reader
from graph.knowledge.extensions import PLACE, ROWS, SAYS, SECTION
from graph.knowledge.register import REGISTERED
from graph.knowledge.retriever import needs_sections
from graph.models import draft, task
from graph.models.chat import Completion, Generator
from graph.models.server import ContextTooSmall
from graph.policy import pii
from graph.policy.answer.schemas import SCHEMAS
from graph.policy.evidence import audience
from graph.policy.evidence.redaction import public_values
from graph.policy.grounding.entailment import Encoder, margins
from graph.policy.question import mentioning
from graph.policy.question.answer_type import all_of
from graph.policy.question.intent import weighting
from graph.policy.threats import courtesy
from graph.settings import Settings
from graph.state import Draft, Evidence, KeptDraft, State, Usage
from graph.stores.journal import Journal

SHORT_ANSWER = 250  # tokens of a short answer in prose: a small model that goes on says one thing without end
ASSESSMENT_TOKENS = 4  # times max_tokens: a brief, a rubric and a checklist are long


def generate(
    state: State,
    runtime: Runtime[Context],
    *,
    generator: Generator,
    journal: Journal,
    settings: Settings,
    support_encoder: Encoder = margins,
) -> State:
    """A stream writes verified sentences only; passages that do not fit the model's context are halved once."""
    guarded = state["verdict"]["action"] == "ALLOW_WITH_GUARDRAILS"
    reviewed = guarded and "guarded" in settings.reviewed  # nothing of it leaves before a person has read it
    streaming = state["options"]["stream"] and state["intent"]["name"] == "GENERIC_QA" and not reviewed
    planned = _planned(state, generator)
    prose = in_prose(state, settings) and not planned
    writer = runtime.stream_writer
    seen: State = state if planned else {**state, "evidence": considered(state, generator)}
    judged = partial(
        SentenceStream,
        prose=prose,
        marked=settings.support == "marked",
        encoder=support_encoder,
        reader=None if planned else completing.judging(state, generator, settings),
    )
    stream = judged(seen, principal(runtime), journal, writer) if streaming else None
    if planned:
        if stream:
            stream.read(json.dumps(planned, ensure_ascii=False))
            stream.close()
        return {
            "draft": {**state["draft"], "text": "", "value": planned, "errors": []},
            "released": stream.released if stream else state["released"],
        }
    job = prepare(state, generator, settings)
    limits: dict[str, Any] = {
        "schema": None if prose else SCHEMAS[state["intent"]["name"]],
        "max_tokens": room(state, settings),
        "each": stream.read if stream else None,
    }
    try:
        completion = generator.complete(job.messages, **limits)
    except ContextTooSmall:
        if job.shown < 2:
            raise
        job = prepare(state, generator, settings, most=job.shown // 2)
        completion = generator.complete(job.messages, **limits)
    finally:
        if stream:
            stream.close()
    draft = read(completion, state, ["prose"] if prose else [])
    return {
        "draft": draft,
        "drafts": with_draft(state["drafts"], draft["text"], completion, settings),
        "flags": flagged(state, job),
        "released": stream.released if stream else state["released"],
        "usage": spent(state["usage"], completion),
        "prompts": state["prompts"] | job.prompts,
    }


def _planned(state: State, generator: Generator) -> dict[str, Any]:
    """What the embedded answerer makes of a whole list or table, of a section that the question names, or of documents
    that it picks by their fields: a model that reads a part only guesses. {} where the question asks for none of these,
    or for a summary."""
    query = state["query"]
    if generator.extractive or state["verdict"]["action"] != "ALLOW" or state["intent"]["name"] != "GENERIC_QA":
        return {}
    registered = state["listing"] == REGISTERED
    places = registered or mentioning.find(query) is not None or mentioning.no_longer_in_force(query) is not None
    listing = state["listing"] and not registered
    if listing or not (places or needs_sections(query)) or all_of(query) == "summary":
        return {}
    planned = generator.quoted(task_of(state, state["evidence"]).messages, planned=True)
    return planned if planned.get("answered") and (places or planned.get("sure")) else {}


def with_draft(drafts: list[KeptDraft], text: str, completion: Completion, settings: Settings) -> list[KeptDraft]:
    """The drafts and this one, already masked, where the settings keep drafts for a replay."""
    return [*drafts, {"text": text, "cut": completion.cut}] if settings.keep_drafts and settings.artifacts else drafts


def well_formed(state: State) -> Literal["repair", "validate"]:
    """A draft without a value is not in the form that was asked for."""
    return "validate" if state["draft"]["value"] is not None else "repair"


def prepare(
    state: State, generator: Generator, settings: Settings, *, most: int | None = None, beside: int = 0
) -> task.Task:
    """The messages for this turn's intent, constraints and memory, with as many passages as the model has room for: at
    most `most`, and with room for `beside` bytes of further messages."""
    passages = _read_by_model(state, generator, settings)

    def make(count: int) -> task.Task:
        return task_of(state, passages[:count], prose=in_prose(state, settings))

    job = generator.budget.fitted(make, len(passages) if most is None else most, room(state, settings), beside)
    return replace(job, left_out=len(passages) - job.shown)


def _read_by_model(state: State, generator: Generator, settings: Settings) -> list[Evidence]:
    """The passages as the prompt has them: whole, or what of them may answer."""
    evidence, words = considered(state, generator), settings.words_of_evidence
    kind = all_of(state["query"])
    if generator.extractive or not words or kind or state["listing"] or state["intent"]["name"] != "GENERIC_QA":
        return evidence
    return excerpts(state["query"], evidence, reader(settings), words)


def considered(state: State, generator: Generator) -> list[Evidence]:
    """What the draft is written from and judged by. Of sections that are read whole, and of places that mention
    something, a model sees the rest only for a summary: the embedded answerer lists and counts (`_planned`)."""
    planned = state["draft"]["value"] is not None and not state["draft"]["text"]  # no model wrote it
    if generator.extractive or planned or all_of(state["query"]) == "summary":
        return state["evidence"]
    beyond = state["options"]["top_k"]
    return [
        item
        for item in state["evidence"]
        if (why := item.get("why")) not in (SECTION, PLACE) and (why not in (ROWS, SAYS) or item["n"] <= beyond)
    ]


def _too_many_rows(state: State) -> bool:
    """Whether more rows of a long table fit the question than are among the evidence."""
    looked = state["retrieval"].get("looked_through")
    return looked is not None and looked["rows"] > 0 and not looked["passages"]


def flagged(state: State, job: task.Task) -> list[str]:
    """The flags, with one for evidence that the model was not shown."""
    cut = ["evidence_cut"] if job.left_out else []
    return list(dict.fromkeys([*state["flags"], *cut]))


def in_prose(state: State, settings: Settings) -> bool:
    """Whether the draft is asked for as prose. An assessment has too many parts for that."""
    return settings.in_prose and not settings.embedded and state["intent"]["name"] == "GENERIC_QA"


def task_of(state: State, evidence: list[Evidence], prose: bool = False) -> task.Task:
    """The messages with exactly this evidence."""
    options, guarded = state["options"], state["verdict"]["action"] != "ALLOW"
    # A question that points at one thing of a list, or at another talk, is asked as the asker put it: the prompt names
    # the thing beside it, and the evidence is from there. One that goes on from the last is asked as completed.
    points = not state["follow_up"].get("after")
    mended = bool(state["understood"]) and not (state["understood"].get("follow_up") and points)
    question = state["query"] if guarded or mended else courtesy.bare(state["question"])
    if state["intent"]["name"] == "ASSESSMENT_GEN":
        return task.assessment(
            question if guarded else state["question"],
            evidence,
            weighting=weighting(state["question"]),
            capstone=options["capstone"],
            guarded=guarded,
            day=state["started"][:10],
            nonce=_nonce(state),
        )
    return task.answer(
        question,
        evidence,
        day=state["started"][:10],
        style=options["style"],
        guarded=guarded,
        meant_for=audience.asker(state["question"]) if "guarded" in state["flags"] else None,
        memory=memory.as_text(state["memory"], options["memory"], state["earlier"]),
        about=state["follow_up"].get("about", "") if points else "",
        listing=bool(state["listing"]),
        cut="listing_cut" in state["flags"] or _too_many_rows(state),
        nonce=_nonce(state),
        prose=prose,
    )


def _nonce(state: State) -> str:
    """One for all prompts of a turn, so that a server reads its own draft's prompt once; new in every turn."""
    return hashlib.blake2s(state["turn"].encode()).hexdigest()[:8]


def room(state: State, settings: Settings) -> int:
    """Tokens that the model may write."""
    if state["intent"]["name"] == "ASSESSMENT_GEN":
        return settings.max_tokens * ASSESSMENT_TOKENS
    short = in_prose(state, settings) and state["options"]["style"] == "concise"
    short = short and not state["listing"] and not all_of(state["query"])
    return min(settings.max_tokens, SHORT_ANSWER) if short else settings.max_tokens


def read(completion: Completion, state: State, steps: list[str]) -> Draft:
    """The masked draft. It has a value only where it is as asked for: parsed without repairs other than `steps`."""
    text = pii.mask(completion.text, keep=public_values(state["evidence"])).text
    parsed = draft.read(text, SCHEMAS[state["intent"]["name"]], state["evidence"], cut=completion.cut)
    strict = parsed.ok and parsed.steps in ([], steps)
    return {
        **state["draft"],
        "text": text,
        "value": parsed.value if strict else None,
        "errors": parsed.errors,
        "steps": [],
        "cut": completion.cut,
    }


def spent(usage: Usage, completion: Completion) -> Usage:
    """With this call of the model added."""
    return {
        "model": completion.model,
        "model_calls": usage["model_calls"] + 1,
        "prompt_tokens": usage["prompt_tokens"] + completion.prompt_tokens,
        "completion_tokens": usage["completion_tokens"] + completion.completion_tokens,
    }
