"""Servers with less room, and with fewer words of the protocol, than OpenAI's: what they are sent, and what is told."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from graph.agent import Agent
from graph.errors import BadSettings
from graph.knowledge.extensions import SECTION
from graph.settings import load
from tests.support import invariants as inv
from tests.support.models import quoting, sources_in
from tests.support.openai_server import Say, Server, serving

QUESTION = "How many people are in PunjabThal after the removals?"


@pytest.fixture
def talk(opened: Callable[..., Agent]) -> Iterator[Callable[..., tuple[Agent, Server]]]:
    with ExitStack() as stack:

        def start(script: Callable[[dict[str, Any]], Say], **values: Any) -> tuple[Agent, Server]:
            server = stack.enter_context(serving(script))
            settings = {
                "model": "stub",
                "openai_base_url": server.url,
                "model_retries": 0,
                "relevance_floor": 0,
                **values,
            }
            return opened(**settings), server

        yield start


def prompt_of(body: dict[str, Any]) -> str:
    return "\n\n".join(str(m["content"]) for m in body["messages"])


def honest(body: dict[str, Any], bytes_per_token: float = 4.0) -> Say:
    counted = int(len(prompt_of(body).encode()) / bytes_per_token)
    return Say(
        quoting(prompt_of(body)), usage={"prompt_tokens": counted, "completion_tokens": 9, "total_tokens": counted + 9}
    )


def first(said: Say) -> Callable[[dict[str, Any]], Say]:
    """Says this once, and is honest from then on."""
    waiting = [said]
    return lambda body: waiting.pop() if waiting else honest(body)


def shown(server: Server) -> list[int]:
    """How many passages each request showed."""
    return [len(sources_in(prompt)) for prompt in server.prompts]


# -- a context of 4,096 tokens -----------------------------------------------------------------------------------


def test_evidence_is_cut_to_what_fits_and_the_record_says_so(talk: Any) -> None:
    one, server = talk(honest, context=4_096, top_k=30)
    reply = one.ask(QUESTION, tenant_id="U1")
    evidence = inv.state_of(one, "U1", "default")["evidence"]
    (body,) = server.requests
    assert 1 < shown(server)[0] < len(evidence)
    assert len(prompt_of(body).encode()) / 3 + body["max_tokens"] <= 4_096
    assert list(sources_in(server.prompts[0]).values()) == [
        e["text"] for e in evidence[: shown(server)[0]]
    ]  # whole ones
    assert reply.decision == "answer" and "evidence_cut" in reply.safety_flags
    assert "evidence_cut" in inv.journal_of(one)[-1]["flags"]


def test_one_passage_is_left_however_small_the_context(talk: Any) -> None:
    one, server = talk(honest, context=1_024)
    assert one.ask(QUESTION, tenant_id="U1").decision == "answer"
    assert shown(server) == [1] and server.requests[0]["max_tokens"] == 500


def test_an_answer_takes_no_more_than_half_of_the_context(talk: Any) -> None:
    one, server = talk(honest, context=2_048)
    one.ask("Design a postgraduate assessment for LLM security, worth 30%.", tenant_id="U1")
    assert server.requests[0]["max_tokens"] == 1_024


def test_with_room_nothing_is_cut(talk: Any) -> None:
    one, server = talk(honest, context=32_768, top_k=30)
    reply = one.ask(QUESTION, tenant_id="U1")
    evidence = inv.state_of(one, "U1", "default")["evidence"]
    assert shown(server) == [sum(item.get("why") != SECTION for item in evidence)]
    assert "evidence_cut" not in reply.safety_flags


def test_the_servers_own_count_corrects_the_measure(talk: Any) -> None:
    one, server = talk(lambda body: honest(body, 4.4), context=4_096, top_k=30)
    one.ask(QUESTION, tenant_id="U1")
    one.ask(QUESTION, tenant_id="U1", thread_id="later")
    first, second = shown(server)
    assert second > first
    assert len(prompt_of(server.requests[1]).encode()) / 4.4 + 500 <= 4_096


@pytest.mark.parametrize("counted", [1, 10**9])
def test_a_count_that_cannot_be_true_corrects_nothing(talk: Any, counted: int) -> None:
    usage = {"prompt_tokens": counted, "completion_tokens": 1, "total_tokens": counted + 1}
    one, server = talk(lambda body: Say(quoting(prompt_of(body)), usage=usage), context=4_096, top_k=30)
    one.ask(QUESTION, tenant_id="U1")
    one.ask(QUESTION, tenant_id="U1", thread_id="later")
    assert len(set(shown(server))) == 1


def test_a_context_that_holds_nothing_is_no_setting() -> None:
    with pytest.raises(BadSettings, match="context"):
        load(environ={"CORDON_CONTEXT": "512"})


REFUSED = {
    "vLLM": (400, "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens."),
    "llama.cpp": (400, "the request exceeds the available context size, try increasing it"),
    "llama.cpp before": (500, "the request exceeds the available context size. try increasing the context size"),
    "LM Studio": (400, "Trying to keep the first 9000 tokens when context the overflows."),
    "a proxy": (413, "prompt is too long: 9000 tokens > 4096 maximum"),
}


@pytest.mark.parametrize("server_of", REFUSED)
def test_a_prompt_that_is_too_long_is_sent_once_more_with_half_the_evidence(talk: Any, server_of: str) -> None:
    status, said = REFUSED[server_of]
    one, server = talk(first(Say(status=status, error=said)), top_k=8)
    reply = one.ask(QUESTION, tenant_id="U1")
    assert shown(server) == [8, 4]
    assert all("response_format" in body for body in server.requests)  # it was not the schema
    assert reply.decision == "answer" and "evidence_cut" in reply.safety_flags


def test_an_error_with_status_200_is_read_too(talk: Any) -> None:
    raw = json.dumps({"error": "The number of tokens to keep is greater than the context length."}).encode()
    one, server = talk(first(Say(raw=raw)), top_k=8)
    assert one.ask(QUESTION, tenant_id="U1").decision == "answer"
    assert shown(server) == [8, 4]


def test_twice_too_long_is_an_outage_that_names_the_setting(talk: Any) -> None:
    one, server = talk(lambda body: Say(status=400, error=REFUSED["vLLM"][1]), top_k=8)
    reply = one.ask(QUESTION, tenant_id="U1")
    assert (reply.decision, shown(server)) == ("unavailable", [8, 4])
    assert "CORDON_CONTEXT" in reply.answer and "9000" not in reply.answer


def test_a_stream_that_is_refused_is_asked_for_again(talk: Any) -> None:
    one, server = talk(first(Say(status=400, error=REFUSED["vLLM"][1])), top_k=8)
    *early, reply = one.stream(QUESTION, tenant_id="U1")
    assert early and reply.decision == "answer" and shown(server) == [8, 4]


# -- fewer words of the protocol ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "System role not supported"),
        (500, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Only user, assistant and tool roles are supported, got system."),
    ],
)
def test_without_a_system_role_the_rules_open_the_question(talk: Any, status: int, said: str) -> None:
    def script(body: dict[str, Any]) -> Say:
        return Say(status=status, error=said) if body["messages"][0]["role"] == "system" else honest(body)

    one, server = talk(script)
    for thread in ("a", "b"):
        assert one.ask(QUESTION, tenant_id="U1", thread_id=thread).decision == "answer"
    assert [[m["role"] for m in r["messages"]] for r in server.requests] == [["system", "user"], ["user"], ["user"]]
    assert "Rules, which nothing" in server.requests[1]["messages"][0]["content"]
    assert all("response_format" in body for body in server.requests)


def test_a_server_that_takes_neither_schema_nor_system_message_and_does_not_say_why(talk: Any) -> None:
    def script(body: dict[str, Any]) -> Say:
        plain = "response_format" not in body and body["messages"][0]["role"] == "user"
        return honest(body) if plain else Say(status=422)

    one, server = talk(script)
    for thread in ("a", "b"):
        assert one.ask(QUESTION, tenant_id="U1", thread_id=thread).decision == "answer"
    assert len(server.requests) == 4


def test_what_the_server_refused_for_another_reason_is_tried_again_next_time(talk: Any) -> None:
    down = [True]
    one, server = talk(lambda body: Say(status=400) if down[0] else honest(body))
    assert one.ask(QUESTION, tenant_id="U1").decision == "unavailable"
    down[0] = False
    assert one.ask(QUESTION, tenant_id="U1").decision == "answer"
    assert "response_format" in server.requests[-1]


def test_a_schema_that_is_ignored_does_no_harm(talk: Any) -> None:
    one, server = talk(lambda body: Say(next(iter(sources_in(prompt_of(body)).values())).splitlines()[-1]))
    assert one.ask(QUESTION, tenant_id="U1").decision == "answer"
    assert "response_format" in server.requests[0]


def test_the_length_of_an_answer_is_said_in_the_word_that_all_servers_know(talk: Any) -> None:
    """Ollama and LM Studio pass over `max_completion_tokens`, and write without end."""
    one, server = talk(honest)
    one.ask(QUESTION, tenant_id="U1")
    list(one.stream(QUESTION, tenant_id="U1"))
    assert [(body.get("max_tokens"), "max_completion_tokens" in body) for body in server.requests] == [(500, False)] * 2
