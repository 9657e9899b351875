"""admit: who asks, in whose thread; a clean turn; the question masked and checked before anything else sees it."""

import uuid
from typing import Any, Literal

from langgraph.runtime import Runtime

from graph import memory, options
from graph.context import Context, principal
from graph.errors import Forbidden
from graph.policy import pii
from graph.policy.answer.refusals import EMPTY_QUESTION, NOTHING_ASKED, TOO_LONG, TOO_SHORT
from graph.policy.question import masked_values
from graph.policy.threats import courtesy
from graph.settings import Settings
from graph.state import State, fresh_turn
from graph.timestamps import timestamp


def admit(state: State, runtime: Runtime[Context], *, settings: Settings) -> State:
    """Raises Forbidden where the thread is somebody else's."""
    asker = principal(runtime)
    if state.get("owner", asker.digest) != asker.digest:
        raise Forbidden("the thread belongs to someone else.")
    turn = fresh_turn(uuid.uuid4().hex, timestamp())
    raw: Any = state.get("question", "")
    question = memory.clean(raw) if isinstance(raw, str) else ""
    masked = pii.mask(question[: settings.max_question_chars + 1])
    personal = masked_values.handed_on(state.get("options")) or masked_values.from_question(question, masked.spans)
    flags = ["pii_in_question"] if personal["kinds"] else []
    if personal["kinds"] and personal["placeholder"]:
        flags.append("placeholder_in_question")  # then triage cannot tell which ones stand for the asker's own
    admitted, flag = _check(question, settings)
    return {
        **turn,
        "owner": asker.digest,
        "memory": memory.readable(state.get("memory") or memory.EMPTY, asker.groups),
        "question": masked.text[: settings.max_question_chars],
        "earlier": memory.from_client(options.conversation(state.get("options"))),
        "options": options.settled(state.get("options"), settings.top_k),
        "admitted": admitted,
        "flags": flags + ([flag] if flag else []),
        "filters": [f"masked:{kind}" for kind in personal["kinds"]],
    }


def admitted(state: State) -> Literal["classify", "respond"]:
    """A question that failed the first checks is answered at once."""
    return "respond" if state["admitted"] else "classify"


def _check(question: str, settings: Settings) -> tuple[str, str]:
    """(what to tell the asker, flag), both "" when the question may go on."""
    if not question:
        return EMPTY_QUESTION, "empty_question"
    if len(question) > settings.max_question_chars:
        return TOO_LONG.format(limit=settings.max_question_chars), "question_too_long"
    if len(question) < settings.min_question_chars or not any(c.isalnum() for c in question):
        return TOO_SHORT, "question_too_short"
    if courtesy.alone(question):
        return NOTHING_ASKED, "nothing_asked"
    return "", ""
