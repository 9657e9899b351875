"""Chat models as the generate stage sees them: messages in, text and token counts out, failures translated."""

import contextvars
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as OutOfTime
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from graph.errors import ModelUnavailable
from graph.gate import Gate
from graph.knowledge.embeddings import Embedder
from graph.models import assessment, extractive
from graph.models.task import KEY
from graph.settings import Settings

EMBEDDED = "cordon-embedded"
_AT_ONCE = 4_096  # calls; one that was given up holds its thread until the server lets go of it
MOST_CHARS = 32  # of an answer for each token that was asked for; more is cut off, as the server should have done
T = TypeVar("T")


@dataclass(frozen=True)
class Completion:
    """What a model wrote, and what it cost. Token counts are the server's own, or the embedded tokenizer's."""

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int


class EmbeddedChatModel(BaseChatModel):
    """A deterministic extractive answerer: every sentence it writes stands in the evidence of the last message."""

    embedder: Any = None

    @property
    def _llm_type(self) -> str:
        return EMBEDDED

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        import json

        task = next((m.additional_kwargs[KEY] for m in reversed(messages) if KEY in m.additional_kwargs), None)
        if task is None:
            raise ModelUnavailable("the embedded model answers Cordon's own tasks only.")
        write = {"answer": extractive.answer, "assessment": assessment.design}[task["kind"]]
        text = json.dumps(write(task, self.embedder), ensure_ascii=False)
        prompt = sum(self._count(str(m.content)) for m in messages)
        completion = self._count(text)
        usage = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
        message = AIMessage(text, usage_metadata=usage, response_metadata={"finish_reason": "stop"})
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _count(self, text: str) -> int:
        return self.embedder.count(text) if self.embedder is not None else len(text.split())


class Generator:
    """The model that writes answers. Built once; opened on first use."""

    def __init__(
        self, settings: Settings, embedder: Embedder, model: BaseChatModel | None = None, gate: Gate | None = None
    ) -> None:
        """`gate` is what the callers stand in, and leave while they wait for a server."""
        self._gate = gate
        self.name = EMBEDDED if settings.embedded else settings.model
        self._settings = settings
        self._embedder = embedder
        self._given = model
        self._schemas = True  # until the server says that it cannot
        # Kept, because to start a thread takes a fifth as long as the whole call.
        self._calls = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="cordon-model")

    @cached_property
    def _model(self) -> BaseChatModel:
        if self._given is not None:
            return self._given
        if self._settings.embedded:
            return EmbeddedChatModel(embedder=self._embedder)
        return _openai(self._settings, self._client)

    @cached_property
    def _client(self) -> Any:
        from graph.models import responses

        return responses.client()

    def close(self) -> None:
        """Let go of the connections to the server."""
        client = self.__dict__.pop("_client", None)
        self.__dict__.pop("_model", None)
        if client is not None:
            client.close()

    def complete(
        self,
        messages: Sequence[BaseMessage],
        *,
        schema: dict[str, Any],
        max_tokens: int,
        each: Callable[[str], None] | None = None,
    ) -> Completion:
        """One completion. Raises ModelUnavailable when no whole answer came in time.

        `schema` (JSON Schema) is sent along where the server takes it. It is a help to the model, not a check.
        With `each` the answer is streamed, and `each` is called, in another thread, with all that was written so far.
        """
        if isinstance(self._model, EmbeddedChatModel):
            return self._read(_alone(self._model.invoke, list(messages)), sys.maxsize)
        # A server that drips keeps every single read alive: the whole call has a deadline of its own.
        call = self._calls.submit(_alone, self._remote, messages, schema, max_tokens, each)
        try:
            with self._gate.outside() if self._gate else nullcontext():
                return call.result(self._settings.model_timeout_s)
        except OutOfTime as error:
            raise _down(
                self._settings, "took too long", "Raise CORDON_MODEL_TIMEOUT_S or use a smaller model."
            ) from error
        finally:
            call.cancel()

    def _remote(
        self,
        messages: Sequence[BaseMessage],
        schema: dict[str, Any],
        max_tokens: int,
        each: Callable[[str], None] | None,
    ) -> Completion:
        import openai

        from graph.models.responses import Refused

        bound: dict[str, Any] = {"max_tokens": max_tokens}
        if self._schemas:
            wanted: dict[str, Any] = {
                "type": "json_schema",
                "json_schema": {"name": schema["title"], "schema": schema, "strict": False},
            }
            # In our own client's extra part, which goes out as it is: it would look through the schema word by word,
            # and then through the answer, for a third of the time that a call takes it.
            bound |= {"response_format": wanted} if self._given else {"extra_body": {"response_format": wanted}}
        try:
            model, most = self._model.bind(**bound), max_tokens * MOST_CHARS
            said = model.invoke(list(messages)) if each is None else _streamed(model, messages, each, most)
            return self._read(said, most)
        except openai.BadRequestError as error:
            if self._schemas:
                self._schemas = False
                return self._remote(messages, schema, max_tokens, each)
            raise _down(self._settings, "refused the request (400)", "Is the model a chat model?") from error
        except openai.NotFoundError as error:
            hint = f"Is {self.name!r} pulled or served there? Ollama: `ollama pull {self.name}`."
            raise _down(self._settings, "does not know the model (404)", hint) from error
        except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
            raise _down(self._settings, "does not accept the key", "Check OPENAI_API_KEY.") from error
        except openai.RateLimitError as error:
            raise _down(self._settings, "is over its rate limit (429)", "Try again in a minute.") from error
        except openai.APITimeoutError as error:
            raise _down(self._settings, "took too long", "Raise CORDON_MODEL_TIMEOUT_S.") from error
        except Refused as error:
            raise _down(self._settings, f"sent {error}", "Is it a chat model?") from error
        except openai.APIConnectionError as error:
            raise _down(self._settings, "cannot be reached", "Is it running, and OPENAI_BASE_URL right?") from error
        except openai.APIStatusError as error:
            raise _down(self._settings, f"failed ({error.status_code})", "See the server's log.") from error
        except openai.LengthFinishReasonError as error:  # the client's own check; a cut object may still be mended
            cut, usage = error.completion.choices[0].message.content, error.completion.usage
            spent = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
            return Completion((cut or "")[: max_tokens * MOST_CHARS], self.name, *spent)
        except openai.ContentFilterFinishReasonError as error:
            raise _down(self._settings, "broke off its answer (content filter)", "Try again in other words.") from error
        except (openai.OpenAIError, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            hint = "Does OPENAI_BASE_URL end in /v1?"
            raise _down(self._settings, "sent something that is no chat completion", hint) from error

    def _read(self, message: AIMessage, most: int) -> Completion:
        text = str(message.text)
        reason = "length" if len(text) > most else message.response_metadata.get("finish_reason")
        if reason not in ("stop", "length"):
            # A cut answer reads like a whole one: "The payment is NOT".
            raise _down(self._settings, f"broke off its answer (finish_reason {reason!r})", "Try again.")
        said = message.response_metadata.get("token_usage") or {}  # where a stream with a schema puts it
        usage: dict[str, Any] = dict(message.usage_metadata or {})
        prompt = usage.get("input_tokens", said.get("prompt_tokens", 0))
        written = usage.get("output_tokens", said.get("completion_tokens", 0))
        return Completion(text[:most], self.name, prompt, written)


def _alone(call: Callable[..., T], *given: Any) -> T:
    """What the call gives, made where no callback and no tracer sees it: they would show the prompt and the draft."""
    from langsmith.run_helpers import tracing_context

    def untraced() -> T:
        with tracing_context(enabled=False):
            return call(*given)

    return contextvars.Context().run(untraced)


def _streamed(model: Any, messages: Sequence[BaseMessage], each: Callable[[str], None], most: int) -> AIMessage:
    """The whole message, put together from its chunks, or its beginning when it is longer than `most` characters. A cut
    stream has no finish_reason, and _read refuses it."""
    whole: Any = None
    chunks = model.stream(list(messages))
    for chunk in chunks:
        whole = chunk if whole is None else whole + chunk
        text = str(whole.text)
        each(text[:most])
        if len(text) > most:
            chunks.close()
            break
    return whole if whole is not None else AIMessage("")


def _openai(settings: Settings, client: Any) -> BaseChatModel:
    from langchain_openai import ChatOpenAI

    if not settings.openai_base_url and not settings.openai_api_key.get_secret_value():
        raise ModelUnavailable(
            f"the model {settings.model!r} has no server.",
            hint="Set OPENAI_BASE_URL (Ollama: http://localhost:11434/v1) and, if it asks for one, OPENAI_API_KEY.",
        )
    return ChatOpenAI(
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


def _down(settings: Settings, what: str, hint: str) -> ModelUnavailable:
    return ModelUnavailable(f"the model server for {settings.model!r} {what}.", hint=hint)
