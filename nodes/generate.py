"""generate: the model writes a draft from masked evidence. It sees nothing else of the documents."""

from typing import Any, Literal

from langgraph.runtime import Runtime

from graph import memory
from graph.audit.journal import Journal
from graph.context import Context, principal
from graph.models import task
from graph.models.chat import Completion, Generator
from graph.policy import pii
from graph.policy.intent import weighting
from graph.policy.repair import repair
from graph.policy.schemas import SCHEMAS
from graph.release import Release
from graph.settings import Settings
from graph.state import Draft, State, Usage

ASSESSMENT_TOKENS = 4  # times max_tokens: a brief, a rubric and a checklist are long


def generate(
    state: State, runtime: Runtime[Context], *, generator: Generator, journal: Journal, settings: Settings
) -> dict[str, Any]:
    job = prepare(state)
    streaming = state["options"]["stream"] and state["intent"]["name"] == "GENERIC_QA"
    release = Release(state, principal(runtime), journal, runtime.stream_writer) if streaming else None
    try:
        completion = generator.complete(
            job.messages,
            schema=SCHEMAS[state["intent"]["name"]],
            max_tokens=room(state, settings),
            each=release.read if release else None,
        )
    finally:
        if release:
            release.close()
    return {
        "draft": read(completion, state),
        "released": release.made if release else state["released"],
        "usage": spent(state["usage"], completion),
        "prompts": state["prompts"] | job.prompts,
    }


def well_formed(state: State) -> Literal["repair", "validate"]:
    return "validate" if state["draft"]["value"] is not None else "repair"


def prepare(state: State) -> task.Task:
    """The messages for this turn's intent, constraints and memory."""
    options, guarded = state["options"], state["verdict"]["action"] != "ALLOW"
    asked = state["query"] if guarded else state["question"]
    if state["intent"]["name"] == "ASSESSMENT_GEN":
        return task.assessment(
            asked if guarded else state["question"],
            state["evidence"],
            weighting=weighting(state["question"]),
            capstone=options["capstone"],
            guarded=guarded,
        )
    return task.answer(
        asked,
        state["evidence"],
        style=options["style"],
        guarded=guarded,
        memory=memory.as_text(state["memory"], options["memory"], state["earlier"]),
        about=state["follow_up"].get("about", ""),
        listing=bool(state["listing"]),
    )


def room(state: State, settings: Settings) -> int:
    return settings.max_tokens * (ASSESSMENT_TOKENS if state["intent"]["name"] == "ASSESSMENT_GEN" else 1)


def read(completion: Completion, state: State) -> Draft:
    """The draft: masked, and parsed when it is JSON as asked for."""
    text = pii.mask(completion.text).text
    found = repair(text, SCHEMAS[state["intent"]["name"]])
    strict = found.ok and not found.steps
    return {"text": text, "value": found.value if strict else None, "errors": found.errors, "steps": []}


def spent(usage: Usage, completion: Completion) -> Usage:
    return {
        "model": completion.model,
        "model_calls": usage["model_calls"] + 1,
        "prompt_tokens": usage["prompt_tokens"] + completion.prompt_tokens,
        "completion_tokens": usage["completion_tokens"] + completion.completion_tokens,
    }
