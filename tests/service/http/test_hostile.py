"""Bodies, headers and rates that mean harm: a 4xx with a code, never a 5xx, never a connection torn."""

import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpx
import pytest

from evals.security.hostile import BODIES
from evals.serving import QUESTIONS, Served
from graph.service.http.bodies import parse
from graph.service.http.limits import Limits
from graph.service.http.problems import Problem
from graph.service.http.uploads import safe_name
from graph.settings import Settings
from graph.stores.embedded.limits import MemoryCounters
from tests.support.kept import busy

DOORS = ("/v1/ask", "/v1/chat/completions", "/v1/responses", "/agent/invoke", "/agent/batch", "/agent/stream", "/mcp")


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_hostile_body_is_the_clients_mistake_at_every_door(u1: httpx.Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for door in DOORS:
        sent = u1.post(door, content=body, headers=headers)
        assert 400 <= sent.status_code < 500, (door, sent.status_code, sent.text[:200])


def test_a_stream_that_cannot_begin_says_so_instead_of_breaking_off(u1: httpx.Client) -> None:
    for door in ("stream", "stream_log", "stream_events"):
        for question in ("", "  ", "\x1c\x1d \x1e\x1f", "a" * 8_001):
            assert u1.post(f"/agent/{door}", json={"input": {"question": question}}).status_code == 422


@pytest.mark.slow
def test_generated_requests_find_no_server_error(another: Callable[..., Any]) -> None:
    """A few of schemathesis' cases; `python -m evals.security.fuzz` sends thousands, to every route."""
    from evals.security.fuzz import fuzz

    with another() as served:
        found = fuzz(served, 250, paths="^/(v1/(ask|threads|jobs|documents|audit)|mcp)", each=3)
    assert (found.broken, found.said) == ([], [])
    assert found.different >= 250 and {case["mode"] for case in found.cases} == {"positive", "negative"}


@pytest.mark.slow
def test_a_server_error_is_found(another: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from evals.security.fuzz import fuzz

    with another() as served:
        monkeypatch.setattr(served.service.jobs, "cancel", lambda *given: 1 / 0)
        found = fuzz(served, 5, paths="^/v1/jobs", each=3)
    assert found.said and {case["operation"] for case in found.broken} == {"DELETE /v1/jobs/{job_id}"}


def test_what_no_client_would_send_is_answered(another: Callable[..., Any]) -> None:
    """A few doors of all; `python -m evals.security.fuzz` knocks at each of them."""
    from evals.security.hostile import requests, send

    with another() as served, served.client() as client:
        for hostile in requests(client.get("/openapi.json").json(), served.keys["U1", "admin"]):
            endless = hostile.kind == "chunks" and "huge" in hostile.name  # test_slow.py waits for such ones
            doors = ("/v1/ask", "/v1/documents", "/v1/documents/freezers/withheld", "/v1/threads/{thread_id}", "-")
            if hostile.door in doors and not endless:
                answer = send(served.url, hostile)
                assert answer.sound, (answer.status, hostile.door, hostile.kind, hostile.name)


def test_every_operation_with_a_body_is_described_to_the_hostile(u1: httpx.Client) -> None:
    from evals.security.hostile import requests

    document = u1.get("/openapi.json").json()
    document["paths"]["/v1/new"] = {"post": {}}
    with pytest.raises(LookupError, match="/v1/new"):
        list(requests(document, "key"))


@pytest.mark.parametrize("field", ["config", "inputs", "kwargs", "input"])
@pytest.mark.parametrize("value", [None, 7, "x", [], [None], {"configurable": None}], ids=repr)
def test_what_langserve_takes_for_granted_is_checked(u1: httpx.Client, field: str, value: Any) -> None:
    asked = {"input": {"question": "x"}, "inputs": [{"question": "x"}]}
    for door in ("invoke", "batch", "stream"):
        assert u1.post(f"/agent/{door}", json={**asked, field: value}).status_code < 500, door


@pytest.mark.parametrize(
    ("field", "value"),
    [("thread_id", "../../etc"), ("thread_id", "a" * 65), ("thread_id", "a\x00b"), ("thread_id", "a..b"), ("thread_id", "a.."), ("thread_id", "a\n"), ("thread_id", ""), ("top_k", 0), ("top_k", 51), ("top_k", "5"), ("top_k", 2.5), ("top_k", True), ("memory", "all"), ("mode", 7), ("question", None), ("style", ["concise"]), ("capstone", "yes"), ("stream", 1), ("tenant_id", "U2"), ("role", "admin"), ("question", ""), ("question", " \t"), ("question", "a" * 8_001)],
)  # fmt: skip
def test_a_field_that_does_not_fit_is_named_and_not_echoed(u1: httpx.Client, field: str, value: Any) -> None:
    sent = u1.post("/v1/ask", json={"question": QUESTIONS["U1"], field: value})
    assert sent.status_code == 422
    assert sent.json()["error"]["code"] in ("invalid_request", "question_empty", "question_too_long")


@pytest.mark.parametrize("path", ["/v1/threads/%2e%2e", "/v1/threads/a%00b", "/v1/documents/..%2f..%2fkeys.db", "/v1/documents/%ff", "/v1/jobs/*", "/v1/documents/" + "a" * 3_000, "/page/%2e%2e%2fapp.py", "/page/..%5capp.py", "/page/" + "a" * 3_000 + ".css", "/page/%00.css", "/agent/playground/%2e%2e/%2e%2e/server.py", "//v1/documents", "/v1//documents"])  # fmt: skip
def test_a_path_leads_nowhere_else(u1: httpx.Client, path: str) -> None:
    sent = u1.get(path)
    assert sent.status_code in (401, 404), (sent.status_code, sent.text[:200])
    assert "import" not in sent.text


@pytest.mark.parametrize("path", ["..%2f..%2fserver.py", "../../server.py", "assets", "none.js", "%00", "a" * 3_000])
def test_what_the_playground_lacks_is_404_as_everywhere(u1: httpx.Client, path: str) -> None:
    sent = u1.get("/agent/playground/" + path)
    assert (sent.status_code, sent.content) == (404, u1.get("/v1/documents/none").content)


@pytest.mark.parametrize("day", ["2026-13-45", "2026-02-30", "0000-01-01", "٢٠٢٦-٠١-٠١", "2026-1-1", "today"])
def test_a_day_that_is_none_is_refused(served: Served, day: str) -> None:
    with served.client("U1", "auditor") as client:
        sent = client.get("/v1/audit", params={"day": day})
        assert sent.status_code == 422 and sent.json()["error"]["message"].startswith("query.day: ")
        assert client.get("/v1/audit", params={"day": "2026-02-28"}).status_code == 200


def test_a_thread_id_of_every_usable_shape_passes(served: Served) -> None:
    from pydantic import TypeAdapter

    from graph.context import valid_id
    from graph.service.http.service import ThreadId

    for usable in ("a", "7", "a.b", "a.", "a.b.c", "a-_:@.x", "t" * 64, "a" + ".b" * 31 + "."):
        assert TypeAdapter(ThreadId).validate_python(usable) == valid_id(usable, "thread")


def test_open_pages_answer_head_without_a_body(served: Served) -> None:
    with httpx.Client(base_url=served.url, trust_env=False) as client:
        for path in ("/", "/docs", "/livez", "/readyz", "/metrics", "/openapi.json", "/page/page.css"):
            head, get = client.head(path), client.get(path)
            assert (head.status_code, head.content) == (get.status_code, b""), path
            assert head.headers["content-type"] == get.headers["content-type"], path


def test_a_body_larger_than_allowed_is_refused_while_it_comes(u1: httpx.Client, served: Served) -> None:
    size = served.settings.max_body_kb * 1_024
    assert (
        u1.post("/v1/ask", content=b" " * (size + 1), headers={"Content-Type": "application/json"}).status_code == 413
    )

    def endless() -> Any:
        for _ in range(64):
            yield b" " * 65_536

    files = [("files", ("a.txt", b"a" * 1_900_000)), ("files", ("b.txt", b"b" * 1_900_000))]
    upload = u1.post("/v1/documents", files=files)
    assert upload.status_code == 413 and f"{served.settings.max_upload_mb} MB" in upload.json()["error"]["message"]
    with suppress(httpx.WriteError, httpx.ReadError):  # the service answers and closes before all of it was sent
        assert u1.post("/v1/ask", content=endless(), headers={"Content-Type": "application/json"}).status_code == 413
    assert u1.get("/v1/models").status_code == 200


@pytest.mark.parametrize("value", ["", "Bearer", "bearer x", "Basic eDp5", "Bearer cordon_", "Bearer cordon_" + "0" * 16 + "_" + "A" * 43, "Bearer a.b.c", "Bearer eyJhbGciOiJub25lIn0.eyJ0ZW5hbnQiOiJVMSIsInN1YiI6ImEifQ.", "Bearer " + "A" * 9_000, "Bearer \xe9"])  # fmt: skip
def test_a_credential_that_is_none(served: Served, value: str) -> None:
    with httpx.Client(base_url=served.url, trust_env=False) as client:
        sent = client.get("/v1/models", headers=[(b"Authorization", value.encode("latin-1"))])
    assert sent.status_code == 401 and sent.headers["www-authenticate"].startswith("Bearer")


def test_two_credentials_are_none(served: Served) -> None:
    keys = [("Authorization", f"Bearer {served.keys[t, 'admin']}") for t in ("U1", "U2")]
    with httpx.Client(base_url=served.url, trust_env=False) as client:
        assert client.get("/v1/models", headers=keys).status_code == 401


def test_json_that_every_parser_reads_alike_passes() -> None:
    value = {"a": [1, -2.5, 1e-9, True, None, "é \U0001f600 [{"], "b": {"c": "\\u005b"}}
    assert parse(json.dumps(value).encode()) == value == parse(json.dumps(value, ensure_ascii=False).encode())


def test_brackets_in_strings_are_not_depth() -> None:
    assert parse(json.dumps("[" * 10_000 + '\\"').encode()) == "[" * 10_000 + '\\"'


@pytest.mark.parametrize(
    ("given", "shown"),
    [("a.txt", "a.txt"), ("../../etc/passwd", "passwd"), ("C:\\x\\b.pdf", "b.pdf"), (".hidden", "hidden"), ("..", "file-1"), ("", "file-1"), ("a\x00b\n.txt", "ab.txt"), ("\u202etxt.exe", "txt.exe"), ("a" * 300 + ".pdf", "a" * 146 + ".pdf"), ("<b>.md", "_b_.md"), ("Grüße.md", "Grüße.md")],
)  # fmt: skip
def test_a_file_name_is_only_a_name(given: str, shown: str) -> None:
    assert safe_name(given, 0) == shown


# -- limits -------------------------------------------------------------------------------------------------------


def test_a_bucket_lets_through_its_rate_and_says_when_to_come_back() -> None:
    now = [0.0]
    limits = Limits(Settings(key_rate=60, tenant_rate=600), MemoryCounters(lambda: now[0]))
    for _ in range(60):
        limits.enter("k", "t").close()
    with pytest.raises(Problem) as caught:
        limits.enter("k", "t")
    assert (caught.value.status, caught.value.headers["Retry-After"]) == (429, "1")
    limits.enter("another", "t").close()
    now[0] += 1
    limits.enter("k", "t").close()
    with pytest.raises(Problem):
        limits.enter("k", "t")


def test_concurrency_is_held_until_the_ticket_is_closed() -> None:
    limits = Limits(Settings(key_concurrency=2, tenant_concurrency=3), MemoryCounters())
    first, second = limits.enter("a", "t"), limits.enter("a", "t")
    with pytest.raises(Problem):
        limits.enter("a", "t")
    limits.enter("b", "t")
    with pytest.raises(Problem):
        limits.enter("c", "t")
    limits.enter("c", "another")
    first.close()
    second.close()
    limits.enter("a", "t")


def test_too_many_requests_get_429_with_retry_after(another: Callable[..., Any]) -> None:
    with another(key_rate=30) as served, served.client("U1", "member") as client:
        found = [client.get("/v1/models") for _ in range(40)]
        codes = [r.status_code for r in found]
        assert codes[:30] == [200] * 30 and codes[-1] == 429  # a whole minute's allowance at once, and no more
        assert int(found[-1].headers["retry-after"]) >= 1
        with served.client("U2", "member") as other:
            assert other.get("/v1/models").status_code == 200


def _slow(seconds: float) -> Any:
    from tests.support.models import Scripted, quoting

    def reply(prompt: str) -> str:
        time.sleep(seconds)
        return quoting(prompt)

    return Scripted(reply=reply)


def test_a_deadline_answers_504_and_the_work_still_counts(another: Callable[..., Any]) -> None:
    with (
        another(chat=_slow(1.5), model="stub", request_s=0.5, key_concurrency=1) as served,
        served.client("U1", "member") as client,
    ):
        late = client.post("/v1/ask", json={"question": QUESTIONS["U1"]})
        assert (late.status_code, late.json()["error"]["code"]) == (504, "deadline")
        assert client.get("/v1/models").status_code == 429  # its turn is still being answered
        deadline = time.monotonic() + 10
        while client.get("/v1/models").status_code == 429 and time.monotonic() < deadline:
            time.sleep(0.1)
        with served.client("U1", "auditor") as auditor:
            assert len(auditor.get("/v1/audit").json()["entries"]) == 1


def test_sixty_four_at_once_through_four_threads_all_get_an_answer_or_a_clear_no(another: Callable[..., Any]) -> None:
    with another(chat=_slow(0.02), model="stub", serve_threads=4, serve_queue=40) as served:
        found: list[int] = []

        def one() -> None:
            with served.client("U1", "member") as client:
                found.append(client.post("/v1/ask", json={"question": QUESTIONS["U1"]}).status_code)

        threads = [threading.Thread(target=one) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(found) == 64 and set(found) <= {200, 503}
        assert found.count(200) >= 44
        with served.client("U1", "member") as client:
            assert client.post("/v1/ask", json={"question": QUESTIONS["U1"]}).status_code == 200


def test_who_hangs_up_in_the_middle_gives_the_place_back_when_the_work_ends_and_once(
    another: Callable[..., Any],
) -> None:
    with another(chat=_slow(0.5), model="stub") as served:
        counters, asked = served.service.agent.deps.stores.counters, {"question": QUESTIONS["U1"], "stream": True}
        chat = {"model": "cordon", "stream": True, "messages": [{"role": "user", "content": QUESTIONS["U1"]}]}
        for door, body in (
            ("/v1/ask", asked),
            ("/v1/chat/completions", chat),
            ("/agent/stream", {"input": {"question": QUESTIONS["U1"]}}),
        ):
            with served.client("U1", "member") as client, suppress(httpx.ReadTimeout):
                client.post(door, json=body, timeout=0.2)
            assert busy(served.settings, counters), f"{door}: the place was given back while the work went on"
            deadline = time.monotonic() + 10
            while busy(served.settings, counters) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not busy(served.settings, counters), door
