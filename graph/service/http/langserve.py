"""/agent: LangServe's wire format (invoke, batch, stream, playground) around the same question and reply.

LangServe hands a runnable no request, so the caller comes from a variable that authentication sets; its own config
(configurable, metadata, tags) is not read by anything here, and not refused either: a RemoteRunnable inside a node of
LangGraph sends that graph's along. Its licence forbids offering it as a hosted service, so it is an optional package.
"""

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from pydantic import ConfigDict, Field, field_serializer, field_validator

from graph.policy import pii
from graph.service.http.bodies import parse
from graph.service.http.caller import current
from graph.service.http.problems import Problem, outage
from graph.service.http.service import Options, Served, Service, may
from graph.service.http.streams import SPOKEN, Streams

PATH = "/agent"
HINT = "LangServe is not installed: pip install 'cordon[langserve]' (make serve does)."
# stream_log and stream_events show question and reply alone: the run inside has no callbacks (Workers.run). The
# playground needs stream_log.
ENDPOINTS: Any = (
    "invoke", "batch", "stream", "stream_log", "stream_events", "playground", "input_schema", "output_schema",
    "config_schema",
)  # fmt: skip


class Question(Options):
    """The input of the runnable."""

    model_config = ConfigDict(extra="forbid", title="Question")

    question: str = Field(min_length=1, pattern=r"\S", description="in words")

    @field_validator("question")
    @classmethod
    def worded(cls, question: str) -> str:
        """Checked before a stream begins: the pattern lets pass U+001C to U+001F, which are blank too."""
        if not question.strip():
            raise ValueError("the question is empty")
        return question


def mount(app: FastAPI, service: Service) -> None:
    """Add LangServe's routes; where it is not installed, all of them answer 501."""
    try:
        import langserve
        from langchain_core.runnables import RunnableLambda
    except ImportError:
        app.add_api_route(PATH + "/{rest:path}", _absent, methods=["GET", "POST"], include_in_schema=False)
        return

    class Asked(Question, langserve.CustomUserType):  # handed on as it is
        """The input of the runnable."""

        @field_serializer("question")
        def masked(self, question: str) -> str:
            """As event streams tell it; the graph is asked with the question itself."""
            return pii.mask(question).text

    async def answer(asked: Question) -> AsyncIterator[dict[str, Any]]:
        """Where somebody streams, the verified sentences as they come; the reply, which is the whole output."""
        caller, spoken = current(), SPOKEN.get(None)
        if not caller.may("ask"):
            raise Problem(403)
        options = Options(**asked.model_dump(exclude={"question"}))
        events = service.stream(caller, asked.question, options, "langserve", whole=spoken is None)
        async with aclosing(events):
            async for event in events:
                if isinstance(event, dict) and event["decision"] == "unavailable":
                    raise outage()
                if spoken is not None:
                    spoken.set()
                yield dict(event) if isinstance(event, dict) else {"sentence": asdict(event)}

    def only_async(asked: Any) -> dict[str, Any]:
        raise RuntimeError("the service calls it with await")

    routes = APIRouter(route_class=Streams)
    langserve.add_routes(
        routes,
        RunnableLambda(only_async, afunc=answer, name="cordon").with_types(
            input_type=Asked, output_type=dict[str, Any]
        ),
        path=PATH,
        enabled_endpoints=ENDPOINTS,
        config_keys=(),
        dependencies=[Depends(may("ask")), Depends(_checked_body), Depends(_known_file), Depends(_untraced)],
        enable_feedback_endpoint=False,
        enable_public_trace_link_endpoint=False,
        include_callback_events=False,
    )
    app.include_router(routes)


async def _checked_body(request: Request, served: Served) -> None:
    """Check what LangServe takes for granted of a body. A batch counts as one request, so its
    size is limited here."""
    if request.method != "POST":
        return
    body = parse(await request.body())
    if not isinstance(body, dict):
        raise Problem(422)
    kinds: dict[str, tuple[type, ...]] = {"config": (dict, list, str), "inputs": (list,), "kwargs": (dict,)}
    if wrong := next((name for name, kind in kinds.items() if name in body and not isinstance(body[name], kind)), ""):
        raise Problem(422, f"{wrong}: it is of another kind.")
    inputs = [body.get("input"), *body.get("inputs", [])]
    words = [item["question"] for item in inputs if isinstance(item, dict) and isinstance(item.get("question"), str)]
    if any(len(question) > served.settings.max_question_chars for question in words):
        raise Problem(422, f"At most {served.settings.max_question_chars:,} characters can be asked.")
    if len(body.get("inputs", [])) > served.settings.max_batch:
        raise Problem(413, f"At most {served.settings.max_batch} questions in a batch.")


async def _known_file(request: Request) -> None:
    """Raise Problem 404 for a file that the playground does not have; LangServe would fail on it."""
    name = request.path_params.get("file_path") or "index.html"
    if "/playground/" in request.url.path:
        import langserve

        files = (Path(langserve.__file__).parent / "playground" / "dist").resolve()
        try:
            path = (files / name).resolve()
            known = path.is_relative_to(files) and path.is_file()
        except (OSError, ValueError):  # a name that no file can have
            known = False
        if not known:
            raise Problem(404)


async def _untraced() -> AsyncIterator[None]:
    """LangChain would trace the runnable with the raw question in it; the graph inside traces itself, masked."""
    from langsmith.run_helpers import tracing_context

    with tracing_context(enabled=False):
        yield


async def _absent(rest: str) -> None:
    raise Problem(501, HINT)
