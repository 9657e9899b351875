"""What the MCP door says to messages that will not do, and from where it may be called."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from evals.serving import QUESTIONS, Served

ACCEPT = {"Accept": "application/json, text/event-stream"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def call(client: httpx.Client, params: Any) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return dict(client.post("/mcp", json=message, headers=ACCEPT).json())


def test_an_unknown_tool_is_an_error_of_the_protocol(u1: httpx.Client) -> None:
    error = call(u1, {"name": "format_disk", "arguments": {}})["error"]
    assert error["code"] == -32602
    assert error["message"] == "There is no tool 'format_disk': ask, search, list_documents, verify."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"question": 5}, "question: Input should be a valid string."),
        ({}, "question: Field required."),
        ({"question": QUESTIONS["U1"], "tenant_id": "U2"}, "tenant_id: there is no such argument."),
        ({"question": QUESTIONS["U1"], "memory": "all"}, "memory: Input should be 'none', 'buffer' or 'summary'."),
    ],
)
def test_an_argument_that_does_not_fit_is_told_in_a_sentence(u1: httpx.Client, arguments: Any, said: str) -> None:
    result = call(u1, {"name": "ask", "arguments": arguments})["result"]
    assert (result["isError"], result["content"][0]["text"]) == (True, said)


@pytest.mark.parametrize("message", [{"hello": 1}, [], 5, {**PING, "params": "x"}, {**PING, "method": 5}], ids=str)
def test_what_is_no_message_is_told_without_the_checkers_words(u1: httpx.Client, message: Any) -> None:
    told = u1.post("/mcp", json=message, headers=ACCEPT)
    assert (told.status_code, told.json()["error"]["code"]) == (400, -32600)
    assert told.json()["error"]["message"] == "The body is not a JSON-RPC 2.0 message."


@pytest.mark.parametrize(
    "params", [{"name": "ask", "arguments": "x"}, {"name": 5, "arguments": {}}, {"arguments": {}}], ids=str
)
def test_parameters_that_do_not_fit_are_told_without_them_too(u1: httpx.Client, params: Any) -> None:
    error = call(u1, params)["error"]
    assert error["code"] == -32602 and "pydantic" not in str(error)


def test_a_page_may_call_only_from_here_or_from_a_listed_origin(another: Callable[..., Any]) -> None:
    with another(cors_origins="https://app.example, https://b.example") as served:
        for origin, status in (
            (served.url, 200),
            ("http://localhost:3000", 200),
            ("http://[::1]:3000", 200),
            ("https://app.example", 200),
            ("https://b.example", 200),
            ("http://app.example", 403),
            ("https://app.example.evil.example", 403),
            ("http://localhost.evil.example", 403),
            ("http://0.0.0.0:8000", 403),
            ("null", 403),
            ("http://[::1", 403),
        ):
            assert _ping(served, origin).status_code == status, origin
        told = _ping(served, "https://evil.example")
        assert (told.status_code, told.json()["error"]["code"]) == (403, "origin")


def test_a_name_that_was_pointed_here_is_not_known_by_its_host(served: Served) -> None:
    rebound = _ping(served, "http://evil.example:8000", Host="evil.example:8000")
    assert rebound.status_code == 403


def _ping(served: Served, origin: str, **headers: str) -> httpx.Response:
    with served.client() as client:
        return client.post("/mcp", json=PING, headers={**ACCEPT, "Origin": origin, **headers})
