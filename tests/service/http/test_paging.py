"""Lists in pages: each row once, in the order of the whole list."""

from typing import Any

import httpx
import pytest

from evals.serving import QUESTIONS, Served
from tests.service.http.test_doors import upload


def walked(client: httpx.Client, path: str, name: str, limit: int) -> list[Any]:
    rows: list[Any] = []
    given: dict[str, Any] = {"limit": limit}
    while True:
        page = client.get(path, params=given).json()
        assert len(page[name]) <= limit
        rows += page[name]
        if "next" not in page:
            return rows
        given["after"] = page["next"]


def test_pages_put_together_are_the_whole_list(u1: httpx.Client, served: Served) -> None:
    for n in range(2):
        asked = {"question": QUESTIONS["U1"], "thread_id": f"page-{n}", "memory": "buffer"}
        assert u1.post("/v1/ask", json=asked).status_code == 200
        upload(u1, (f"crake{n}.md", f"The crake {n}.".encode()), ("notebooks.md", b"Our own notebooks."))
    for name in ("documents", "threads", "jobs"):
        whole = u1.get(f"/v1/{name}").json()
        assert "next" not in whole and len(whole[name]) >= 2
        assert walked(u1, f"/v1/{name}", name, 1) == whole[name]
    documents = u1.get("/v1/documents").json()["documents"]
    assert [d["visibility"] for d in documents if d["doc_id"] == "notebooks"] == ["private", "public"]
    after = u1.get("/v1/documents", params={"after": "crake0"}).json()["documents"]
    assert after == documents[[d["doc_id"] for d in documents].index("crake0") + 1 :]
    with served.client("U1", "auditor") as auditor:
        entries = auditor.get("/v1/audit").json()["entries"]
        last = auditor.get("/v1/audit?limit=1").json()["entries"]
        earlier = auditor.get("/v1/audit", params={"limit": 1, "before": last[0]["id"]}).json()["entries"]
        later = auditor.get("/v1/audit", params={"limit": 1, "after": earlier[0]["id"]}).json()["entries"]
    assert earlier + last == entries[-2:] and later == last
    for path in (
        "/v1/documents/notebooks",
        "/v1/documents/crake0",
        "/v1/documents/crake1",
        "/v1/threads/page-0",
        "/v1/threads/page-1",
    ):
        assert u1.delete(path).status_code == 204


@pytest.mark.parametrize("path", ["/v1/documents", "/v1/threads", "/v1/jobs", "/v1/audit"])
def test_a_row_that_is_not_there_is_404_and_a_foolish_limit_422(served: Served, path: str) -> None:
    with served.client("U1", "auditor" if path == "/v1/audit" else "admin") as client:
        assert client.get(path, params={"after": "nothing"}).content == client.get("/v1/nothing").content
        for limit in ("0", "-1", "1001", "x"):
            assert client.get(path, params={"limit": limit}).status_code == 422


def test_jobs_are_ones_own_and_for_those_who_may_upload(u1: httpx.Client, u2: httpx.Client, served: Served) -> None:
    job = upload(u2, ("rail.md", b"The rail of the fence."))
    assert job in u2.get("/v1/jobs").json()["jobs"]
    assert job["job_id"] not in u1.get("/v1/jobs").text
    with served.client("U2", "uploader") as other, served.client("U2", "member") as member:
        assert job["job_id"] not in other.get("/v1/jobs").text
        assert member.get("/v1/jobs").status_code == 403
    u2.delete("/v1/documents/rail")
