"""One's own conversations over HTTP: named, searched, exported, and without the text of documents that are gone."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from evals.serving import QUESTIONS, Served
from tests.service.http.test_doors import finished

ASKED = {"question": QUESTIONS["U1"], "thread_id": "samples", "memory": "buffer"}


@pytest.fixture
def member(served: Served) -> Iterator[httpx.Client]:
    """Somebody of whom no other test asks anything."""
    if ("U1", "diarist") not in served.keys:
        served.keys["U1", "diarist"] = served.service.keys.add("U1", "diarist-of-U1", "member")[1]
    with served.client("U1", "diarist") as client:
        if client.get("/v1/threads/books").status_code == 404:
            other = {"question": "How long are laboratory notebooks kept?", "thread_id": "books", "memory": "buffer"}
            for asked in (ASKED, other):
                assert client.post("/v1/ask", json=asked).json()["decision"] == "answer"
        yield client


def _titles(client: httpx.Client, **params: str) -> dict[str, str]:
    return {row["thread_id"]: row["title"] for row in client.get("/v1/threads", params=params).json()["threads"]}


def test_a_conversation_is_renamed_and_the_name_is_masked(member: httpx.Client) -> None:
    named = member.patch("/v1/threads/samples", json={"title": " Samples of  ann.lee@example.org "})
    assert named.json() == {"thread_id": "samples", "title": "Samples of [REDACTED]"}
    assert _titles(member)["samples"] == "Samples of [REDACTED]"
    assert member.patch("/v1/threads/samples", json={"title": ""}).status_code == 200
    assert _titles(member)["samples"] == QUESTIONS["U1"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/threads/none", {"title": "x"}, 404),
        ("/v1/threads/a..b", {"title": "x"}, 404),
        ("/v1/threads/samples", {"title": "x" * 81}, 422),
        ("/v1/threads/samples", {}, 422),
        ("/v1/threads/samples", {"title": "x", "tenant_id": "U2"}, 422),
    ],
)
def test_what_cannot_be_renamed_is_told(member: httpx.Client, path: str, body: Any, status: int) -> None:
    assert member.patch(path, json=body).status_code == status


def test_conversations_are_found_by_words(member: httpx.Client) -> None:
    assert set(_titles(member, q="KESTREL freezer")) == {"samples"}
    assert set(_titles(member, q="notebooks fifteen")) == {"books"}
    assert _titles(member, q="osprey") == {} and len(_titles(member, q="")) == 2
    assert member.get("/v1/threads", params={"q": "x" * 301}).status_code == 422


def test_a_conversation_is_exported_with_its_sources(member: httpx.Client) -> None:
    file = member.get("/v1/threads/samples/export")
    assert file.headers["content-disposition"] == 'attachment; filename="conversation.md"'
    assert file.headers["content-type"].startswith("text/markdown")
    assert file.text.startswith(f"# {QUESTIONS['U1']}") and "## Sources" in file.text
    assert "kestrel freezer" in file.text and "**freezers.md**" in file.text
    whole = member.get("/v1/threads/samples/export", params={"format": "json"})
    assert whole.json() == member.get("/v1/threads/samples").json()
    assert member.get("/v1/threads/samples/export", params={"format": "exe"}).status_code == 422
    assert member.get("/v1/threads/none/export").status_code == 404


@pytest.mark.parametrize("who", [("U2", "member"), ("U1", "member"), ("U1", "uploader")])
def test_nobody_else_names_finds_or_exports_it(member: httpx.Client, served: Served, who: tuple[str, str]) -> None:
    with served.client(*who) as other:
        assert other.patch("/v1/threads/samples", json={"title": "Mine"}).status_code in (403, 404)
        assert other.get("/v1/threads/samples/export").status_code in (403, 404)
        found = other.get("/v1/threads", params={"q": "kestrel"})
        assert found.status_code == 403 or "samples" not in {row["thread_id"] for row in found.json()["threads"]}


def test_of_a_document_that_is_gone_an_old_answer_holds_no_text(another: Callable[..., Any]) -> None:
    with another() as served, served.client("U1", "admin") as client:
        first = client.post("/v1/ask", json=ASKED).json()
        assert "kestrel" in first["answer"]
        doc = first["citations"][0]["doc_id"]
        changed = ("freezers.md", "# Freezers\n\nThe merlin freezer holds the whole blood samples.\n", "text/markdown")
        sent = client.post("/v1/documents", files={"file": changed}).json()
        assert finished(client, sent["job_id"])["files"][0]["status"] == "indexed"
        old = client.get("/v1/threads/samples").json()["turns"][0]
        assert old["citations"][0]["gone"] == "replaced" and old["citations"][0]["quote"] == ""
        assert "kestrel" not in str(old) and "was replaced" in old["answer"]
        assert client.delete(f"/v1/documents/{doc}").status_code == 204
        old = client.get("/v1/threads/samples").json()["turns"][0]
        assert old["citations"][0]["gone"] == "removed" and "was removed" in old["answer"]
        exported = client.get("/v1/threads/samples/export").text
        assert "kestrel" not in exported and "(no longer there)" in exported
