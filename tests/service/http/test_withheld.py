"""/v1/documents/{id}/withheld: an admin sees, releases and confirms; nobody else, and nobody of another tenant."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from evals.serving import Served
from tests.flow.test_released import HONEST, QUESTION, TEXT
from tests.service.http.test_doors import upload

PATH = "/v1/documents/desk/withheld"


@pytest.fixture
def desk(u1: httpx.Client, u2: httpx.Client) -> Iterator[httpx.Client]:
    """U1's client, with a document of which two sentences are withheld; U2 has the same one."""
    for client in (u1, u2):
        upload(client, ("desk.md", TEXT.encode()))
    yield u1
    for client in (u1, u2):
        client.delete("/v1/documents/desk")


def quoted(client: httpx.Client) -> bool:
    return "kestrel badge" in str(client.post("/v1/ask", json={"question": QUESTION}).json()["citations"])


def test_release_shows_and_confirm_takes_it_back(desk: httpx.Client, u2: httpx.Client, served: Served) -> None:
    first, second = desk.get(PATH).json()["withheld"]
    assert (first["n"], first["text"], first["says"]) == (1, HONEST, "") and "[REDACTED]" in second["text"]
    assert not quoted(desk) and not quoted(u2)
    said = desk.post(PATH, json={"release": [first["sha256"]], "note": "our own words"}).json()["withheld"]
    assert (said[0]["says"], said[0]["by"], said[1]["says"]) == ("released", "admin-of-U1", "")
    assert quoted(desk) and not quoted(u2) and u2.get(PATH).json()["withheld"][0]["says"] == ""
    with served.client("U1", "auditor") as auditor:
        entry = auditor.get("/v1/audit", params={"limit": 2}).json()["entries"][0]
    assert (entry["kind"], entry["says"], entry["user_id"], entry["doc_id"]) == (
        "withheld",
        "released",
        "admin-of-U1",
        "desk",
    )
    assert desk.post(PATH, json={"confirm": [1], "release": None}).json()["withheld"][0]["says"] == "confirmed"
    assert not quoted(desk)


def test_only_an_admin_sees_it_and_decides(desk: httpx.Client, served: Served) -> None:
    for role in ("member", "uploader", "auditor", "operator"):
        with served.client("U1", role) as client:
            sent = [client.get(PATH), client.post(PATH, json={"release": [1]})]
            assert [one.status_code for one in sent] == [403, 403], role
            for page in ("/v1/documents", "/v1/documents/desk"):
                assert "decisions" not in client.get(page).text
    assert [row["says"] for row in desk.get(PATH).json()["withheld"]] == ["", ""]


@pytest.mark.parametrize("doc_id", ["notebooks", "antennas", "nothing", "..%2fdesk", "%00", "%ff"])
def test_a_document_that_is_not_the_tenants_own_is_404(u1: httpx.Client, doc_id: str) -> None:
    """A public one, another tenant's, none."""
    there = u1.get("/v1/documents/nothing")
    for sent in (
        u1.get(f"/v1/documents/{doc_id}/withheld"),
        u1.post(f"/v1/documents/{doc_id}/withheld", json={"release": [1]}),
    ):
        assert (sent.status_code, sent.content) == (404, there.content)


WRONG: list[tuple[Any, int]] = [
    ({"release": [9]}, 400),
    ({"release": ["0" * 64]}, 400),
    ({"release": [1], "confirm": [1]}, 400),
    *(({"release": bad}, 422) for bad in ([0], [-1], [1.5], [True], ["1"], [10**19], 1, [1] * 1_001)),
    *(({"note": bad}, 422) for bad in ("x" * 1_001, ["x"])),
    ({"release": [1], "tenant_id": "U2"}, 422),
    ({"release": [1], "user_id": "eve"}, 422),
    ([1], 422),
]


def test_what_cannot_be_done_is_told_and_not_done(desk: httpx.Client) -> None:
    for body, status in WRONG:
        sent = desk.post(PATH, json=body)
        assert (sent.status_code, set(sent.json()["error"])) == (status, {"code", "message", "request_id"}), body
        if status == 400 and "confirm" not in body:
            assert "there is no withheld sentence" in sent.json()["error"]["message"]
    assert [row["says"] for row in desk.get(PATH).json()["withheld"]] == ["", ""]
