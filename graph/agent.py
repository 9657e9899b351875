"""The Python door: `Agent().ask("…", tenant_id="U1")`."""

import asyncio
import contextvars
import queue
import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, Self, get_args

from langchain_core.language_models import BaseChatModel

from graph.context import PUBLIC, Context, Role, key_of, valid_id, valid_tenant
from graph.deps import Deps
from graph.errors import BadInput, CordonError, NotFound, Unavailable
from graph.knowledge.home import private_directory
from graph.knowledge.ingest import Outcome, Source, files, ingest, mirror
from graph.knowledge.space import Record
from graph.settings import Settings, load
from graph.tracing import refuse_uninvited

DEFAULT_USER, DEFAULT_THREAD = "local", "default"


class Reply(dict[str, Any]):
    """The reply object of the contract, its keys also as attributes: `reply.answer`, `reply["answer"]`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class VerifiedSentence:
    """A sentence of the answer that passed validation, with the citations it rests on."""

    text: str
    citations: list[dict[str, Any]]
    support: float


@dataclass(frozen=True)
class _Run:
    """A question that may be asked: in which thread, with which options, by whom."""

    thread: str
    asked: dict[str, Any]
    context: Context


class Agent:
    """One home, opened on first use. Use it as a context manager, or call `close()`.

    Raises BadSettings when the settings, or a tracing variable left in the environment, would not do.
    """

    def __init__(self, settings: Settings | None = None, *, model: BaseChatModel | None = None) -> None:
        self.settings = settings or load()
        refuse_uninvited(self.settings)
        self.deps = Deps(self.settings, model)
        _ = self.deps.tracer  # what it lacks is said now, not after the first answer
        self._turns: dict[str, threading.Lock] = defaultdict(threading.Lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the home back. The agent may be used again; it then opens it anew."""
        saver = self.__dict__.pop("_saver", None)
        for compiled in ("_graph", "_search"):
            self.__dict__.pop(compiled, None)
        if saver is not None:
            saver.conn.close()
        self.deps.close()

    # -- asking -------------------------------------------------------------------------------------------

    def ask(
        self,
        question: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        thread_id: str = DEFAULT_THREAD,
        role: Role = "member",
        **options: Any,
    ) -> Reply:
        """Answer one question. Options: memory, mode, style, top_k, capstone.

        Raises BadInput for an unusable id, option or empty question, Unavailable when the run could not be
        recorded. A refusal, an outage of the model and "not in the documents" are replies, not errors.
        """
        run = self._prepared(question, tenant_id, user_id, thread_id, role, options)
        return self._finished(run)

    def _prepared(
        self, question: str, tenant_id: str, user_id: str, thread_id: str, role: Role, options: dict[str, Any]
    ) -> "_Run":
        from nodes.admit import options as checked

        context = Context(valid_tenant(tenant_id), valid_id(user_id, "user"), valid_id(thread_id, "thread"), role)
        if not isinstance(question, str) or not question.strip():
            raise BadInput("the question is empty.", hint="Ask something.")
        if role not in get_args(Role):
            raise BadInput(f"role {str(role)[:40]!r} is not one of {', '.join(get_args(Role))}.")
        if unknown := options.keys() - {"memory", "mode", "style", "top_k", "capstone"}:
            raise BadInput(f"unknown option {sorted(unknown)[0]!r}.", hint="memory, mode, style, top_k, capstone.")
        thread = key_of(context.tenant_id, context.user_id, context.thread_id)
        return _Run(thread, {"question": question, "options": dict(checked(options, self.settings))}, context)

    def _finished(self, run: "_Run", release: Callable[[VerifiedSentence], None] | None = None) -> Reply:
        """Run the graph to its end, handing on what it lets go before that."""
        return contextvars.Context().run(self._alone, run, release)

    def _alone(self, run: "_Run", release: Callable[[VerifiedSentence], None] | None) -> Reply:
        """In a context of its own: callbacks and tracers of the caller would see the state and the raw question."""
        from langsmith.run_helpers import tracing_context

        config = {"configurable": {"thread_id": run.thread}}
        known: dict[str, Any] = {"context": run.context, "durability": "exit"}
        # Two runs on one thread at once would lose a turn.
        with self._turns[run.thread], tracing_context(enabled=False), _memory():
            if release is None:
                state = self._graph.invoke(run.asked, config, **known)
            else:
                for mode, state in self._graph.stream(run.asked, config, **known, stream_mode=["custom", "values"]):
                    if mode == "custom":
                        release(VerifiedSentence(**state["sentence"] | {"citations": state["citations"]}))
            self._keep_latest(run.thread)
        return Reply(state["reply"])

    async def aask(self, question: str, **who: Any) -> Reply:
        """`ask` for callers with an event loop; the work runs in a thread."""
        return await asyncio.to_thread(self.ask, question, **who)

    def stream(
        self,
        question: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        thread_id: str = DEFAULT_THREAD,
        role: Role = "member",
        **options: Any,
    ) -> Iterator[VerifiedSentence | Reply]:
        """The verified sentences one by one, while the model is still writing when it streams; then the Reply.

        Each is on record before it is handed out. When the model breaks off, what was verified has left, and the
        Reply says `unavailable`. A caller who stops listening does not stop the run. Raises as `ask` does.
        """
        run = self._prepared(question, tenant_id, user_id, thread_id, role, options)
        run.asked["options"]["stream"] = True
        events: queue.SimpleQueue[VerifiedSentence | Reply | BaseException] = queue.SimpleQueue()

        def work() -> None:
            try:
                events.put(self._finished(run, events.put))
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

    def clear(self, *, tenant_id: str, user_id: str = DEFAULT_USER, thread_id: str = DEFAULT_THREAD) -> None:
        """Forget a conversation."""
        thread = key_of(valid_tenant(tenant_id), valid_id(user_id, "user"), valid_id(thread_id, "thread"))
        with self._turns[thread]:
            self._saver.delete_thread(thread)
            self.deps.conversations.forget(tenant_id, user=user_id, thread=thread_id)

    def forget(
        self,
        *,
        tenant_id: str,
        user_id: str | None = None,
        thread_id: str | None = None,
        everything: bool = False,
        older_than_days: int | None = None,
    ) -> dict[str, Any]:
        """Erase a thread, a user, all of a tenant, or what is older; returns the receipt (graph/erasure.py).

        Raises BadInput when nothing, or more than one thing, is named.
        """
        from graph.erasure import Scope, erase

        named = [bool(user_id or thread_id), everything, older_than_days is not None]
        if sum(named) != 1 or (older_than_days is not None and older_than_days < 0):
            raise BadInput("say what to forget: a thread, a user, all, or what is older than some days.")
        scope = Scope(
            valid_tenant(tenant_id),
            valid_id(user_id, "user") if user_id else None,
            valid_id(thread_id, "thread") if thread_id else None,
            _days_ago(older_than_days) if older_than_days is not None else None,
        )
        return erase(scope, self.deps, self._saver)

    def threads(self, *, tenant_id: str, user_id: str = DEFAULT_USER) -> list[dict[str, Any]]:
        """A user's remembered conversations, the latest first: thread_id, title, turns, created, updated (UTC)."""
        return self.deps.conversations.threads(valid_tenant(tenant_id), valid_id(user_id, "user"))

    def thread(self, thread_id: str, *, tenant_id: str, user_id: str = DEFAULT_USER) -> dict[str, Any]:
        """One conversation with its turns, masked. Raises NotFound, in the same words for unknown and foreign ids."""
        turns = self.deps.conversations.turns(valid_tenant(tenant_id), valid_id(user_id, "user"), thread_id)
        if not turns:
            raise NotFound(f"there is no thread {str(thread_id)[:80]!r}.", hint="A thread begins with its first turn.")
        return {"thread_id": thread_id, "turns": turns}

    # -- documents ----------------------------------------------------------------------------------------

    def ingest(
        self,
        paths: Sequence[str | Path] | str | Path,
        *,
        tenant_id: str = "",
        public: bool = False,
        regulation: bool = False,
        progress: Callable[[Outcome], None] = lambda outcome: None,
    ) -> list[Outcome]:
        """Index files, directories and URLs for a tenant, or for everybody with `public=True`. With `regulation` each
        file is an act of the Union: its structure is read, and its graph kept."""
        owner = _owner(tenant_id, public)
        given = [paths] if isinstance(paths, str | Path) else list(paths)
        if odd := [str(p) for p in given if re.match(r"(?!https?://)[a-z][a-z0-9+.-]*://", str(p), re.I)]:
            raise BadInput(f"{odd[0][:60]!r} is no address that can be read.", hint="http and https are.")
        pages = [str(p) for p in given if str(p).startswith(("http://", "https://"))]
        local = [Path(p) for p in given if str(p) not in pages]
        outcomes = self.ingest_sources(list(files(local, owner, regulation=regulation)), progress=progress)
        if pages:
            from graph.knowledge.web import pages as fetched

            sources, failed = fetched(pages, owner, self.settings)
            for outcome in failed:
                progress(outcome)
            outcomes += failed + self.ingest_sources(sources, progress=progress)
        return outcomes

    def ingest_sources(
        self, sources: Sequence[Source], *, progress: Callable[[Outcome], None] = lambda outcome: None
    ) -> list[Outcome]:
        """Index what a manifest names (graph/knowledge/manifest.py)."""
        from graph.knowledge.inspection import inspect

        return ingest(sources, self.deps.index, self.settings, inspect=inspect, progress=progress)

    def documents(self, *, tenant_id: str = "", public: bool = False) -> list[dict[str, Any]]:
        """What is known of each document of a tenant, or of the public ones, by id."""
        space = self.deps.index.space(_owner(tenant_id, public))
        return [_described(record) for record in space.records()] if space else []

    def document(self, doc_id: str, *, tenant_id: str = "", public: bool = False) -> dict[str, Any]:
        """One document with its text, masked. Raises BadInput, in the same words for unknown and foreign ids."""
        from graph.policy import pii

        space = self.deps.index.space(_owner(tenant_id, public))
        record = space.record(doc_id) if space else None
        if space is None or record is None:
            raise _no_document(doc_id)
        return _described(record) | {"text": pii.mask(space.text(doc_id)).text}

    def regulations(self, *, tenant_id: str = "", public: bool = False) -> list[Any]:
        """The acts of a tenant, or the public ones, with their graphs (graph/knowledge/regulation/act.py)."""
        from graph.knowledge.regulation import store

        space = self.deps.index.space(_owner(tenant_id, public))
        return store.acts(space) if space else []

    def provision(self, doc_id: str, node: int, *, tenant_id: str = "", public: bool = False) -> dict[str, Any]:
        """A provision of an act that the tenant may read, with its text, masked. Raises BadInput as `document` does."""
        from graph.knowledge.regulation import store
        from graph.policy import pii

        index = self.deps.index
        spaces = [index.space(PUBLIC)] if public else [space for _, space in index.visible(valid_tenant(tenant_id))]
        for space in filter(None, spaces):
            for act in store.acts(space):
                if act.doc_id == doc_id and 0 <= node < len(act.nodes):
                    one, last = act.nodes[node], act.nodes[act.nodes[node].last]
                    text = pii.mask(space.text(doc_id)[one.start : last.end]).text
                    known = {"doc_id": doc_id, "path": one.path, "name": one.name, "title": one.title, "page": one.page}
                    return known | {"text": text}
        raise _no_document(doc_id)

    def remove(self, doc_id: str, *, tenant_id: str = "", public: bool = False) -> None:
        """Forget a document: text, words and vectors."""
        owner = _owner(tenant_id, public)
        space = self.deps.index.space(owner)
        if space is None or not space.remove(doc_id):
            raise _no_document(doc_id)
        mirror(self.deps.index, owner)

    def search(
        self,
        query: str,
        *,
        tenant_id: str,
        user_id: str = DEFAULT_USER,
        role: Role = "member",
        top_k: int | None = None,
    ) -> list[dict[str, Any]]:
        """The passages that an answer would rest on, masked, best first; [] when there are none that may be shown.

        A search is triaged, guarded and recorded like a question. Raises Forbidden with the canonical refusal when
        it is blocked, BadInput for an unusable id or an empty query, Unavailable when the index or the record fails.
        """
        from graph.errors import Forbidden, Unavailable

        context = Context(valid_tenant(tenant_id), valid_id(user_id, "user"), "search", role)
        if not isinstance(query, str) or not query.strip():
            raise BadInput("the query is empty.", hint="Say what to look for.")
        if top_k is not None and (type(top_k) is not int or not 1 <= top_k <= 50):
            raise BadInput(f"top_k {str(top_k)[:40]!r} is not a whole number from 1 to 50.")
        asked = {"question": query, "options": {"top_k": top_k} if top_k else {}}
        state = contextvars.Context().run(self._searched, asked, context)
        reply = state["reply"]
        if reply["decision"] == "unavailable":
            raise Unavailable(reply["answer"])
        if reply["decision"] == "refusal" and reply["refusal"]["code"] != "AccessDenied":
            raise Forbidden(reply["answer"])
        if state["admitted"]:
            raise BadInput(state["admitted"])
        return [{key: value for key, value in item.items() if key != "edits"} for item in state["evidence"]]

    def _searched(self, asked: dict[str, Any], context: Context) -> Any:
        from langsmith.run_helpers import tracing_context

        with tracing_context(enabled=False):  # as in _alone
            return self._search.invoke(asked, context=context)

    # -- the guards alone ---------------------------------------------------------------------------------

    def scan(self, text: str, *, source: str = "question") -> dict[str, Any]:
        """Action, risk, scores and threats of a text, as `cordon scan` gives them."""
        from graph.policy import filters

        return filters.scan(_given(text), source, self.deps.embed)

    def mask(self, text: str) -> dict[str, Any]:
        """The text without personal data and secrets, and where they were."""
        from graph.policy import filters

        return filters.mask(_given(text))

    def check(self, claim: str, evidence: Sequence[str]) -> dict[str, Any]:
        """Whether the evidence supports the claim, and where."""
        from graph.policy import filters

        if isinstance(evidence, str) or not all(isinstance(passage, str) for passage in evidence):
            raise BadInput("the evidence is a list of texts.")
        return filters.check(_given(claim), evidence)

    def repair(self, text: str, schema: dict[str, Any] | None = None) -> dict[str, Any]:
        """JSON out of what a model wrote."""
        from graph.policy import filters

        return filters.repair(_given(text), schema)

    # -- inside -------------------------------------------------------------------------------------------

    @cached_property
    def _saver(self) -> Any:
        from langgraph.checkpoint.sqlite import SqliteSaver

        from graph.checkpoints import MaskingSerializer

        _ = self.deps.lock
        path = private_directory(self.settings.home) / "checkpoints.db"
        try:
            connection = sqlite3.connect(path, check_same_thread=False)
            path.chmod(0o600)
            connection.execute("PRAGMA secure_delete = ON")
            saver = SqliteSaver(connection, serde=MaskingSerializer())
            saver.setup()
        except sqlite3.Error as error:
            raise Unavailable(
                f"the memory {path.name} cannot be used: {error}.", hint="Is the disk full? Free space."
            ) from error
        return saver

    def _keep_latest(self, thread: str) -> None:
        """Drop a thread's older checkpoints: a turn needs the last one only, and the journal keeps the history."""
        with self._saver.lock, suppress(sqlite3.Error):  # housekeeping: the next turn tries again
            for table in ("checkpoints", "writes"):
                self._saver.conn.execute(
                    f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id <"
                    " (SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = ?)",
                    (thread, thread),
                )
            self._saver.conn.commit()

    @cached_property
    def _graph(self) -> Any:
        from graph.build import build_graph

        return build_graph(self.deps).compile(checkpointer=self._saver)

    @cached_property
    def _search(self) -> Any:
        from graph.build import build_search

        _ = self.deps.lock
        return build_search(self.deps).compile()


def _given(text: Any) -> str:
    if not isinstance(text, str):
        raise BadInput(f"a text was expected, not {type(text).__name__}.")
    return text


@contextmanager
def _memory() -> Iterator[None]:
    """A checkpoint that cannot be read or written is an outage."""
    try:
        yield
    except sqlite3.Error as error:
        why = f"the conversation cannot be stored: {error}."
        raise Unavailable(why, hint="Is the disk full? Free space.") from error


def _owner(tenant_id: str, public: bool) -> str:
    if public == bool(tenant_id):
        raise BadInput("name a tenant or say public, one of the two.")
    return PUBLIC if public else valid_tenant(tenant_id)


def _days_ago(days: int) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _described(record: Record) -> dict[str, Any]:
    from graph.policy import pii

    known = asdict(record)
    return known | {key: pii.mask(known[key]).text for key in ("filename", "title", "source")}


def _no_document(doc_id: str) -> NotFound:
    return NotFound(f"there is no document {doc_id[:80]!r}.", hint="`cordon docs list` shows what there is.")


__all__ = ["Agent", "CordonError", "Reply", "Settings", "VerifiedSentence"]
