"""An OpenAI-compatible server: what it takes, and what its errors mean.

Servers differ (vLLM, llama.cpp, Ollama, LM Studio, hosted ones): some take no schema, some models' templates no system
message; most know `max_tokens` alone and write without end when it has another name.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from graph.errors import ModelUnavailable
from graph.models import thought
from graph.settings import Settings

_THOUGHTS = ("reasoning_content", "reasoning")  # the fields of llama.cpp, vLLM and LM Studio; of Ollama and others
_NEWER = ("openai.com", "azure.com")  # who takes `max_completion_tokens` only
_TOO_LONG = re.compile(
    r"context[_ ](?:length|size|window|limit)|maximum context|n_ctx|context (?:the )?overflow"
    r"|exceed\w* .{0,40}\b(?:context|tokens?)\b"
    r"|(?:prompt|input) is too long|too many (?:input )?tokens|reduce the length|token limit",
    re.I | re.S,
)
_ROLES = re.compile(r"system.{0,20}(?:role|message|prompt)|\broles? .{0,40}(?:support|alternat)", re.I | re.S)


class ContextTooSmall(ModelUnavailable):
    """The prompt and the answer together are longer than what the model reads at once."""


class StreamGivenUp(Exception):
    """Nobody waits for the rest of a stream."""


@dataclass(frozen=True)
class Form:
    """What a request to this server contains: at first everything, then no more what the server refused."""

    schema: bool = True
    system: bool = True

    def simpler(self, status: int, message: str) -> "Form | None":
        """What to try next after this error; None when asking in another way would not help."""
        if self.system and _ROLES.search(message) and status in (400, 422, 500):
            return replace(self, system=False)
        if status not in (400, 422, 501):
            return None
        if self.schema:
            return replace(self, schema=False)
        return replace(self, system=False) if self.system else None

    def messages(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """Without a system message where the model's template knows none: its text then opens the first question."""
        if self.system or not messages or not isinstance(messages[0], SystemMessage):
            return list(messages)
        return [HumanMessage(f"{messages[0].text}\n\n{messages[1].text}"), *messages[2:]]


def _too_long(message: str) -> bool:
    """Whether an error says that the prompt does not fit the context."""
    return _TOO_LONG.search(message) is not None


def open_chat(settings: Settings, client: Any) -> BaseChatModel:
    """The client of the settings' server. Raises ModelUnavailable when none is named."""
    from langchain_openai import ChatOpenAI

    if not settings.openai_base_url and not settings.openai_api_key.get_secret_value():
        raise ModelUnavailable(
            f"the model {settings.model!r} has no server.",
            hint="Set OPENAI_BASE_URL (Ollama: http://localhost:11434/v1) and, if it asks for one, OPENAI_API_KEY.",
        )
    host = urlsplit(settings.openai_base_url).hostname or _NEWER[0]
    older = not host.endswith(_NEWER)

    class Chat(ChatOpenAI):
        """Keeps the thoughts that a server sends beside the content, and says `max_tokens` where only that is known."""

        def _get_request_payload(self, input_: Any, *, stop: Any = None, **kwargs: Any) -> dict[str, Any]:
            payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
            if older and "max_completion_tokens" in payload:
                payload["max_tokens"] = payload.pop("max_completion_tokens")
            return payload

        def _create_chat_result(self, response: Any, generation_info: Any = None) -> Any:
            result = super()._create_chat_result(response, generation_info)
            choices = (response if isinstance(response, dict) else response.model_dump(warnings=False))["choices"]
            for generation, choice in zip(result.generations, choices, strict=False):
                generation.message.additional_kwargs |= _thoughts(choice.get("message"))
            return result

        def _convert_chunk_to_generation_chunk(self, chunk: dict[str, Any], kind: type, info: Any) -> Any:
            made = super()._convert_chunk_to_generation_chunk(chunk, kind, info)
            choices = chunk.get("choices") or (chunk.get("chunk") or {}).get("choices")
            if made is not None and choices:
                made.message.additional_kwargs |= _thoughts(choices[0].get("delta"))
            return made

    return Chat(
        model=settings.model,
        base_url=settings.openai_base_url or None,
        api_key=settings.openai_api_key.get_secret_value() or "none",  # type: ignore[arg-type]
        temperature=settings.temperature,
        timeout=settings.model_timeout_s,
        max_retries=settings.model_retries,
        stream_usage=True,
        use_responses_api=False,
        http_client=client,
    )


def _thoughts(message: Any) -> dict[str, str]:
    """One key for what servers name differently: chunks of a stream are joined by key."""
    thoughts = next((message[k] for k in _THOUGHTS if isinstance((message or {}).get(k), str) and message[k]), "")
    return {_THOUGHTS[0]: thoughts} if thoughts else {}


def written(message: Any) -> str:
    """What the model wrote, wherever the server put it: the content; else the arguments of a call that nobody offered,
    the refusal, or the thoughts, marked as such."""
    if text := str(message.text).strip():
        return text
    more = message.additional_kwargs
    for call in [*message.tool_calls, *message.invalid_tool_calls]:
        if arguments := call["args"]:
            return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return str(more.get("refusal") or "") or (thought.marked(t) if (t := str(more.get(_THOUGHTS[0]) or "")) else "")


def translated(error: Exception, settings: Settings) -> ModelUnavailable:
    """What a person needs to know of an error of the client."""
    import openai

    from graph.models.responses import Refused

    name = settings.model
    if _too_long(str(error)):
        hint = "Set CORDON_CONTEXT to the tokens it reads, or give it more (Ollama: OLLAMA_CONTEXT_LENGTH)."
        return ContextTooSmall(f"the model server for {name!r} says that the prompt is too long for it.", hint=hint)
    ollama = f"Is {name!r} pulled or served there? Ollama: `ollama pull {name}`."
    known: tuple[tuple[Any, str, str], ...] = (
        (openai.BadRequestError, "refused the request (400)", "Is the model a chat model?"),
        (openai.NotFoundError, "does not know the model (404)", ollama),
        (
            (openai.AuthenticationError, openai.PermissionDeniedError),
            "does not accept the key",
            "Check OPENAI_API_KEY.",
        ),
        (openai.RateLimitError, "is over its rate limit (429)", "Try again in a minute."),
        (openai.APITimeoutError, "took too long", "Raise CORDON_MODEL_TIMEOUT_S."),
        (Refused, f"sent {error}", "Is it a chat model?"),
        (openai.APIConnectionError, "cannot be reached", "Is it running, and OPENAI_BASE_URL right?"),
        (openai.APIStatusError, f"failed ({getattr(error, 'status_code', '')})", "See the server's log."),
        (openai.ContentFilterFinishReasonError, "broke off its answer (content filter)", "Try again in other words."),
    )
    other = ("sent something that is no chat completion", "Does OPENAI_BASE_URL end in /v1?")
    return down(settings, *next(((what, hint) for kind, what, hint in known if isinstance(error, kind)), other))


def down(settings: Settings, what: str, hint: str) -> ModelUnavailable:
    """The error whose message names the server's model and goes on with `what`."""
    return ModelUnavailable(f"the model server for {settings.model!r} {what}.", hint=hint)
