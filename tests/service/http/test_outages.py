"""What does not go well is told by the same status at every door, before a stream begins where it is known by then."""

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

QUESTION = QUESTIONS["U1"]
DOWN = {"model": "none-such", "openai_base_url": "http://127.0.0.1:9/v1", "model_retries": 0}


def slow(seconds: float) -> Scripted:
    def reply(prompt: str) -> str:
        time.sleep(seconds)
        return quoting(prompt)

    return Scripted(reply=reply)


@contextmanager
def full(another: Callable[..., Any]) -> Iterator[tuple[Served, httpx.Client]]:
    """A service whose one thread is at work and whose line is closed."""
    with another(chat=slow(2), model="stub", serve_threads=1, serve_queue=0) as served, served.client() as client:

        def ask() -> None:
            with served.client() as other:
                other.post("/v1/ask", json={"question": QUESTION})

        first = threading.Thread(target=ask)
        first.start()
        while not served.service.workers._inside:
            time.sleep(0.01)
        yield served, client
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
    with another(chat=slow(1), model="stub", request_s=0.3) as served, served.client() as client:
        for stream in (False, True):
            told = client.post("/v1/ask", json={"question": QUESTION, "stream": stream})
            assert (told.status_code, told.json()["error"]["code"]) == (504, "deadline")


def test_a_stream_of_an_outage_is_503_with_the_reply(another: Callable[..., Any]) -> None:
    with another(**DOWN) as served, served.client() as client:
        for stream in (False, True):
            told = client.post("/v1/ask", json={"question": QUESTION, "stream": stream})
            assert (told.status_code, told.json()["decision"]) == (503, "unavailable")


def test_a_stream_that_is_long_in_coming_begins_and_tells_its_end_inside(
    another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graph.service.http.asking.HEARTBEAT_S", 0.05)
    with another(chat=slow(2), model="stub", request_s=0.5) as served, served.client() as client:
        told = client.post("/v1/ask", json={"question": QUESTION, "stream": True})
    assert told.status_code == 200 and ": working" in told.text
    ((name, data),) = events("\n\n".join(b for b in told.text.split("\n\n") if not b.startswith(":")))
    assert (name, data["error"]["code"]) == ("error", "deadline")
    assert data["error"]["request_id"] == told.headers["x-request-id"]


def test_no_proxy_holds_a_stream_back(u1: httpx.Client) -> None:
    message = {"role": "user", "content": QUESTION}
    for door, body in (
        ("/v1/ask", {"question": QUESTION}),
        ("/v1/chat/completions", {"model": "cordon", "messages": [message]}),
        ("/agent/stream", {"input": {"question": QUESTION}}),
    ):
        told = u1.post(door, json={**body, "stream": True} if "input" not in body else body)
        assert told.status_code == 200, told.text
        assert (told.headers["x-accel-buffering"], told.headers["cache-control"]) == ("no", "no-store"), door
