"""Groups inside a tenant, through the doors: the key says them, and a hidden document looks like none."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from evals.serving import Served
from tests.service.http.test_doors import finished
from tests.service.http.test_mcp_door import call

pytestmark = [
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainBetaWarning"),  # LangServe's own calls
    pytest.mark.filterwarnings("ignore::langchain_core._api.LangChainDeprecationWarning"),
]
MERGER = b"# Merger\n\nThe merger with Ospreyland is signed in October and costs 4,711 rupees.\n"
PLAN = b"# Plan\n\nThe walrus pump is bought in November for 900 rupees.\n"
ASKED = "When is the merger signed, and what does it cost?"
SECRETS = ("ospreyland", "october", "4,711", "merger.md")
BY_NATURE = ("date", "x-request-id")


@dataclass
class People:
    served: Served

    def client(self, role: str, *groups: str, user: str = "ann") -> httpx.Client:
        secret = self.served.service.keys.add("U1", user, role, groups=groups)[1]
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.Client(base_url=self.served.url, headers=headers, timeout=60, trust_env=False)


@pytest.fixture
def people(another: Callable[..., Any]) -> Iterator[People]:
    """A service with a document for the board and one for board and staff."""
    with another() as served:
        made = People(served)
        with made.client("uploader", "board", "staff", user="bob") as bob:
            assert upload(bob, "board", ("merger.md", MERGER))["files"][0]["status"] == "indexed"
            assert upload(bob, "board,staff", ("plan.md", PLAN))["files"][0]["status"] == "indexed"
        yield made


def upload(client: httpx.Client, groups: str, file: tuple[str, bytes]) -> dict[str, Any]:
    accepted = client.post("/v1/documents", params={"groups": groups} if groups else {}, files=[("files", file)])
    assert accepted.status_code == 202, accepted.text
    return finished(client, accepted.json()["job_id"])


def ids(client: httpx.Client) -> set[str]:
    return {row["doc_id"] for row in client.get("/v1/documents").json()["documents"]}


def every_answer(client: httpx.Client, question: str) -> dict[str, str]:
    """What each door answers."""
    asked = {"question": question, "thread_id": "t", "memory": "buffer"}
    chat = {"model": "cordon", "messages": [{"role": "user", "content": question}]}
    paths: dict[str, Any] = {
        "/v1/ask": asked,
        "/v1/chat/completions": chat,
        "/v1/responses": {"model": "cordon", "input": question},
        "/agent/invoke": {"input": asked},
        "/agent/batch": {"inputs": [asked]},
        "/agent/stream": {"input": asked},
        "/agent/stream_log": {"input": asked},
    }
    told = {path: client.post(path, json=body).text for path, body in paths.items()}
    told["/v1/ask stream"] = client.post("/v1/ask", json={**asked, "stream": True}).text
    told["/v1/chat/completions stream"] = client.post("/v1/chat/completions", json={**chat, "stream": True}).text
    told["mcp ask"] = json.dumps(call(client, {"name": "ask", "arguments": {"question": question}}))
    told["mcp search"] = json.dumps(call(client, {"name": "search", "arguments": {"query": question}}))
    return told


def every_list(client: httpx.Client) -> dict[str, str]:
    paths = ("/v1/documents", "/v1/threads", "/v1/threads/t", "/v1/jobs", "/v1/documents/merger", "/v1/documents/plan")
    told = {path: client.get(path).text for path in paths}
    return told | {"mcp list": json.dumps(call(client, {"name": "list_documents", "arguments": {}}))}


def test_every_door_answers_from_the_groups_of_the_key(people: People) -> None:
    with people.client("member", "board") as board, people.client("member", "staff") as staff:
        for door, told in every_answer(board, ASKED).items():
            assert "October" in told, door
        # The same user, with another key: neither a document nor what was said of it.
        for door, told in {**every_answer(staff, ASKED), **every_list(staff)}.items():
            assert not any(secret in told.casefold() for secret in SECRETS), door
        assert ids(board) == {"freezers", "notebooks", "merger", "plan"} and ids(staff) == ids(board) - {"merger"}
        turns = [len(c.get("/v1/threads/t").json()["turns"]) for c in (board, staff)]
        assert turns[0] == 2 * turns[1] > 0  # the board's own, and what was asked without it
    with people.client("member") as nobody:
        assert ids(nobody) == {"freezers", "notebooks"}


CLAIMS: dict[str, dict[str, Any]] = {
    "query": {"params": {"groups": "board", "group": "board"}},
    "header": {"headers": {"X-Groups": "board", "X-Cordon-Groups": "board", "Cookie": "groups=board"}},
}


@pytest.mark.parametrize("place", [*CLAIMS, "body", "config", "options"])
def test_nobody_names_groups_for_themselves(people: People, place: str) -> None:
    claims: dict[str, Any] = {"body": {"groups": ["board"]}, "options": {"options": {"groups": ["board"]}}}
    claim = claims.get(place, {})
    with people.client("member", "staff") as staff:
        told = [staff.post("/v1/ask", json={"question": ASKED, **claim}, **CLAIMS.get(place, {}))]
        chat = {"model": "cordon", "messages": [{"role": "user", "content": ASKED}], "cordon": claim, **claim}
        told.append(staff.post("/v1/chat/completions", json=chat, **CLAIMS.get(place, {})))
        config = {
            "configurable": {"groups": ["board"], "context": {"groups": ["board"]}},
            "metadata": {"groups": ["board"]},
        }
        told.append(staff.post("/agent/invoke", json={"input": {"question": ASKED}, "config": config}))
        told += [staff.get(path, **CLAIMS.get(place, {})) for path in ("/v1/documents", "/v1/documents/merger")]
        told.append(staff.post("/mcp", json=tool({"question": ASKED, **claim}), headers={"Accept": ACCEPT}))
    for answer in told:
        assert not any(secret in answer.text.casefold() for secret in SECRETS), answer.text


ACCEPT = "application/json, text/event-stream"


def tool(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": arguments}}


@pytest.mark.parametrize("role", ["member", "uploader", "admin"])
def test_a_hidden_document_and_an_unknown_one_give_the_same_bytes(people: People, role: str) -> None:
    """An admin keeps what is for other groups, and reads no word of it."""
    with people.client(role, "staff") as client:
        requests = [("GET", "/v1/documents/{}"), ("GET", "/v1/documents/{}/withheld")]
        requests += [("POST", "/v1/documents/{}/withheld")] + (
            [("DELETE", "/v1/documents/{}")] if role != "admin" else []
        )
        for method, path in requests:
            body: dict[str, Any] = {"json": {"release": [1]}} if method == "POST" else {}
            one, other = (client.request(method, path.format(name), **body) for name in ("merger", "nothing"))
            assert one.status_code == other.status_code
            assert one.text.replace(one.headers["x-request-id"], "") == other.text.replace(
                other.headers["x-request-id"], ""
            )
            kept = [{k: v for k, v in answer.headers.items() if k not in BY_NATURE} for answer in (one, other)]
            assert kept[0] == kept[1]


def test_an_uploader_shares_with_its_own_groups_alone(people: People) -> None:
    files = [("files", ("note.md", b"A note."))]
    with people.client("uploader", "staff") as staff, people.client("uploader") as nobody:
        told = [
            client.post("/v1/documents", params={"groups": groups}, files=files)
            for client in (staff, nobody)
            for groups in ("board", "staff,board", "nothing")
        ]
        assert {answer.status_code for answer in told} == {403}
        assert len({answer.json()["error"]["message"] for answer in told}) == 1
        for wrong, status in (("", 422), (",", 400), ("a/b", 400), (",".join(f"g{n}" for n in range(65)), 400)):
            assert staff.post("/v1/documents", params={"groups": wrong}, files=files).status_code == status, wrong
        assert (
            upload(staff, "staff", ("note.md", b"# Note\n\nThe heron vent is shut."))["files"][0]["status"] == "indexed"
        )
        assert "note" in ids(staff) and "note" not in ids(nobody)


def test_an_admin_keeps_what_it_may_not_read(people: People) -> None:
    with people.client("admin") as admin, people.client("member", "board") as board:
        rows = {row["doc_id"]: row["groups"] for row in admin.get("/v1/documents").json()["documents"]}
        assert rows == {"freezers": [], "merger": ["board"], "plan": ["board", "staff"], "notebooks": []}
        assert "October" not in "".join(every_answer(admin, ASKED).values())
        assert (
            upload(admin, "audit", ("merger.md", b"# Merger\n\nThe audit of the merger is in room 7."))["state"]
            == "done"
        )
        assert admin.delete("/v1/documents/merger").status_code == 400  # which of the two?
        assert admin.delete("/v1/documents/merger", params={"groups": "audit"}).status_code == 204
        assert "merger" in ids(board)
        assert admin.delete("/v1/documents/merger").status_code == 204
        assert "merger" not in ids(board)


def test_a_job_for_a_group_is_there_only_with_the_group(people: People) -> None:
    with people.client("uploader", "board", user="eve") as eve, people.client("uploader", user="eve") as later:
        job = upload(eve, "board", ("costs.md", b"# Costs\n\nThe osprey costs 12 rupees."))["job_id"]
        assert [row["job_id"] for row in eve.get("/v1/jobs").json()["jobs"]] == [job]
        assert later.get("/v1/jobs").json() == {"jobs": []}
        for method in ("GET", "DELETE"):
            hidden, unknown = (later.request(method, f"/v1/jobs/{name}") for name in (job, "nothing"))
            assert (hidden.status_code, hidden.text) == (unknown.status_code, unknown.text) == (404, unknown.text)


def test_pages_of_documents_pass_each_of_one_name_once(people: People) -> None:
    with people.client("admin", "board", "staff") as admin:
        for groups in ("staff", "board"):
            upload(admin, groups, ("same.md", b"# Same\n\nThe same text for several groups."))
        seen, after = [], None
        for _ in range(9):
            page = admin.get("/v1/documents", params={"limit": 1} | ({"after": after} if after else {})).json()
            seen += [(row["doc_id"], tuple(row["groups"])) for row in page["documents"]]
            if (after := page.get("next")) is None:
                break
    assert len(seen) == len(set(seen)) == 6


def test_a_reply_is_verified_against_what_the_key_may_read(people: People) -> None:
    with people.client("member", "board") as board, people.client("member", "staff") as staff:
        reply = board.post("/v1/ask", json={"question": ASKED}).json()
        mine, theirs = (call(c, {"name": "verify", "arguments": {"reply": reply}})["result"] for c in (board, staff))
        assert mine["structuredContent"]["ok"] and not theirs["structuredContent"]["ok"]
        assert {c["status"] for c in theirs["structuredContent"]["citations"]} == {"missing"}
