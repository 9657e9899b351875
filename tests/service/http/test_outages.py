"""What does not go well is told by the same status at every door, before a stream begins where it is known by then."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from evals.serving import QUESTIONS, Served
from tests.service.http.test_doors import events
from tests.support.models import Scripted, quoting
from tests.support.remote import remote

QUESTION = QUESTIONS["U1"]
DOWN = {"model": "none-such", "openai_base_url": "http://127.0.0.1:9/v1", "model_retries": 0}


def waiting(go: threading.Event) -> Scripted:
    """A model that writes nothing before it may."""

    def reply(prompt: str) -> str:
        go.wait(60)
        return quoting(prompt)

    return Scripted(reply=reply)


@contextmanager
def full(another: Callable[..., Any]) -> Iterator[tuple[Served, httpx.Client]]:
    """A service whose one thread is at work and whose line is closed."""
    go = threading.Event()
    with another(chat=waiting(go), model="stub", serve_threads=1, serve_queue=0) as served, served.client() as client:

        def ask() -> None:
            with served.client() as other:
                other.post("/v1/ask", json={"question": QUESTION})

        first = threading.Thread(target=ask)
        first.start()
        while not served.service.workers._inside:
            time.sleep(0.01)
        try:
            yield served, client
        finally:
            go.set()
            first.join()


# -- /v1/ask ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("question", "code"), [("", "question_empty"), ("a" * 9_000, "question_too_long")])
def test_a_stream_of_a_question_that_will_not_do_is_422(u1: httpx.Client, question: str, code: str) -> None:
    for stream in (False, True):
        told = u1.post("/v1/ask", json={"question": question, "stream": stream})
        assert (told.status_code, told.json()["error"]["code"]) == (422, code)


def test_a_stream_in_front_of_a_full_line_is_503(another: Callable[..., Any]) -> None:
    with full(another) as (_, client):
        for stream in (False, True):
            told = client.post("/v1/ask", json={"question": QUESTION, "stream": stream})
            assert (told.status_code, told.json()["error"]["code"]) == (503, "busy")
            assert told.headers["retry-after"] == "1"


def test_a_stream_that_comes_too_late_is_504(another: Callable[..., Any]) -> None:
    go = threading.Event()
    with another(chat=waiting(go), model="stub", request_s=0.3) as served, served.client() as client:
        told = [client.post("/v1/ask", json={"question": QUESTION, "stream": stream}) for stream in (False, True)]
        go.set()
    assert [(one.status_code, one.json()["error"]["code"]) for one in told] == [(504, "deadline")] * 2


def test_a_stream_of_an_outage_is_503_with_the_reply(another: Callable[..., Any]) -> None:
    with another(**DOWN) as served, served.client() as client:
        for stream in (False, True):
            told = client.post("/v1/ask", json={"question": QUESTION, "stream": stream})
            assert (told.status_code, told.json()["decision"]) == (503, "unavailable")


def test_a_stream_that_is_long_in_coming_begins_and_tells_its_end_inside(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.http.asking.HEARTBEAT_S", 0.05)
    go = threading.Event()
    with another(chat=waiting(go), model="stub", request_s=0.5) as served, served.client() as client:
        told = client.post("/v1/ask", json={"question": QUESTION, "stream": True})
        go.set()
    assert told.status_code == 200 and ": working" in told.text
    ((name, data),) = events("\n\n".join(b for b in told.text.split("\n\n") if not b.startswith(":")))
    assert (name, data["error"]["code"]) == ("error", "deadline")
    assert data["error"]["request_id"] == told.headers["x-request-id"]


def test_no_proxy_holds_a_stream_back(u1: httpx.Client) -> None:
    message = {"role": "user", "content": QUESTION}
    for door, body in (
        ("/v1/ask", {"question": QUESTION}),
        ("/v1/chat/completions", {"model": "cordon", "messages": [message]}),
        ("/v1/responses", {"model": "cordon", "input": QUESTION, "stream": True}),
        ("/agent/stream", {"input": {"question": QUESTION}}),
    ):
        told = u1.post(door, json={**body, "stream": True} if "input" not in body else body)
        assert told.status_code == 200, told.text
        assert (told.headers["x-accel-buffering"], told.headers["cache-control"]) == ("no", "no-store"), door


# -- LangServe ----------------------------------------------------------------------------------------------------

STREAMS = ("stream", "stream_log", "stream_events")
beta = (
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning"),
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning"),
)
langserve = pytest.mark.parametrize("door", [pytest.param(door, marks=beta) for door in STREAMS])
INPUT = {"input": {"question": QUESTION}}


def unexpected(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


@langserve
def test_a_langserve_stream_in_front_of_a_full_line_is_503(
    another: Callable[..., Any], caplog: pytest.LogCaptureFixture, door: str
) -> None:
    with full(another) as (_, client):
        told = client.post(f"/agent/{door}", json=INPUT)
    assert (told.status_code, told.json()["error"]["code"]) == (503, "busy")
    assert told.headers["retry-after"] == "1"
    assert unexpected(caplog) == []


@langserve
def test_a_langserve_stream_of_an_outage_is_503(
    another: Callable[..., Any], caplog: pytest.LogCaptureFixture, door: str
) -> None:
    with another(**DOWN) as served, served.client() as client:
        told = client.post(f"/agent/{door}", json=INPUT)
    assert (told.status_code, told.json()["error"]["code"]) == (503, "unavailable")
    assert unexpected(caplog) == []


@langserve
def test_a_langserve_stream_that_has_begun_tells_its_end_inside(
    another: Callable[..., Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    monkeypatch.setattr("graph.service.http.streams.HEARTBEAT_S", 0.05)
    go = threading.Event()
    with another(chat=waiting(go), model="stub", request_s=0.5) as served, served.client() as client:
        told = client.post(f"/agent/{door}", json=INPUT)
        go.set()
    assert told.status_code == 200
    name, data = events(told.text.replace("\r\n", "\n"))[-1]
    assert (name, data["status_code"], data["code"]) == ("error", 504, "deadline")
    assert data["request_id"] == told.headers["x-request-id"]
    assert unexpected(caplog) == []


def test_remote_runnables_raise_an_outage_with_its_status(another: Callable[..., Any]) -> None:
    with another(**DOWN) as served:
        runnable = remote(served.url, served.keys["U1", "member"])
        asked = {"question": QUESTION}
        for call in (
            lambda: runnable.invoke(asked),
            lambda: runnable.batch([asked, asked]),
            lambda: list(runnable.stream(asked)),
        ):
            with pytest.raises(httpx.HTTPStatusError) as caught:
                call()
            assert caught.value.response.status_code == 503


# -- MCP ----------------------------------------------------------------------------------------------------------


def test_an_outage_is_an_error_of_the_tool(another: Callable[..., Any]) -> None:
    called = {"name": "ask", "arguments": {"question": QUESTION}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
    with another(**DOWN) as served, served.client() as client:
        told = client.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})
    assert told.json()["result"]["isError"] is True
    assert told.json()["result"]["content"][0]["text"].startswith("Unavailable")
