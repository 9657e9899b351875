"""The Python door: `Agent().ask("…", tenant_id="U1")`."""

import asyncio
import queue
import threading
import uuid
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self, Unpack, get_args

from langchain_core.language_models import BaseChatModel

from graph.administration.answers import Answers
from graph.administration.conversations import Conversations
from graph.administration.documents import Library
from graph.administration.feedback import Feedback
from graph.administration.pictures import Pictures
from graph.administration.reviews import Reviews
from graph.context import DEFAULT_USER, Context, Role, key_of, valid_groups, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import BadInput, CordonError, Forbidden, Unavailable
from graph.options import Choices, conversation, known, settled
from graph.runner import Runner, SentenceSink, StageSink, Turn, Turns
from graph.settings import Settings, load
from graph.state import Citation
from graph.timestamps import timestamp
from graph.tracing import refuse_uninvited

_MOST_DAYS = 365_000  # a time before the year 1 cannot be written; nothing is older than these
DEFAULT_THREAD = "default"


class Reply(dict[str, Any]):
    """The reply object (graph.state.Reply), its keys also as attributes: `reply.answer`, `reply["answer"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class VerifiedSentence:
    """A sentence of the answer that passed validation, with the citations it rests on."""

    text: str
    citations: list[Citation]
    support: float


class Agent(Library, Conversations, Reviews, Pictures, Answers, Feedback):
    """One home, opened on first use. Use it as a context manager, or call `close()`. `deps` and `runner` are for a
    service that runs the turns in other processes (graph/service/processes.py).

    Raises BadSettings when the settings, or a tracing variable left in the environment, would not do.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        model: BaseChatModel | None = None,
        deps: Deps | None = None,
        runner: Runner | None = None,
    ) -> None:
        self.settings = deps.settings if deps else settings or load()
        refuse_uninvited(self.settings)
        self.deps = deps or Deps(self.settings, model)
        _ = self.deps.tracer, self.deps.detector, self.deps.thresholds  # raise now for what they lack
        self.turns = Turns(self.deps)
        self._runner = runner or self.turns

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def open(self) -> None:
        """Open now what is opened on first use, so that what cannot work says so at once. Raises Unavailable."""
        self.deps.open()
        _ = self.deps.checkpoints.saver
        if self._runner is self.turns:
            self.turns.open()

    @property
    def answering(self) -> bool:
        """Whether somebody is there to run a turn."""
        return self._runner.alive > 0

    def finish(self) -> None:
        """End the turns that run in other processes; no more begin there."""
        self._runner.finish()

    def close(self) -> None:
        """Give the home back. The agent may be used again; it then opens it anew."""
        self.finish()
        self.drawers.close()
        self.turns.close()
        self.deps.close()

    # -- asking -------------------------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        thread_id: str | None = DEFAULT_THREAD,
        role: Role = "member",
        groups: Collection[str] = (),
        **options: Unpack[Choices],
    ) -> Reply:
        """Answer one question, for somebody in these groups of the tenant. Options: memory, mode, style, top_k,
        capstone. Without a thread (None) it gets one of its own, of which nothing but the record is kept when memory is
        `none`.

        Raises BadInput for an unusable id, option or empty question, Unavailable when the run could not be
        recorded. A refusal, an outage of the model and "not in the documents" are replies, not errors.
        """
        return self._replied(self._turn(question, tenant_id, user_id, thread_id, role, groups, options))

    def _turn(
        self,
        question: str,
        tenant_id: str,
        user_id: str,
        thread_id: str | None,
        role: Role,
        groups: Collection[str],
        choices: Choices,
        *,
        stream: bool = False,
    ) -> Turn:
        thread = uuid.uuid4().hex if thread_id is None else valid_id(thread_id, "thread")
        context = Context(
            valid_tenant(tenant_id), valid_id(user_id, "user"), thread, role, tuple(sorted(valid_groups(groups)))
        )
        if not isinstance(question, str) or not question.strip():
            raise BadInput("the question is empty.", hint="Ask something.")
        if role not in get_args(Role):
            raise BadInput(f"role {str(role)[:40]!r} is not one of {', '.join(get_args(Role))}.")
        known(choices)
        options = settled(choices, self.settings.top_k)
        remembered = thread_id is not None or options["memory"] != "none"
        chosen: Any = {**options, "stream": stream}
        if exchanges := conversation(choices):
            chosen["conversation"] = exchanges
        return Turn({"question": question, "options": chosen}, context, remembered)

    def _replied(self, turn: Turn, release: SentenceSink | None = None, reached: StageSink | None = None) -> Reply:
        with self.deps.stores.thread(turn.thread):
            return Reply(self._runner.run(turn, release, reached))

    async def aask(self, question: str, **who: Any) -> Reply:
        """`ask` for callers with an event loop; the work runs in a thread."""
        return await asyncio.to_thread(self.ask, question, **who)

    def stream(
        self,
        question: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        thread_id: str | None = DEFAULT_THREAD,
        role: Role = "member",
        groups: Collection[str] = (),
        progress: StageSink | None = None,
        **options: Unpack[Choices],
    ) -> Iterator[VerifiedSentence | Reply]:
        """The verified sentences one by one, while the model is still writing when it streams; then the Reply.

        `progress` is told, in another thread, what begins: searching, reading, writing, checking; a turn may skip some.
        Each sentence is on record before it is handed out. When the model breaks off, what was verified has left, and
        the Reply says `unavailable`. A caller who stops listening does not stop the run. Raises as `ask` does.
        """
        turn = self._turn(question, tenant_id, user_id, thread_id, role, groups, options, stream=True)
        events: queue.SimpleQueue[VerifiedSentence | Reply | BaseException] = queue.SimpleQueue()

        def work() -> None:
            try:
                events.put(self._replied(turn, lambda sentence: events.put(VerifiedSentence(**sentence)), progress))
            except BaseException as error:
                events.put(error)

        thread = threading.Thread(target=work, name="cordon-stream")
        thread.start()
        released = 0
        while not isinstance(event := events.get(), Reply):
            if isinstance(event, BaseException):
                raise event
            released += 1
            yield event
        thread.join()
        cited = {c["n"]: c for c in event["citations"]}
        for s in event["sentences"][released:]:
            yield VerifiedSentence(s["text"], [cited[n] for n in s["citations"]], s["support"])
        yield event

    async def astream(self, question: str, **who: Any) -> AsyncIterator[VerifiedSentence | Reply]:
        """`stream` for callers with an event loop."""
        events = self.stream(question, **who)
        while (event := await asyncio.to_thread(next, events, None)) is not None:
            yield event

    def clear(self, *, tenant_id: str, user_id: str = DEFAULT_USER, thread_id: str = DEFAULT_THREAD) -> bool:
        """Forget a conversation. Returns whether there was anything of it, asked with memory `none` included."""
        thread = key_of(valid_tenant(tenant_id), valid_id(user_id, "user"), valid_id(thread_id, "thread"))
        theirs = (user_id, thread_id)
        waits = self.deps.waiting.all(tenant_id)
        with self.deps.stores.thread(thread):
            erased = self.withdraw(
                tenant_id, [w for w in waits if (w["asker"]["user_id"], w["asker"]["thread_id"]) == theirs]
            )
            erased += self.deps.checkpoints.forget([thread])
            erased += self.deps.conversations.forget(tenant_id, user=user_id, thread=thread_id)
            return erased > 0

    def forget(
        self,
        *,
        tenant_id: str,
        user_id: str | None = None,
        thread_id: str | None = None,
        everything: bool = False,
        older_than_days: int | None = None,
    ) -> dict[str, Any]:
        """Erase a thread, a user, all of a tenant, or what is older; returns the receipt (administration/erasure.py).

        Raises BadInput when nothing, or more than one thing, is named, or while other processes answer: they would
        keep what they have open.
        """
        if self._runner is not self.turns:
            raise BadInput("other processes answer now.", hint="Stop the service, then use `cordon forget`.")
        from graph.administration.erasure import Scope, erase

        named = [bool(user_id or thread_id), everything, older_than_days is not None]
        if sum(named) != 1 or (older_than_days is not None and older_than_days < 0):
            raise BadInput("say what to forget: a thread, a user, all, or what is older than some days.")
        scope = Scope(
            valid_tenant(tenant_id),
            valid_id(user_id, "user") if user_id else None,
            valid_id(thread_id, "thread") if thread_id else None,
            timestamp(days=-min(older_than_days, _MOST_DAYS)) if older_than_days is not None else None,
        )
        return erase(scope, self.deps)

    # -- evidence alone ------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        role: Role = "member",
        groups: Collection[str] = (),
        top_k: int | None = None,
    ) -> list[dict[str, Any]]:
        """The passages that an answer would rest on, masked, best first; [] when there are none that may be shown.

        A search is triaged, guarded and recorded like a question. Raises Forbidden with the canonical refusal when
        it is blocked, BadInput for an unusable id or an empty query, Unavailable when the index or the record fails.
        """
        named = tuple(sorted(valid_groups(groups)))
        context = Context(valid_tenant(tenant_id), valid_id(user_id, "user"), "search", role, named)
        if not isinstance(query, str) or not query.strip():
            raise BadInput("the query is empty.", hint="Say what to look for.")
        options = settled({"top_k": top_k}, self.settings.top_k)
        result = self._runner.search(Turn({"question": query, "options": options}, context, kept=False))
        reply = result["reply"]
        if reply["decision"] == "unavailable":
            raise Unavailable(reply["answer"])
        if reply["refusal"] and reply["refusal"]["code"] != "AccessDenied":
            raise Forbidden(reply["answer"])
        if result["admitted"]:
            raise BadInput(result["admitted"])
        return [
            {key: value for key, value in item.items() if key not in ("edits", "public", "where")}
            for item in result["evidence"]
        ]

    # -- the guards alone ---------------------------------------------------------------------------------

    def scan(self, text: str, *, source: str = "question") -> dict[str, Any]:
        """Action, risk, scores and threats of a text, as `cordon scan` gives them."""
        from graph.policy import filters

        return filters.scan(_text(text), source, self.deps.detector, self.deps.thresholds)

    def mask(self, text: str) -> dict[str, Any]:
        """The text without personal data and secrets, and where they were."""
        from graph.policy import filters

        return filters.mask(_text(text))

    def check(self, claim: str, evidence: Iterable[str]) -> dict[str, Any]:
        """Whether the evidence supports the claim, and where."""
        from graph.models.support_encoder import support_encoder
        from graph.policy import filters

        passages = [] if isinstance(evidence, str) else list(evidence)
        if isinstance(evidence, str) or not all(isinstance(passage, str) for passage in passages):
            raise BadInput("the evidence is a list of texts.")
        return filters.check(_text(claim), passages, support_encoder(self.settings))

    def repair(self, text: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
        """JSON out of what a model wrote."""
        from graph.policy import filters

        return filters.repair(_text(text), schema)


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise BadInput(f"a text was expected, not {type(text).__name__}.")
    return text


__all__ = ["Agent", "CordonError", "Reply", "Settings", "VerifiedSentence"]
