"""Chat models as the generate stage sees them: messages in, text and token counts out, failures translated."""

import contextvars
import math
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as OutOfTime
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from graph.errors import ModelUnavailable
from graph.extractive import answerer, assessment
from graph.extractive.reader import Reader, reader
from graph.knowledge.embeddings import Embedder
from graph.models import server
from graph.models.context_budget import ContextBudget
from graph.models.fair_semaphore import FairSemaphore
from graph.models.task import KEY
from graph.settings import Settings

EMBEDDED = "cordon-embedded"
_AT_ONCE = 4_096  # calls; one that was given up holds its thread until the server lets go of it
MOST_CHARS = 32  # of an answer for each token that was asked for; more is cut off, as the server should have done
LONGEST = 10  # times the time limit that a model which goes on writing may take in all
_TOP = 10  # tokens that a server tells the probability of; hosted ones tell 20 at most
_OPINION_S = 60.0
T = TypeVar("T")


@dataclass(frozen=True)
class Completion:
    """What a model wrote, and what it cost. Token counts are the server's own, or the embedded tokenizer's."""

    text: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    cut: bool = False  # it broke off where it was as long as it may be


@dataclass(frozen=True)
class Odds:
    """Log-odds of a yes, and what the question cost."""

    value: float
    prompt_tokens: int
    completion_tokens: int


class EmbeddedChatModel(BaseChatModel):
    """A deterministic extractive answerer: every sentence it writes stands in the evidence of the last message."""

    embedder: Any = None
    reader: Any = None

    @property
    def _llm_type(self) -> str:
        return EMBEDDED

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        import json

        text = json.dumps(_written(messages, self.reader), ensure_ascii=False)
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
        self,
        settings: Settings,
        embedder: Embedder,
        model: BaseChatModel | None = None,
        gate: FairSemaphore | None = None,
    ) -> None:
        """`gate`: callers hold a place in it, and release it while they wait for a server."""
        self._gate = gate
        self.name = EMBEDDED if settings.embedded else settings.model
        self._settings = settings
        self._embedder = embedder
        self._injected = model
        self._form = server.Form()
        self._tells_odds = True
        self.budget = ContextBudget(0 if settings.embedded else settings.context)
        # Kept, because to start a thread takes a fifth as long as the whole call.
        self._calls = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="cordon-model")

    @cached_property
    def _model(self) -> BaseChatModel:
        if self._injected is not None:
            return self._injected
        if self._settings.embedded:
            return EmbeddedChatModel(embedder=self._embedder, reader=reader(self._settings))
        return server.open_chat(self._settings, self._client)

    @property
    def extractive(self) -> bool:
        """Whether it is the embedded answerer that writes."""
        return isinstance(self._model, EmbeddedChatModel)

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
        schema: dict[str, Any] | None,
        max_tokens: int,
        each: Callable[[str], None] | None = None,
    ) -> Completion:
        """One completion. Raises ModelUnavailable when no whole answer came in time, ContextTooSmall when the server
        says that the messages are too long.

        `schema` (JSON Schema; None for prose) is sent where the server takes it: a help to the model, not a check.
        With `each` the answer is streamed, and `each` is called, in another thread, with all that was written so far.
        """
        if self.extractive:
            return self._read(_alone(self._model.invoke, list(messages)), sys.maxsize)
        progress = _StreamProgress(each)
        call = self._calls.submit(_alone, self._remote, messages, schema, self.budget.answer(max_tokens), progress)
        try:
            with self._gate.outside() if self._gate else nullcontext():
                completion = _waited(call, progress, self._limit(max_tokens))
        except OutOfTime as error:
            raise server.down(
                self._settings, "took too long", "Raise CORDON_MODEL_TIMEOUT_S or use a smaller model."
            ) from error
        finally:
            call.cancel()
            progress.given_up = True
        self.budget.learn(messages, completion.prompt_tokens)
        return completion

    def _limit(self, max_tokens: int) -> float:
        """Seconds: what may be longer may take longer, and an assessment has the room of four answers."""
        return self._settings.model_timeout_s * max(1.0, max_tokens / self._settings.max_tokens)

    def odds(self, messages: Sequence[BaseMessage]) -> "Odds | None":
        """How likely the model answers Yes and not No, by the probabilities of its first token; None where the server
        tells none, or not in time. A server that refused them is not asked again."""
        if self.extractive or not self._tells_odds:
            return None
        call = self._calls.submit(_alone, self._first_token, messages)
        try:
            with self._gate.outside() if self._gate else nullcontext():
                return call.result(min(self._settings.model_timeout_s, _OPINION_S))
        except OutOfTime:
            return None
        finally:
            call.cancel()

    def _first_token(self, messages: Sequence[BaseMessage]) -> "Odds | None":
        import openai

        bound = {"max_tokens": 1, "logprobs": True, "top_logprobs": _TOP, "temperature": 0.0}
        try:
            message = self._model.bind(**bound).invoke(self._form.messages(messages))
        except openai.APIConnectionError:  # also a time limit: it may do better next time
            return None
        except (openai.OpenAIError, ValueError, TypeError, KeyError, AttributeError, IndexError):
            self._tells_odds = False
            return None
        first = ((message.response_metadata.get("logprobs") or {}).get("content") or [{}])[0].get("top_logprobs") or []
        if not first:
            self._tells_odds = False
            return None
        likely = {"yes": 0.0, "no": 0.0}
        for token in first:
            if (word := str(token["token"]).strip().casefold()) in likely:
                likely[word] += math.exp(float(token["logprob"]))
        if not any(likely.values()):
            return None
        least = min(math.exp(float(token["logprob"])) for token in first)  # what is not among them is less likely still
        usage: Any = message.usage_metadata or {}
        odds = math.log(likely["yes"] or least) - math.log(likely["no"] or least)
        return Odds(odds, usage.get("input_tokens", 0), usage.get("output_tokens", 0))

    def quoted(self, messages: Sequence[BaseMessage], least: float = 0.0, planned: bool = False) -> dict[str, Any]:
        """What the embedded answerer makes of the same task: for when nothing of a model's draft could be let out.
        `least` is the chance of an answer, 0-1, below which it says nothing; never less than its own. With `planned`
        only what it says of a list, a table or a named section as a whole."""
        return _written(messages, reader(self._settings), least=least, planned=planned)

    def _remote(
        self,
        messages: Sequence[BaseMessage],
        schema: dict[str, Any] | None,
        max_tokens: int,
        each: "_StreamProgress",
    ) -> Completion:
        form: server.Form | None = self._form
        while form is not None:
            try:
                completion = self._request(form, messages, schema, max_tokens, each)
                self._form = form  # known to do: nothing is refused twice
                return completion
            except server.ContextTooSmall:
                raise
            except _Again as error:
                last, form = error.unavailable, form.simpler(error.status, error.message)
        raise last

    def _request(
        self,
        form: server.Form,
        messages: Sequence[BaseMessage],
        schema: dict[str, Any] | None,
        max_tokens: int,
        each: "_StreamProgress",
    ) -> Completion:
        import openai

        from graph.models.responses import Refused

        bound: dict[str, Any] = {"max_tokens": max_tokens}
        if not self._injected:
            bound["timeout"] = self._limit(max_tokens)
        if schema is not None and form.schema:
            wanted: dict[str, Any] = {
                "type": "json_schema",
                "json_schema": {"name": schema["title"], "schema": schema, "strict": False},
            }
            # In our own client's extra part, which goes out as it is: it would look through the schema word by word,
            # and then through the answer, for a third of the time that a call takes it.
            bound |= {"response_format": wanted} if self._injected else {"extra_body": {"response_format": wanted}}
        try:
            model, most = self._model.bind(**bound), max_tokens * MOST_CHARS
            request = form.messages(messages)
            message = _streamed(model, request, each, most) if each.streams else model.invoke(request)
            return self._read(message, most)
        except openai.LengthFinishReasonError as error:  # the client's own check; a cut object may still be mended
            cut, usage = error.completion.choices[0].message.content, error.completion.usage
            spent = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
            return Completion((cut or "")[: max_tokens * MOST_CHARS], self.name, *spent, cut=True)
        except openai.APIStatusError as error:
            unavailable = server.translated(error, self._settings)
            if isinstance(unavailable, server.ContextTooSmall):
                raise unavailable from error
            raise _Again(unavailable, error.status_code, str(error)) from error
        except (openai.OpenAIError, Refused, ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise server.translated(error, self._settings) from error

    def _read(self, message: AIMessage, most: int) -> Completion:
        text = server.written(message)
        reason = "length" if len(text) > most else message.response_metadata.get("finish_reason")
        whole = ("stop", "tool_calls", "function_call") if text else ("stop",)
        if reason != "length" and reason not in whole:
            # A cut answer reads like a whole one: "The payment is NOT".
            raise server.down(self._settings, f"broke off its answer (finish_reason {reason!r})", "Try again.")
        token_usage = message.response_metadata.get("token_usage") or {}  # where a stream with a schema puts it
        usage: dict[str, Any] = dict(message.usage_metadata or {})
        prompt = usage.get("input_tokens", token_usage.get("prompt_tokens", 0))
        written = usage.get("output_tokens", token_usage.get("completion_tokens", 0))
        return Completion(text[:most], self.name, prompt, written, cut=reason == "length")


def _written(messages: Sequence[BaseMessage], reader: Reader, **more: Any) -> dict[str, Any]:
    """The reply object of the embedded answerer for the task that the messages carry, with `more` said of it."""
    task = next((m.additional_kwargs[KEY] for m in reversed(messages) if KEY in m.additional_kwargs), None)
    if task is None:
        raise ModelUnavailable("the embedded model answers Cordon's own tasks only.")
    write = {"answer": answerer.answer, "assessment": assessment.design}[task["kind"]]
    return write({**task, **more}, reader)


class _StreamProgress:
    """When the model last wrote something. Called with all that it has written so far."""

    def __init__(self, each: Callable[[str], None] | None) -> None:
        self._each, self._written = each, 0
        self.streams = each is not None
        self.at = self.begun = time.monotonic()
        self.given_up = False  # nobody waits for more: the stream ends, and the server's work with it

    def __call__(self, text: str) -> None:
        if self.given_up:
            raise server.StreamGivenUp
        if len(text) > self._written:  # an empty chunk is no sign of life
            self._written, self.at = len(text), time.monotonic()
        if self._each is not None:
            self._each(text)


def _waited(call: "Future[Completion]", progress: _StreamProgress, silence: float) -> Completion:
    """The call's result. Raises OutOfTime after `silence` seconds without a new word of a stream, or LONGEST times that
    in all: a slow server is waited for, and one that drips without end is not. What is not streamed comes at once, so
    `silence` is all the time that it has."""
    while True:
        left = min(progress.at + silence, progress.begun + LONGEST * silence) - time.monotonic()
        try:
            return call.result(max(left, 0.0))
        except OutOfTime:
            if call.done() or time.monotonic() >= min(progress.at + silence, progress.begun + LONGEST * silence):
                raise


class _Again(Exception):
    """The server refused the request. `unavailable` is raised if it refuses every other form, too."""

    def __init__(self, unavailable: ModelUnavailable, status: int, message: str) -> None:
        super().__init__(message)
        self.unavailable, self.status, self.message = unavailable, status, message


def _alone(call: Callable[..., T], *args: Any) -> T:
    """The result of a call that callbacks and tracers do not see: they would show the prompt and the draft."""
    from langsmith.run_helpers import tracing_context

    def untraced() -> T:
        with tracing_context(enabled=False):
            return call(*args)

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
