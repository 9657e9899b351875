"""repair: makes a malformed or ungrounded draft usable: deterministic steps, then the model, told what was wrong."""

from typing import Any

from langchain_core.messages import AIMessage, HumanMessage

from graph.models.chat import Generator
from graph.policy import pii
from graph.policy import repair as ladder
from graph.policy.schemas import SCHEMAS
from graph.settings import Settings
from graph.state import State
from nodes.generate import prepare, room, spent
from prompts import load

TRIES = 2  # calls of the model to mend its own draft, in one turn


def repair(state: State, *, generator: Generator, settings: Settings) -> dict[str, Any]:
    draft, schema = state["draft"], SCHEMAS[state["intent"]["name"]]
    usage, used, tries = state["usage"], state["prompts"], state["repairs"]
    steps, errors, text = list(draft["steps"]), list(draft["errors"]), draft["text"]
    found = ladder.repair(text, schema)
    if draft["value"] is not None:  # well formed, but validation found nothing it could let out
        found = ladder.Repaired(ok=False, errors=errors or ["No sentence was supported by the source it names."])
    steps += found.steps
    tries_left = 0 if state["released"]["sentences"] else TRIES  # what left cannot be written anew
    while not found.ok and tries < tries_left:
        tries += 1
        prompt = load("repair")
        used = used | {prompt.name: prompt.digest}
        ask = HumanMessage(prompt.fill(errors="\n".join(f"- {error}" for error in found.errors)))
        completion = generator.complete(
            [*prepare(state).messages, AIMessage(text), ask], schema=schema, max_tokens=room(state, settings)
        )
        usage = spent(usage, completion)
        text = pii.mask(completion.text).text
        found = ladder.repair(text, schema)
        steps += ["model", *found.steps]
    return {
        "draft": {"text": text, "value": found.value if found.ok else None, "errors": found.errors, "steps": steps},
        "repairs": tries,
        "usage": usage,
        "prompts": used,
    }
