"""What the routes use: the agent, the keys, the threads, and one way to ask for every door."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import PurePath
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Depends, Request
from pydantic import ConfigDict, Field

from graph import state
from graph.agent import Agent, Reply, VerifiedSentence
from graph.options import DEFAULTS, MOST_TOP_K, Exchange, MemoryType, Mode, Style
from graph.service.http.caller import Caller, Permission
from graph.service.http.jobs import Jobs
from graph.service.http.limits import Limits
from graph.service.http.metrics import Metrics
from graph.service.http.null_as_unset import NullAsUnset
from graph.service.http.observe import Draining
from graph.service.http.problems import Problem
from graph.service.http.readiness import Readiness
from graph.service.http.workers import Workers
from graph.service.keys import Keys
from graph.service.people import people

T = TypeVar("T")
# What graph.context.valid_id takes: no two dots in a row.
ThreadId = Annotated[str, Field(max_length=64, pattern=r"^[A-Za-z0-9](\.?[A-Za-z0-9_:@-])*\.?$")]
Door = Literal["rest", "chat", "langserve", "mcp"]


class Options(NullAsUnset):
    """What a caller may choose about a turn. Every other field is refused, a tenant above all."""

    model_config = ConfigDict(extra="forbid", strict=True)

    thread_id: ThreadId | None = Field(None, description="the conversation; a new one when left out")
    memory: MemoryType = Field(DEFAULTS["memory"], description="what the conversation remembers")
    mode: Mode = DEFAULTS["mode"]
    style: Style = DEFAULTS["style"]
    top_k: int | None = Field(None, ge=1, le=MOST_TOP_K, description="passages given to the generator")
    capstone: bool = Field(DEFAULTS["capstone"], description="add the research requirement to an assessment")


@dataclass(frozen=True)
class Stage:
    """What of a turn begins: searching, reading, writing or checking."""

    stage: str


class Service:
    """Opens the home at once, so that a service that cannot work does not start. Raises Unavailable."""

    def __init__(self, agent: Agent) -> None:
        self.agent, self.settings = agent, agent.settings
        agent.open()
        self.keys = Keys(agent.deps.stores.keys)
        self.people = people(self.settings, agent.deps.stores.sessions, agent.deps.stores.keys)
        self.limits = Limits(self.settings, agent.deps.stores.counters)
        self.workers, self.draining = Workers(self.settings), Draining()
        self.metrics = Metrics(lambda: self.draining.in_flight, lambda: self.workers.waiting)
        self.jobs = Jobs(agent, self.metrics)
        self.readiness = Readiness()

    def close(self) -> None:
        """End the turns under way, keep the uploads that were not read yet for the next start, give the home back."""
        self.agent.finish()  # first: a process that hangs is ended, and sets free the thread that waits for it
        self.workers.close()
        self.jobs.close()
        self.keys.close()
        if self.people is not None:
            self.people.close()
        self.agent.close()

    async def ask(
        self, caller: Caller, question: str, options: Options, door: Door, sent: Sequence[Exchange] = ()
    ) -> state.Reply:
        """The reply object. Raises Problem for a question that is empty or too long."""
        (reply,) = [event async for event in self.stream(caller, question, options, door, sent, whole=True)]
        assert not isinstance(reply, VerifiedSentence)
        return reply

    async def stream(
        self,
        caller: Caller,
        question: str,
        options: Options,
        door: Door,
        sent: Sequence[Exchange] = (),
        *,
        whole: bool = False,
    ) -> AsyncGenerator[VerifiedSentence | state.Reply, None]:
        """The verified sentences as they come, then the reply object. With `whole` the reply alone. `sent`: the
        conversation so far, as the client told it."""
        async with aclosing(self.events(caller, question, options, door, sent, whole=whole)) as events:
            async for event in events:
                if not isinstance(event, Stage):
                    yield event

    async def events(
        self,
        caller: Caller,
        question: str,
        options: Options,
        door: Door,
        sent: Sequence[Exchange] = (),
        *,
        whole: bool = False,
        stages: bool = False,
    ) -> AsyncGenerator[VerifiedSentence | Stage | state.Reply, None]:
        """As `stream`; with `stages` also each stage that begins."""
        most = self.settings.max_question_chars
        if len(question) > most:
            raise Problem(422, f"The question is too long: at most {most:,} characters.", code="question_too_long")
        if not question.strip():
            raise Problem(422, "The question is empty.", code="question_empty")
        who = caller.principal
        arguments: dict[str, Any] = {"tenant_id": who.tenant_id, "user_id": who.user_id, "role": who.role}
        arguments |= {"groups": who.groups, "conversation": sent, **options.model_dump()}
        loop = asyncio.get_running_loop()
        events: asyncio.Queue[VerifiedSentence | Stage] = asyncio.Queue()

        def reached(stage: str) -> None:
            loop.call_soon_threadsafe(events.put_nowait, Stage(stage))

        def turn() -> Reply:
            reply: Reply | None = None
            if whole:
                reply = self.agent.ask(question, **arguments)
            else:
                for event in self.agent.stream(question, **arguments, progress=reached if stages else None):
                    if isinstance(event, Reply):
                        reply = event
                    else:
                        loop.call_soon_threadsafe(events.put_nowait, event)
            assert reply is not None
            return reply

        running = asyncio.ensure_future(self.work(caller, turn))
        try:
            while not running.done():
                next_one = asyncio.ensure_future(events.get())
                await asyncio.wait({running, next_one}, return_when=asyncio.FIRST_COMPLETED)
                if next_one.done():
                    yield next_one.result()
                else:
                    next_one.cancel()
            reply = running.result()
            while not events.empty():
                yield events.get_nowait()
        finally:
            running.cancel()
        outgoing = outward(reply)
        if outgoing["refusal"] and self.settings.reviewed:
            outgoing = {**outgoing, "appeal": "/v1/appeals"}
        self.metrics.turn(door, outgoing)
        yield outgoing

    def has(self, tenant: str) -> bool:
        """Whether there is such a tenant: one with documents, or with a key that opens."""
        keys = self.agent.deps.stores.keys.all(tenant)
        return any(key.valid for key in keys) or bool(self.agent.deps.index.tenant_spaces(tenant))

    async def work(self, caller: Caller, work: Callable[[], T]) -> T:
        """The work's result. Raises as `Workers.run` does."""
        return await self.workers.run(caller, work)


UNAVAILABLE = "Unavailable: the service could not answer now. Try again later."


def outward(reply: Mapping[str, Any]) -> state.Reply:
    """The reply without what is the operator's: paths (artefacts go by name) and the cause of an outage, which names
    servers, files and settings. The journal has both."""
    artifacts = {name: PurePath(path).name for name, path in reply["artifacts"].items()}
    outgoing: state.Reply = outage_untold({**reply, "artifacts": artifacts})
    return outgoing


def outage_untold(turn: dict[str, Any]) -> Any:
    """A reply object or a remembered turn, without the text of an outage."""
    shown = turn["decision"] != "unavailable" or "reviews_full" in turn["safety_flags"]
    return turn if shown else {**turn, "answer": UNAVAILABLE}


def service(request: Request) -> Service:
    """A dependency: the service that the application was made with."""
    running: Service = request.app.state.service
    return running


def caller(request: Request) -> Caller:
    """A dependency: who was let in. Raises Problem 401 when nobody was."""
    admitted = getattr(request.state, "caller", None)
    if not isinstance(admitted, Caller):
        raise Problem(401)
    return admitted


def may(permission: Permission) -> Callable[..., Caller]:
    """A dependency: the caller, if its role may do that. Raises Problem 403."""

    def allowed(who: Annotated[Caller, Depends(caller)]) -> Caller:
        if not who.may(permission):
            raise Problem(403)
        return who

    allowed.permission = permission  # type: ignore[attr-defined]  # read by the matrix of doors
    return allowed


Served = Annotated[Service, Depends(service)]
AnyCaller = Annotated[Caller, Depends(caller)]
Asker = Annotated[Caller, Depends(may("ask"))]
Reader = Annotated[Caller, Depends(may("read"))]
Uploader = Annotated[Caller, Depends(may("upload"))]
Deleter = Annotated[Caller, Depends(may("delete"))]
Releaser = Annotated[Caller, Depends(may("release"))]
Reviewer = Annotated[Caller, Depends(may("review"))]
Auditor = Annotated[Caller, Depends(may("audit"))]
