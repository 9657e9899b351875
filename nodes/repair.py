"""repair: makes a malformed draft usable: deterministic steps, then the model, told what was wrong.

A draft that reads well and that no source supports is not asked for again: a model writes the same once more."""

from langchain_core.messages import AIMessage, HumanMessage

from graph.models import draft as drafts
from graph.models.chat import Generator
from graph.models.server import ContextTooSmall
from graph.policy import pii
from graph.policy.answer.schemas import SCHEMAS
from graph.policy.evidence.redaction import public_values
from graph.settings import Settings
from graph.state import State
from nodes.generate import flagged, in_prose, prepare, room, spent, with_draft
from prompts import load

TRIES = 1  # calls of the model to mend its own draft, in one turn
_SHOWN = 4_000  # characters of its draft that a model is shown again
_CUT = "It broke off because it was too long. Say it in fewer words."


def repair(state: State, *, generator: Generator, settings: Settings) -> State:
    """The model is asked at most `TRIES` times in a turn, and not where sentences have left already."""
    draft, schema = state["draft"], SCHEMAS[state["intent"]["name"]]
    usage, used, tries, flags = state["usage"], state["prompts"], state["repairs"], state["flags"]
    written = state["drafts"]
    steps, text, cut = list(draft["steps"]), draft["text"], draft["cut"]
    parsed = drafts.read(text, schema, state["evidence"], cut=cut)
    steps += parsed.steps
    # What left cannot be written anew, and a model that was asked for prose writes no better in JSON.
    tries_left = 0 if state["released"]["sentences"] or in_prose(state, settings) else TRIES
    while not parsed.ok and tries < tries_left:
        tries += 1
        prompt = load("repair")
        used = used | {prompt.name: prompt.digest}
        wrong = [_CUT] if cut else parsed.errors
        ask = HumanMessage(prompt.fill(errors="\n".join(f"- {error}" for error in wrong)))
        draft_message = AIMessage(text[:_SHOWN])
        job = prepare(state, generator, settings, beside=len(f"{draft_message.content}{ask.content}".encode()))
        try:
            completion = generator.complete(
                [*job.messages, draft_message, ask], schema=schema, max_tokens=room(state, settings)
            )
        except ContextTooSmall:  # its draft beside the evidence is too much for it: nothing better will come
            tries = TRIES
            break
        flags, usage = flagged({**state, "flags": flags}, job), spent(usage, completion)
        text, cut = pii.mask(completion.text, keep=public_values(state["evidence"])).text, completion.cut
        written = with_draft(written, text, completion, settings)
        parsed = drafts.read(text, schema, state["evidence"], cut=cut)
        steps += ["model", *parsed.steps]
    value = parsed.value if parsed.ok else None
    return {
        "draft": {**draft, "text": text, "value": value, "errors": parsed.errors, "steps": steps, "cut": cut},
        "drafts": written,
        "repairs": tries,
        "usage": usage,
        "flags": flags,
        "prompts": used,
    }
