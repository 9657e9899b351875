"""Chat models that stand in for a real one: they keep what they were shown."""

import json
import re
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

_SOURCE = re.compile(r"<evidence-(\w+) n=(\d+) from=[^\n]*>\n(.*?)\n</evidence-\1>", re.S)


class Scripted(BaseChatModel):
    """Answers with what `reply(prompt)` says; `seen` holds every prompt as one text."""

    reply: Callable[[str], str]
    seen: list[str] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        prompt = "\n\n".join(str(m.content) for m in messages)
        self.seen.append(prompt)
        usage: Any = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
        message = AIMessage(self.reply(prompt), usage_metadata=usage, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])


def sources_in(prompt: str) -> dict[int, str]:
    """Number → text of the evidence as a prompt shows it."""
    return {int(n): text for _, n, text in _SOURCE.findall(prompt)}


def sentences(*claims: tuple[str, list[int]]) -> str:
    return json.dumps(
        {"answered": True, "sentences": [{"text": t, "sources": s} for t, s in claims]}, ensure_ascii=False
    )


def quoting(prompt: str) -> str:
    """An honest model: says the longest line of the first source, and names it."""
    found = sources_in(prompt)
    if not found:
        return json.dumps({"answered": False, "sentences": []})
    n, text = next(iter(found.items()))
    return sentences((max(re.split(r"(?<=[.!?])\s|\n", text), key=len).strip(), [n]))


def everything(prompt: str) -> str:
    """A model that says all it was shown: what leaks into the prompt leaks out."""
    return sentences(
        *((line.strip(), [n]) for n, text in sources_in(prompt).items() for line in text.splitlines() if len(line) > 20)
    )
