"""review: the run waits here for a person, in a checkpoint, for as long as that takes. What comes back is their
decision: {"act": approve | edit | refuse, "by": user, "text": of an edit, "reason": of a refusal}."""

from typing import Any

from langgraph.types import interrupt

from graph.answering.verified import shown
from graph.policy import pii
from graph.policy.evidence.redaction import public_values
from graph.policy.text import defang
from graph.state import Said, State

ACTS = ("approve", "edit", "refuse", "expire")
MOST_TEXT, MOST_REASON = 20_000, 1_000  # characters


def review(state: State) -> State:
    """A decision that cannot be read leaves `problem`, and the run waits again."""
    decision = _decision(interrupt(draft(state)), state)
    problem = decision if isinstance(decision, str) else ""
    return {"review": {**state["review"], "said": None if isinstance(decision, str) else decision, "problem": problem}}


def draft(state: State) -> dict[str, Any]:
    """What a reviewer is shown. All of it is masked."""
    keys = ("question", "intent", "verdict", "rewrite", "answer", "sentences", "citations", "assessment", "evidence")
    shown: dict[str, Any] = {key: state[key] for key in keys}  # type: ignore[literal-required]
    return {"run_id": state["turn"], "waits": state["review"]["why"], "problem": state["review"]["problem"], **shown}


def _decision(answer: Any, state: State) -> Said | str:
    """The decision, masked; or what is wrong with it, in words."""
    if not isinstance(answer, dict) or answer.get("act") not in ACTS:
        return f"a decision is {{act: {', '.join(ACTS[:3])}; by: who decides}}."
    texts = {name: answer.get(name, "") for name in ("by", "text", "reason")}
    if not all(isinstance(text, str) for text in texts.values()):
        return "by, text and reason are texts."
    if len(texts["text"]) > MOST_TEXT or len(texts["reason"]) > MOST_REASON:
        return f"a text has at most {MOST_TEXT:,} characters, a reason {MOST_REASON:,}."
    return {
        "act": answer["act"],
        "by": texts["by"].strip(),
        "text": pii.mask(texts["text"], keep=public_values(state["evidence"])).text.strip(),
        "reason": defang.line(shown(texts["reason"])).strip(),
    }
